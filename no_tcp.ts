/**
 * Stands in for `connect.ts` where there are no TCP sockets: bundlers for browsers put it there, by the field `browser` of the
 * package's manifest. It fails on import, since a connection that can never be opened is better noticed before the first publish.
 *
 * @module
 */

const REASON = "Cannot import 'connect' of @acemq/amqp: there are no TCP sockets here; " +
  "import @acemq/amqp/core and hand a broker to its 'connect'";

/** Never called: the import has failed before. */
export function amqpBroker(): never {
  throw new TypeError(REASON);
}

/** Never called: the import has failed before. */
export function connect(): never {
  throw new TypeError(REASON);
}

throw new TypeError(REASON);
