/**
 * A message that is looked at and not taken.
 *
 * @module
 */

import type { Clock, NewId } from "../../clock.ts";
import type { ConsumerContext } from "../../consume/context.ts";
import { decodeBody } from "../../consume/receive.ts";
import { type Death, parseDeaths } from "../../message/deaths.ts";
import type { Envelope } from "../../message/envelope.ts";
import { type MessageHeaders, readableHeaders } from "../../message/header_value.ts";
import { parseEnvelope } from "../../message/parse_envelope.ts";
import type { ReceivedMessage } from "../../message/received.ts";
import type { Codec } from "../../ports/codec.ts";

/** What came of reading a body. A value: a queue of set-aside messages holds bodies that nobody can read. */
export type DecodedBody<T = unknown> =
  | { readonly status: "decoded"; readonly payload: T }
  | { readonly status: "failed"; readonly error: unknown };

/** One message where it lies: what travels with it, why it is there, and its body as it is. Immutable; nothing settles it. */
export class PeekedMessage<T = unknown> {
  /** The queue it lies in. */
  readonly queue: string;
  /** What travels with it: ids, the attempt it failed on, the error it was set aside with, earlier replays. */
  readonly envelope: Envelope;
  /** How the broker itself came to dead-letter it, newest first; empty for what this library set aside and the broker never did. */
  readonly deaths: readonly Death[];
  readonly #received: ReceivedMessage;
  readonly #codec: Codec<never, T>;
  #headers: MessageHeaders | undefined;

  /** Made by `mq.peek(…)` and `mq.replay(…)`. */
  constructor(
    received: ReceivedMessage,
    { queue, codec, ...sources }: {
      readonly queue: string;
      readonly codec: Codec<never, T>;
      readonly clock: Clock;
      readonly newId: NewId;
    },
  ) {
    this.queue = queue;
    this.deaths = parseDeaths(received.headers);
    // A message without a type has that of the key it was published by, not of the one it was dead-lettered by.
    const routingKey = this.deaths[0]?.routingKeys[0] ?? received.routingKey;
    this.envelope = parseEnvelope({ ...received, routingKey }, sources);
    this.#received = received;
    this.#codec = codec;
  }

  /** Everything outside the reserved prefix `x-acemq-`: the application's headers, the shared `acemq-` names, the broker's own. */
  get headers(): MessageHeaders {
    return this.#headers ??= readableHeaders(this.#received.headers);
  }

  /** As it came; undefined for none. */
  get contentType(): string | undefined {
    return this.#received.properties.contentType;
  }

  /** What it was published to on its last trip: empty for the default exchange, by which this library sets aside. */
  get exchange(): string {
    return this.#received.exchange;
  }

  /** The key of its last trip: in a queue of set-aside messages, that queue's name. */
  get routingKey(): string {
    return this.#received.routingKey;
  }

  /** The broker has handed it out before, be it to somebody who looked. */
  get redelivered(): boolean {
    return this.#received.redelivered;
  }

  /** The body as it came. A copy, made when it is asked for. */
  get body(): Uint8Array {
    return new Uint8Array(this.#received.body);
  }

  /** Reads the body, with the codec the looking was begun with. Never rejects: what cannot be read is the answer. */
  async decode(): Promise<DecodedBody<T>> {
    const decoded = await decodeBody(this.#received, this.#codec);
    return decoded.status === "decoded" ? decoded : { status: "failed", error: decoded.error };
  }
}

/** A message that was pulled off a queue, as whoever looks sees it. */
export function lookAt<T>(
  received: ReceivedMessage,
  queue: string,
  { codec, environment: { clock, newId } }: Pick<ConsumerContext<T>, "codec" | "environment">,
): PeekedMessage<T> {
  return new PeekedMessage(received, { queue, codec, clock, newId });
}
