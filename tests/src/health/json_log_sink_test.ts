import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { jsonLogSink } from "../../../src/health/json_log_sink.ts";
import type { LogRecord } from "../../../src/telemetry/sink.ts";

const PARKED: LogRecord = {
  level: "warn",
  event: "acemq.message.parked",
  fields: { queue: "orders.new", id: 'm"\n1', attempt: 3, isLast: true },
};

describe("the JSON log sink", () => {
  it("writes one object a line, time first, with the facts of the record beside them", () => {
    const lines: string[] = [];
    jsonLogSink((line) => lines.push(line), { clock: virtualClock("2026-03-04T05:06:07.890Z") }).log?.(PARKED);
    assert.deepEqual(lines, [
      '{"time":"2026-03-04T05:06:07.890Z","level":"warn","event":"acemq.message.parked","queue":"orders.new",' +
      '"id":"m\\"\\n1","attempt":3,"isLast":true}',
    ]);
  });

  it("writes nothing below its level, which is info by default", () => {
    const written = (level?: LogRecord["level"]): readonly string[] => {
      const levels: string[] = [];
      const sink = jsonLogSink((line) => levels.push(JSON.parse(line).level), level === undefined ? {} : { level });
      for (const each of ["info", "warn", "error"] as const) sink.log?.({ ...PARKED, level: each });
      return levels;
    };
    assert.deepEqual(written(), ["info", "warn", "error"]);
    assert.deepEqual(written("warn"), ["warn", "error"]);
    assert.deepEqual(written("error"), ["error"]);
  });

  it("takes no measurements, so nothing spends time on making them", () => {
    assert.equal(jsonLogSink(() => {}).metric, undefined);
  });
});
