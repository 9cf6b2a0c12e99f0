/**
 * Where a reader of a stream begins: what its `x-stream-offset` says.
 *
 * @module
 */

import { WireTimestamp, type WireValue } from "../../src/message/wire_value.ts";
import type { ArgumentReader } from "./argument_reader.ts";
import { intervalMs } from "./interval.ts";
import type { StreamLog } from "./stream_log.ts";

const ARGUMENT = "x-stream-offset";

/**
 * The offset of the entry a reader gets first.
 *
 * RabbitMQ knows times and the last entry by the chunks it has written at once, and may begin a little earlier.
 *
 * @throws {Refusal} what is no place in a stream; where RabbitMQ closes the whole connection over it, the words are ours
 */
export function beginning(read: ArgumentReader, log: StreamLog, nowMs: number): number {
  const value = read.has(ARGUMENT) ? read.value(ARGUMENT) ?? null : "next";
  if (typeof value === "string") return namedPlace(value, log) ?? log.since(nowMs - intervalOf(value, read));
  if (typeof value === "bigint" || Number.isInteger(value)) return Math.max(Number(value), log.first);
  const ms = timeOf(value, read);
  // The wire has no sign for seconds: a time before 1970 arrives as one that is never reached.
  return log.since(ms < 0 ? Infinity : ms);
}

function namedPlace(name: string, log: StreamLog): number | undefined {
  switch (name) {
    case "first":
      return log.first;
    case "last":
      return Math.max(log.first, log.next - 1);
    case "next":
      return log.next;
    default:
      return undefined;
  }
}

function intervalOf(text: string, read: ArgumentReader): number {
  const ms = intervalMs(text);
  if (ms === undefined) throw read.invalid(ARGUMENT, `{invalid_stream_offset_arg,{longstr,<<"${text}">>}}`);
  return ms;
}

function timeOf(value: WireValue, read: ArgumentReader): number {
  if (value instanceof Date) return value.getTime();
  if (value instanceof WireTimestamp) return Number(value.seconds) * 1_000;
  throw read.unacceptable(ARGUMENT, value);
}
