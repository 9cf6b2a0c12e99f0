/**
 * The recorded messages of other languages, as the AMQP adapter hands them over.
 *
 * @module
 */
import { readContentHeader } from "../../adapters/amqp/wire/content_header.ts";
import { ByteReader } from "../../adapters/amqp/wire/byte_reader.ts";
import { TextCache } from "../../adapters/amqp/wire/text_cache.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import { bytesOfHex, type FixtureCase } from "./fixtures.ts";

/** What a recorded message means; the README of the fixtures explains each member. */
export interface MessageMeaning {
  /** `fresh-uuid` for a message without an id. */
  readonly id: string;
  readonly type: string;
  readonly version: number;
  /** `fresh-uuid` where the id is. */
  readonly correlation: string;
  readonly attempt: number;
  /** `now` where there is none that can be read. */
  readonly firstSeenMs: number | "now";
  readonly origin?: string;
  readonly causation?: string;
  readonly error?: string;
  readonly claim?: string;
  readonly route?: { readonly steps: readonly string[]; readonly position: number; readonly runId?: string };
  readonly replayedFrom?: string;
  readonly replayedAt?: string;
  readonly replayCount?: number;
  readonly replyTo?: string;
  readonly contentType?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly deaths?: readonly DeathMeaning[];
  readonly payload?: unknown;
  readonly undecodable?: true;
  readonly claimCheck?: unknown;
  readonly itinerary?: unknown;
  readonly schedule?: unknown;
}

/** One entry of `x-death`; its time is not told. */
export interface DeathMeaning {
  readonly queue: string;
  readonly reason: string;
  readonly count: number;
  readonly exchange: string;
  readonly routingKeys: readonly string[];
}

/** One recorded delivery. */
export interface MessageCase extends FixtureCase {
  readonly exchange: string;
  readonly routing_key: string;
  readonly redelivered: boolean;
  readonly content_header_hex: string;
  readonly body_hex: string;
  readonly means: MessageMeaning;
}

/** The delivery as the adapter reads it off the wire. */
export function receivedMessage(recorded: MessageCase): ReceivedMessage {
  const header = bytesOfHex(recorded.content_header_hex);
  const reader = new ByteReader(new TextCache());
  reader.point(header.buffer, 0, header.byteLength);
  const { properties, headers } = readContentHeader(reader);
  return {
    exchange: recorded.exchange,
    routingKey: recorded.routing_key,
    redelivered: recorded.redelivered,
    properties,
    headers,
    body: bytesOfHex(recorded.body_hex),
  };
}
