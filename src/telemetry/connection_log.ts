/**
 * A log line for everything that happens to a connection.
 *
 * @module
 */

import type { Recorder } from "./recorder.ts";
import type { LogRecord } from "./sink.ts";

/** An event with the facts a log line has: the shape of the broker port's events. */
interface ConnectionEvent {
  readonly type: string;
}

const LEVELS: Readonly<Record<string, LogRecord["level"]>> = {
  lost: "warn",
  retrying: "warn",
  blocked: "error",
  consumer_lost: "warn",
  redeclare_failed: "error",
};

/** Writes the line. */
export function logConnectionEvent(recorder: Recorder, event: ConnectionEvent): void {
  const { type, ...rest } = event;
  const fields: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") fields[name] = value;
  }
  recorder.log(LEVELS[type] ?? "info", `acemq.connection.${type}`, fields);
}
