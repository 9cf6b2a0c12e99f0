/**
 * What the arguments of a stream ask for, read once when it is declared.
 *
 * @module
 */

import type { QueueSpec } from "../../src/topology/specs.ts";
import { ArgumentReader } from "./argument_reader.ts";
import type { Declared } from "./equivalence.ts";
import { intervalMs } from "./interval.ts";
import { preconditionFailed } from "./refusals.ts";

/** What a stream keeps. */
export interface StreamSettings {
  /** Segments whose newest entry is older may be dropped; `Infinity` for no age. */
  readonly maxAgeMs: number;
  /** The oldest segments may be dropped beyond this size; `Infinity` for any size. */
  readonly maxLengthBytes: number;
  /** A segment that has grown to this size is followed by another. */
  readonly segmentBytes: number;
}

/** What RabbitMQ takes for the size of a segment unless it is told. */
const SEGMENT_BYTES = 500_000_000;

const LARGEST_SEGMENT_BYTES = 3_000_000_000;

/** Arguments that only queues of other types have. */
const NOT_FOR_STREAMS: readonly string[] = [
  "x-expires",
  "x-message-ttl",
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-dead-letter-strategy",
  "x-max-length",
  "x-max-in-memory-length",
  "x-max-in-memory-bytes",
  "x-max-priority",
  "x-overflow",
  "x-queue-mode",
  "x-queue-version",
  "x-queue-master-locator",
  "x-single-active-consumer",
  "x-delivery-limit",
  "x-quorum-initial-group-size",
];

/** Whether a stream is asked for. */
export function asksForStream(spec: Declared<QueueSpec>): boolean {
  return new ArgumentReader(spec).value("x-queue-type") === "stream";
}

/** Reads the arguments of a stream; throws the `Refusal` the broker answers with where it refuses them. */
export function streamSettings(spec: Declared<QueueSpec>): StreamSettings {
  const read = new ArgumentReader(spec, NOT_FOR_STREAMS);
  const settings = {
    maxLengthBytes: read.wholeNumber("x-max-length-bytes"),
    maxAgeMs: maxAgeMs(read),
    segmentBytes: segmentBytes(read),
  };
  read.positive("x-initial-cluster-size");
  read.assertLeaderLocator();
  read.assertNoneIsForeign("stream");
  read.assertReplicable(spec);
  if (settings.segmentBytes <= LARGEST_SEGMENT_BYTES) return settings;
  throw preconditionFailed("Exceeded max value for x-stream-max-segment-size-bytes");
}

function maxAgeMs(read: ArgumentReader): number {
  const age = read.text("x-max-age");
  if (age === undefined) return Infinity;
  const ms = intervalMs(age);
  if (ms === undefined) throw read.invalid("x-max-age", "invalid_max_age");
  return ms;
}

function segmentBytes(read: ArgumentReader): number {
  const bytes = read.wholeNumber("x-stream-max-segment-size-bytes");
  return bytes === Infinity ? SEGMENT_BYTES : bytes;
}
