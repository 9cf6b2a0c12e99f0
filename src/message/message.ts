/**
 * What a handler gets.
 *
 * @module
 */

import { assertOptions } from "../internal/option_kinds.ts";
import type { Envelope } from "./envelope.ts";
import type { MessageHeaders } from "./header_value.ts";
import { readableHeaders } from "./header_value.ts";
import type { ReceivedMessage } from "./received.ts";

/** The claim of a message that is consumed with an idempotency store. */
export interface MessageClaim {
  /** What was claimed: the message's id, or the key the consumer was given for it. */
  readonly id: string;
  /** The claim's token as of now: rows of the same database can be guarded by it, nothing outside of it. */
  readonly token: string;
  /** See {@linkcode Message.confirm}. */
  confirm(): Promise<void>;
}

/** Where a message comes from. */
export interface MessageSource {
  /** The queue it was consumed from. */
  readonly queue: string;
  /** As it arrived. */
  readonly received: ReceivedMessage;
  /** Makes the signal when it is asked for. */
  readonly signal: () => AbortSignal;
  /** Where the consumer has an idempotency store. */
  readonly claim?: MessageClaim | undefined;
}

/** One message in a handler's hands: immutable, decoded, with everything that travelled along. */
export class Message<T = unknown> {
  /** The decoded payload. */
  readonly payload: T;
  /** What travelled with it: ids, attempt, first sight, route, replay. */
  readonly envelope: Envelope;
  /** The queue it was consumed from. */
  readonly queue: string;
  /** Undefined when the consumer has no idempotency store. */
  readonly claim: MessageClaim | undefined;
  readonly #received: ReceivedMessage;
  readonly #signal: () => AbortSignal;
  #headers: MessageHeaders | undefined;

  /** Made by the library; a test makes one through a memory broker. */
  constructor(payload: T, envelope: Envelope, source: MessageSource) {
    this.payload = payload;
    this.envelope = envelope;
    this.queue = source.queue;
    this.claim = source.claim;
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
   * With an idempotency store it aborts as well when the claim's lease ends, since somebody else may have the message from then on; the
   * reason is a `LeaseLostError`.
   *
   * A lost connection does not abort it. What the handler decides is discarded then as well, but what it has begun it may finish, and
   * its consumer begins the message again only when it has ended.
   */
  get signal(): AbortSignal {
    return this.#signal();
  }

  /**
   * Confirms the claim before the handler has ended: the money has moved, and whatever fails from here on, a retry is a duplicate.
   *
   * A store that fails is asked again, for as long as the lease runs. Asked for twice, it is one confirmation. Without it the claim is
   * confirmed when the handler has accepted, and released when it throws.
   *
   * It is a statement of its own and commits at once: inside a transaction of the handler's, `onceWithin` is what commits with it.
   *
   * @throws {TypeError} the consumer has no idempotency store
   * @throws {LeaseLostError} the claim is somebody else's by now: undo the work, or let the error out, and the message goes back as it is
   * @throws {ClaimUnconfirmedError} the store has not said that it did before the lease ended: accept or park the message, since another
   *   attempt may do the work again; let out, the error leaves the message among the dead letters
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { connect, fixedRetry, topology } from "@acemq/amqp/core";
   * import { memoryBroker, memoryIdempotencyStore } from "@acemq/amqp/memory";
   *
   * const mq = await connect(memoryBroker());
   * await mq.declare(topology().queue("payments.new"));
   * let charged = 0;
   * await mq.consume("payments.new", async (message) => {
   *   charged++;
   *   await message.confirm();
   *   throw new Error("the receipt email service is down");
   * }, { idempotency: memoryIdempotencyStore(), retry: fixedRetry(3, { delayMs: 10 }) });
   * await mq.publisher("", "payments.new").send({ amountCents: 1_250 });
   * await mq.idle();
   * assert.equal(charged, 1);
   * await mq.close();
   * ```
   */
  async confirm(): Promise<void> {
    if (this.claim !== undefined) return await this.claim.confirm();
    throw new TypeError(`Cannot confirm message "${this.envelope.id}": its consumer has no idempotency store`);
  }

  /** The same message with another payload or envelope: what a consume interceptor hands on. Hops keep the original's. */
  with<U = T>(changes: { readonly payload?: U; readonly envelope?: Envelope }): Message<U> {
    assertOptions<typeof changes>("a message with changes", changes, { payload: "checked", envelope: "object" });
    // Without a new payload U is T: the default of the type parameter.
    const payload = "payload" in changes ? changes.payload as U : this.payload as unknown as U;
    const source = { queue: this.queue, received: this.#received, signal: this.#signal, claim: this.claim };
    return new Message(payload, changes.envelope ?? this.envelope, source);
  }
}
