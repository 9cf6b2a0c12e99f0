/**
 * Header values that cannot be sent.
 *
 * @module
 */

/** Everything that no AMQP kind holds. */
export const UNENCODABLE: Readonly<Record<string, unknown>> = {
  "NaN": NaN,
  "infinity": Infinity,
  "minus infinity": -Infinity,
  "a number beyond 64 bits": 2 ** 63,
  "a bigint beyond 64 bits": 2n ** 63n,
  "undefined in a list": [undefined],
  "a function": () => 1,
  "a symbol": Symbol("s"),
  "a Map": new Map(),
  "a Set": new Set(),
  "an invalid Date": new Date(NaN),
  "an instance of a class": new (class Order {})(),
  "a promise": Promise.resolve(1),
  "half a surrogate pair": "\ud800",
  "a name over 255 bytes": { ["k".repeat(256)]: 1 },
};
