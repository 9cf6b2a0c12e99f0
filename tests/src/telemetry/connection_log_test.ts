import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BrokerEvent } from "../../../src/ports/broker.ts";
import { logConnectionEvent } from "../../../src/telemetry/connection_log.ts";
import { Recorder } from "../../../src/telemetry/recorder.ts";
import { RecordingSink } from "../../support/recording_sink.ts";

describe("the log of a connection", () => {
  const lines: readonly (readonly [event: BrokerEvent, level: string])[] = [
    [{ type: "lost", reason: "the socket closed" }, "warn"],
    [{ type: "retrying", attempt: 2, delayMs: 400, reason: "refused" }, "warn"],
    [{ type: "recovered", attempts: 2 }, "info"],
    [{ type: "blocked", reason: "low on memory" }, "error"],
    [{ type: "unblocked" }, "info"],
    [{ type: "consumer_lost", queue: "q", reason: "the queue is gone" }, "warn"],
    [{ type: "consumer_recovered", queue: "q" }, "info"],
    [{ type: "redeclare_failed", object: 'queue "q"', reason: "406" }, "error"],
    [{ type: "redeclared", object: 'queue "q"' }, "info"],
  ];
  for (const [event, level] of lines) {
    it(`has a line of level ${level} for ${event.type}, with its facts`, () => {
      const sink = new RecordingSink();
      logConnectionEvent(new Recorder(sink, "memory"), event);
      const { type, ...fields } = event;
      assert.deepEqual(sink.logs, [{ level, event: `acemq.connection.${type}`, fields }]);
    });
  }
});
