/**
 * What the broker says when it refuses, in RabbitMQ's words: they are kept verbatim in results and errors, and people search
 * for them.
 *
 * @module
 */

/** A refusal on its way to whoever asked. Never leaves this folder. */
export class Refusal extends Error {
  /** AMQP reply code: 403, 404, 405, 406 or 540. */
  readonly code: number;
  /** Whether it is there, only otherwise. */
  readonly isDifference: boolean;

  constructor(code: number, text: string, isDifference = false) {
    super(text);
    this.code = code;
    this.isDifference = isDifference;
  }
}

/** There is no such queue. */
export function noQueue(name: string): Refusal {
  return new Refusal(404, `NOT_FOUND - no queue '${name}' in vhost '/'`);
}

/** A queue without a name is the last one that was declared on the channel, and on a new one there was none. */
export function noQueueDeclared(): Refusal {
  return new Refusal(404, "NOT_FOUND - no previously declared queue");
}

/** There is no such exchange. */
export function noExchange(name: string): Refusal {
  return new Refusal(404, `NOT_FOUND - no exchange '${name}' in vhost '/'`);
}

/** The queue is somebody else's alone. */
export function lockedQueue(name: string): Refusal {
  return new Refusal(
    405,
    `RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '${name}' in vhost '/'. It could be originally ` +
      "declared on another connection or the exclusive property value does not match that of the original declaration.",
  );
}

/** A quorum queue hands everything to its active consumer. */
export function noPull(name: string): Refusal {
  return new Refusal(
    405,
    `RESOURCE_LOCKED - cannot obtain access to locked queue '${name}' in vhost '/'. basic.get operations are not supported ` +
      "by quorum queues with single active consumer",
  );
}

/** A stream is not asked for what RabbitMQ would close the connection over. */
export function foundStream(): Refusal {
  return new Refusal(540, "found a stream, wanted a classic or a quorum queue");
}

/** A stream is read and not emptied. */
export function notForStreams(what: string, name: string): Refusal {
  return new Refusal(540, `NOT_IMPLEMENTED - ${what} not supported by stream queues queue '${name}' in vhost '/'`);
}

/** Nobody may touch it. */
export function accessRefused(words: string): Refusal {
  return new Refusal(403, `ACCESS_REFUSED - ${words}`);
}

/** What is asked makes no sense. */
export function preconditionFailed(words: string): Refusal {
  return new Refusal(406, `PRECONDITION_FAILED - ${words}`);
}

/** What is asked is there with other properties. */
export function inequivalent(words: string): Refusal {
  return new Refusal(406, `PRECONDITION_FAILED - ${words}`, true);
}
