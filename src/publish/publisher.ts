/**
 * The publisher: sends one kind of message to one place.
 *
 * @module
 */

import { assertOptions, describeKind } from "../internal/option_kinds.ts";
import { newEnvelope } from "../message/envelope.ts";
import { assertOutbound, isOutbound, type Outbound, outboundId, outboundType } from "../message/outbound.ts";
import type { PublishReceipt } from "../ports/broker.ts";
import type { Codec, EncodedPayload } from "../ports/codec.ts";
import type { Environment } from "../ports/environment.ts";
import { type BatchResult, sendBatch } from "./batch.ts";
import type { PublishGate } from "./gate.ts";
import type { PublishContext, PublishInterceptor } from "./interceptor.ts";
import type { PublishMeter } from "./meter.ts";
import { closedError, isSuccess, publishError, type PublishResult } from "./outcome.ts";
import { type Preparation, prepare, prepareEncoded } from "./prepare.ts";
import {
  assertSendOptions,
  type BatchOptions,
  envelopeFields,
  type PublisherOptions,
  type SendOptions,
  typeOf,
} from "./send_options.ts";
import { Turns } from "./turns.ts";

/** What a publisher works with; the connection provides it. */
export interface PublisherContext {
  readonly gate: PublishGate;
  readonly environment: Environment;
  readonly meter: PublishMeter;
  readonly codec: Codec;
  /** Stamped on messages that name no origin of their own. */
  readonly origin: string;
  readonly interceptors: readonly PublishInterceptor[];
}

/**
 * Sends messages to one exchange under one routing key, in the order of its calls.
 *
 * Every message is confirmed by the broker and mandatory unless asked otherwise, so a promise that resolves means that the message
 * is in at least one queue. Anything less is thrown as a {@linkcode PublishError}. The price is one round trip a call: send
 * several at once (`sendAll`, or calls not awaited one by one) and the broker answers them together. The price of the order is that
 * a message that takes long to make, in an interceptor or a codec, holds up those sent after it.
 *
 * Publishing is no part of a database transaction: when one commits and the other fails, the data exists and nobody was told, or
 * the reverse. And a broker is no file store: it holds a large body in memory, and every consumer's prefetch holds it again.
 */
export class Publisher<T = unknown> {
  /** The exchange it sends to; empty for the default one. */
  readonly exchange: string;
  /** The routing key of every message. */
  readonly routingKey: string;
  readonly #context: PublisherContext;
  readonly #options: PublisherOptions;
  readonly #lane: number;
  readonly #preparation: Preparation;
  readonly #turns = new Turns();

  /** Use `mq.publisher(…)`. */
  constructor(
    target: { exchange: string; routingKey: string },
    context: PublisherContext,
    options: PublisherOptions,
  ) {
    this.exchange = target.exchange;
    this.routingKey = target.routingKey;
    this.#context = context;
    // Its own copy: what the caller does to the object later is no business of the publisher's.
    this.#options = options.headers === undefined ? { ...options } : { ...options, headers: { ...options.headers } };
    this.#lane = context.gate.newLane();
    const interceptors = [...context.interceptors, ...options.interceptors ?? []];
    this.#preparation = { codec: context.codec, interceptors };
  }

  /**
   * Sends one message and waits for the broker's answer.
   *
   * @throws {PublishError} by `code`: `UNROUTABLE`, `NACKED`, `REFUSED`, `PAUSED` (the broker does not have it) or `UNKNOWN` (it
   * may: resend under the same `messageId`)
   * @throws {ConnectionError} `ACEMQ_CONNECTION_CLOSED`: the connection is closed or closing; nothing was sent, nor ever will be
   * @throws {EncodeError} a payload the codec cannot hold; nothing was sent
   * @throws {TypeError} an option that there is not, or of another type; nothing was sent
   * @throws {RangeError} an option out of range; nothing was sent
   */
  send(payload: T, options: SendOptions = {}): Promise<PublishResult> {
    return this.#transmit(() => prepare(this.#contextOf(payload, options), this.#preparation), options);
  }

  /**
   * Sends bytes that are encoded already, for a caller that wants to see them first (a claim key, a size). They are not copied: leave
   * them as they are until the promise has settled.
   *
   * @throws {PublishError} as {@linkcode Publisher.send}
   */
  sendEncoded(encoded: EncodedPayload, options: SendOptions = {}): Promise<PublishResult> {
    return this.#transmit(
      () => prepareEncoded(this.#contextOf(encoded?.body, options), encoded, this.#preparation),
      options,
    );
  }

  /**
   * Sends many messages, pipelined and in order. Not atomic: every message is tried and awaited, whatever became of the others.
   *
   * A batch may be of any size: messages are encoded as the broker takes those before them.
   *
   * @returns one result a payload, in payload order
   * @throws {PublishBatchError} when at least one failed; it has every result by index
   * @throws {TypeError} a `messageId` for the whole batch: one identity for all would be deduplicated to one message; payloads that
   * are not iterable, an option that there is not or of another type; nothing was sent
   * @throws {RangeError} an option out of range; nothing was sent
   */
  async sendAll(payloads: Iterable<T>, options: BatchOptions = {}): Promise<BatchResult[]> {
    assertSendOptions(options);
    if ("messageId" in options && options.messageId !== undefined) {
      throw new TypeError(
        "Cannot send a batch under one 'messageId': a consumer that deduplicates would keep one message of it",
      );
    }
    if (typeof payloads?.[Symbol.iterator] !== "function") {
      throw new TypeError(`Cannot send a batch: the payloads must be iterable, found ${describeKind(payloads)}`);
    }
    // Read to its end before anything is sent: an iterable may throw half-way.
    const all = [...payloads];
    const { environment: { work }, gate } = this.#context;
    // The whole of it is one piece of work: between two of its messages nothing need be out.
    work.begin();
    try {
      return await sendBatch(all, gate.window, (payload) => this.send(payload, options));
    } finally {
      work.end();
    }
  }

  /**
   * Makes a message and sends nothing: for an outbox, a scheduler, or {@linkcode Publisher.sendPrepared} later.
   *
   * @throws {EncodeError} a payload the codec cannot hold
   * @throws {PublishError} `ACEMQ_PUBLISH_REFUSED` for a header that cannot be written
   */
  async prepare(payload: T, options: SendOptions = {}): Promise<Outbound> {
    return await prepare(this.#contextOf(payload, options), this.#preparation);
  }

  /** Sends a message made by {@linkcode Publisher.prepare}: the same bytes, nothing encoded again. */
  sendPrepared(
    outbound: Outbound | Promise<Outbound>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<PublishResult> {
    return this.#transmit(() => {
      assertOptions<{ readonly signal?: AbortSignal }>("a prepared message", options, { signal: "signal" });
      return isOutbound(outbound) ? outbound : Promise.resolve(outbound).then((made) => assertOutbound("send", made));
    }, options);
  }

  /** Publishes what `make` makes, at once where nothing has to be waited for. */
  #transmit(make: () => Outbound | Promise<Outbound>, options: SendOptions): Promise<PublishResult> {
    const started = this.#context.environment.clock.elapsed();
    try {
      const made = make();
      if ("then" in made || !this.#turns.isFree) return this.#publishInTurn(Promise.resolve(made), started, options);
      return this.#publish(made, started, options.signal);
    } catch (error) {
      this.#declined(options, started);
      return Promise.reject(error);
    }
  }

  async #publishInTurn(making: Promise<Outbound>, started: number, options: SendOptions): Promise<PublishResult> {
    let isMade = false;
    const { work } = this.#context.environment;
    const publish = (outbound: Outbound): Promise<PublishResult> => {
      isMade = true;
      return this.#publish(outbound, started, options.signal);
    };
    work.begin();
    try {
      return await this.#turns.take(making, publish, options.signal);
    } catch (error) {
      if (!isMade) this.#declined(options, started);
      throw error;
    } finally {
      work.end();
    }
  }

  async #publish(outbound: Outbound, started: number, signal: AbortSignal | undefined): Promise<PublishResult> {
    const { gate, meter } = this.#context;
    let receipt: PublishReceipt;
    try {
      receipt = await gate.publish(outbound, this.#lane, signal);
    } catch (reason) {
      meter.declined(outbound, outboundType(outbound), this.#since(started));
      throw reason;
    }
    const latencyMs = this.#since(started);
    meter.answered(outbound, receipt, latencyMs);
    if (isSuccess(receipt)) return { messageId: outboundId(outbound), outcome: receipt.outcome, latencyMs };
    throw receipt.outcome === "paused" && gate.isClosed
      ? closedError(outbound, receipt)
      : publishError(outbound, receipt);
  }

  #declined(options: SendOptions, started: number): void {
    // What was handed in as options may be what made it fail.
    const { type }: { readonly type?: unknown } = Object(options);
    const own = typeof type === "string" ? { type } : {};
    const known = typeOf(this.routingKey, this.#options, own);
    this.#context.meter.declined(this, known, this.#since(started));
  }

  #contextOf(payload: unknown, message: SendOptions): PublishContext {
    assertSendOptions(message);
    const { environment: { clock, newId }, origin } = this.#context;
    const options = this.#options;
    const fields = envelopeFields({ routingKey: this.routingKey, origin }, options, message);
    return {
      exchange: this.exchange,
      routingKey: this.routingKey,
      envelope: newEnvelope(fields, { clock, newId }),
      payload,
      headers: options.headers === undefined ? message.headers ?? {} : { ...options.headers, ...message.headers },
      persistent: message.persistent ?? options.persistent ?? true,
      mandatory: message.mandatory ?? options.mandatory ?? true,
      replyTo: message.replyTo,
      priority: message.priority,
      expirationMs: message.expirationMs,
    };
  }

  #since(started: number): number {
    return this.#context.environment.clock.elapsed() - started;
  }
}
