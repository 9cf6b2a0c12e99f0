/**
 * Log records as JSON lines.
 *
 * @module
 */

import type { TelemetrySink } from "../telemetry/sink.ts";
import { type Clock, systemClock } from "../clock.ts";
import { assertOneOf } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";

/** Options of {@linkcode jsonLogSink}. */
export interface JsonLogSinkOptions {
  /** The least level that is written. @default {"info"} */
  readonly level?: "info" | "warn" | "error";
  /** Stamps the lines. @default {systemClock()} */
  readonly clock?: Clock;
}

const KINDS: Readonly<OptionKinds<JsonLogSinkOptions>> = { level: "checked", clock: "object" };

const LEVELS: readonly string[] = ["info", "warn", "error"];

/**
 * A sink that writes log records as one JSON object a line, and no measurements. A record has the names of things and the words of
 * errors; never a body, a key or a credential.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonLogSink } from "@acemq/amqp/core";
 *
 * const lines: string[] = [];
 * const sink = jsonLogSink((line) => lines.push(line), { level: "warn" });
 * sink.log?.({ level: "warn", event: "acemq.message.parked", fields: { queue: "orders.new" } });
 * assert.equal(JSON.parse(lines[0] ?? "").queue, "orders.new");
 * ```
 */
export function jsonLogSink(write: (line: string) => void, options: JsonLogSinkOptions = {}): TelemetrySink {
  assertOptions("a sink of JSON lines", options, KINDS);
  const { level = "info", clock = systemClock() } = options;
  assertOneOf("level", level, LEVELS);
  return {
    log: (record) => {
      if (LEVELS.indexOf(record.level) < LEVELS.indexOf(level)) return;
      const time = new Date(clock.now()).toISOString();
      write(JSON.stringify({ time, level: record.level, event: record.event, ...record.fields }));
    },
  };
}
