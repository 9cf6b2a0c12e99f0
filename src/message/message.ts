/**
 * What a handler gets.
 *
 * @module
 */

import type { Envelope } from "./envelope.ts";
import type { MessageHeaders } from "./header_value.ts";
import { readableHeaders } from "./header_value.ts";
import type { ReceivedMessage } from "./received.ts";

/** One message in a handler's hands: immutable, decoded, with everything that travelled along. */
export class Message<T = unknown> {
  /** The decoded payload. */
  readonly payload: T;
  /** What travelled with it: ids, attempt, first sight, route, replay. */
  readonly envelope: Envelope;
  /** The queue it was consumed from. */
  readonly queue: string;
  readonly #received: ReceivedMessage;
  readonly #signal: () => AbortSignal;
  #headers: MessageHeaders | undefined;

  /** Made by the library; a test makes one through a memory broker. */
  constructor(
    payload: T,
    envelope: Envelope,
    source: { readonly queue: string; readonly received: ReceivedMessage; readonly signal: () => AbortSignal },
  ) {
    this.payload = payload;
    this.envelope = envelope;
    this.queue = source.queue;
    this.#received = source.received;
    this.#signal = source.signal;
  }

  /** Everything outside the reserved prefix `x-acemq-`: the application's headers, the shared `acemq-` names, the broker's own. */
  get headers(): MessageHeaders {
    return this.#headers ??= readableHeaders(this.#received.headers);
  }

  /** As it came; undefined for none. */
  get contentType(): string | undefined {
    return this.#received.properties.contentType;
  }

  /** Empty for the default exchange: where a retried message comes from. */
  get exchange(): string {
    return this.#received.exchange;
  }

  /** The key of this trip; the name of the queue on a retry. The type keeps the first one. */
  get routingKey(): string {
    return this.#received.routingKey;
  }

  /** The broker has handed this copy out before. Not the count of attempts: that is `envelope.attempt`. */
  get redelivered(): boolean {
    return this.#received.redelivered;
  }

  /**
   * Aborts when the drain budget ends: what the handler decides from then on is discarded, and the message is delivered again.
   *
   * A lost connection does not abort it. What the handler decides is discarded then as well, but what it has begun it may finish, and
   * its consumer begins the message again only when it has ended.
   */
  get signal(): AbortSignal {
    return this.#signal();
  }

  /** The same message with another payload or envelope: what a consume interceptor hands on. Hops keep the original's. */
  with<U = T>(changes: { readonly payload?: U; readonly envelope?: Envelope }): Message<U> {
    // Without a new payload U is T: the default of the type parameter.
    const payload = "payload" in changes ? changes.payload as U : this.payload as unknown as U;
    const source = { queue: this.queue, received: this.#received, signal: this.#signal };
    return new Message(payload, changes.envelope ?? this.envelope, source);
  }
}
