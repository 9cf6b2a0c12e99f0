/**
 * Headers to envelope (contract core 1.1, 1.5, 1.8): missing or unreadable means the default, never a failure.
 *
 * Agrees with the recorded messages in `tests/interop/fixtures/messages/`.
 *
 * @module
 */

import type { Clock, NewId } from "../clock.ts";
import { type DeclaredRoute, type Envelope, TYPE_OF_EMPTY_KEY } from "./envelope.ts";
import {
  HEADER_ATTEMPT,
  HEADER_CAUSATION,
  HEADER_CLAIM,
  HEADER_CORRELATION,
  HEADER_ERROR,
  HEADER_FIRST_SEEN,
  HEADER_ID,
  HEADER_ORIGIN,
  HEADER_REPLAY_COUNT,
  HEADER_REPLAYED_AT,
  HEADER_REPLAYED_FROM,
  HEADER_ROUTE,
  HEADER_ROUTE_ID,
  HEADER_ROUTE_POSITION,
  HEADER_TYPE,
  HEADER_VERSION,
  LEGACY_REPLAY_COUNT,
  LEGACY_REPLAYED_AT,
  LEGACY_REPLAYED_FROM,
} from "./header_names.ts";
import { readEpochMs, readInstant, readInteger, readText } from "./read_value.ts";
import type { ReceivedMessage } from "./received.ts";
import type { WireTable, WireValue } from "./wire_value.ts";

/** The envelope of a received message. A message without a single AceMQ header is a first attempt of its routing key's type. */
export function parseEnvelope(
  { headers, properties, routingKey }: Pick<ReceivedMessage, "headers" | "properties" | "routingKey">,
  { clock, newId }: { readonly clock: Clock; readonly newId: NewId },
): Envelope {
  const id = messageIdOf({ headers, properties }) ?? newId();
  return {
    id,
    type: readText(own(headers, HEADER_TYPE)) ?? (routingKey === "" ? TYPE_OF_EMPTY_KEY : routingKey),
    version: fromOne(readInteger(own(headers, HEADER_VERSION))),
    correlationId: readText(own(headers, HEADER_CORRELATION)) ?? id,
    causationId: readText(own(headers, HEADER_CAUSATION)),
    attempt: fromOne(readInteger(own(headers, HEADER_ATTEMPT))),
    firstSeenMs: positive(readEpochMs(own(headers, HEADER_FIRST_SEEN))) ?? clock.now(),
    origin: readText(own(headers, HEADER_ORIGIN)),
    error: readText(own(headers, HEADER_ERROR)),
    claim: readText(own(headers, HEADER_CLAIM)),
    route: readRoute(headers),
    replayedFrom: readText(own(headers, HEADER_REPLAYED_FROM)) ?? readText(own(headers, LEGACY_REPLAYED_FROM)),
    replayedAt: readInstant(own(headers, HEADER_REPLAYED_AT)) ?? readInstant(own(headers, LEGACY_REPLAYED_AT)),
    replayCount: positive(readInteger(own(headers, HEADER_REPLAY_COUNT))) ??
      positive(readInteger(own(headers, LEGACY_REPLAY_COUNT))),
  };
}

/** The id a message came with, the same each time it is delivered; undefined where its sender writes none. */
export function messageIdOf(
  { headers, properties }: Pick<ReceivedMessage, "headers" | "properties">,
): string | undefined {
  return readText(own(headers, HEADER_ID)) ?? readText(properties.messageId);
}

/** A header by name; names inherited from a prototype are no headers. */
export function own(headers: WireTable, name: string): WireValue | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

function readRoute(headers: WireTable): DeclaredRoute | undefined {
  const text = readText(own(headers, HEADER_ROUTE));
  const steps = text?.split(",").map((name) => name.trim()).filter((name) => name !== "") ?? [];
  if (steps.length === 0) return undefined;
  const position = readInteger(own(headers, HEADER_ROUTE_POSITION)) ?? 0;
  return {
    steps,
    position: Math.min(Math.max(position, 0), steps.length),
    runId: readText(own(headers, HEADER_ROUTE_ID)),
  };
}

function fromOne(value: number | undefined): number {
  return Math.max(value ?? 1, 1);
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}
