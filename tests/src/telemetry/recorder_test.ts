import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Recorder } from "../../../src/telemetry/recorder.ts";
import type { LogRecord, Metric, TelemetrySink } from "../../../src/telemetry/sink.ts";

/** Measures and logs once, as the library does. */
function useAll(sink: TelemetrySink | undefined): Recorder {
  const recorder = new Recorder(sink, "memory");
  recorder.metric("acemq.consume.in.flight", 3, { queue: "q" });
  recorder.log("warn", "acemq.message.parked", { queue: "q" });
  return recorder;
}

describe("a recorder", () => {
  it("hands a measurement to the sink with its kind, and a log record as it is", () => {
    const metrics: Metric[] = [];
    const logs: LogRecord[] = [];
    useAll({ metric: (metric) => metrics.push(metric), log: (record) => logs.push(record) });
    assert.deepEqual(metrics, [{ name: "acemq.consume.in.flight", kind: "gauge", value: 3, labels: { queue: "q" } }]);
    assert.deepEqual(logs, [{ level: "warn", event: "acemq.message.parked", fields: { queue: "q" } }]);
  });

  it("takes a sink that has only what it wants, or nothing [TEL-16]", () => {
    const seen: string[] = [];
    const sinks: readonly (TelemetrySink | undefined)[] = [
      undefined,
      {},
      { metric: () => seen.push("metric") },
      { log: () => seen.push("log") },
    ];
    assert.deepEqual(sinks.map((sink) => useAll(sink).measures), [false, false, true, false]);
    assert.deepEqual(seen, ["metric", "log"]);
  });

  it("calls the members of a sink as its methods", () => {
    class Counting implements TelemetrySink {
      #calls = 0;
      get calls(): number {
        return this.#calls;
      }
      metric(): void {
        this.#calls++;
      }
      log(): void {
        this.#calls++;
      }
    }
    const sink = new Counting();
    useAll(sink);
    assert.equal(sink.calls, 2);
  });

  it("drops what a sink throws, at once or later", async () => {
    const throws = (): never => {
      throw new Error("the backend is away");
    };
    useAll({ metric: throws, log: throws });
    useAll({
      metric: async () => await Promise.reject(new Error("later")),
      log: () => Promise.reject(new Error("later")),
    });
    await new Promise((resolve) => setTimeout(resolve, 0));
  });

  it("has a hundred values for the message type, and `other` for every further one [TEL-17]", () => {
    const recorder = new Recorder(undefined, "memory");
    const types = Array.from({ length: 150 }, (_, index) => `type-${index}`);
    const labels = types.map((type) => recorder.typeLabel(type));
    assert.deepEqual(labels, types.map((type, index) => index < 100 ? type : "other"));
    assert.deepEqual(["type-0", "type-99", "type-149"].map((type) => recorder.typeLabel(type)), [
      "type-0",
      "type-99",
      "other",
    ]);
    assert.equal(new Recorder(undefined, "memory").typeLabel("type-149"), "type-149");
  });
});
