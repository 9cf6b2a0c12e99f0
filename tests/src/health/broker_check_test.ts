import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConnectionError, TopologyError } from "../../../src/errors.ts";
import { checkBroker } from "../../../src/health/broker_check.ts";
import type { HealthReport } from "../../../src/health/report.ts";
import { StoreQueues } from "../../../src/internal/store_queues.ts";
import { Work } from "../../../src/internal/work.ts";
import type { Environment } from "../../../src/ports/environment.ts";
import { Recorder } from "../../../src/telemetry/recorder.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";

const CHECKED = "2026-01-01T00:00:00.000Z";

/** A check of a puppet broker, not yet begun. */
async function prepared(): Promise<{ readonly puppet: PuppetBroker; check(): Promise<HealthReport> }> {
  const puppet = new PuppetBroker();
  const connection = await puppet.open({ name: "health", clock: puppet.clock, onEvent: () => {} });
  const environment: Environment = {
    clock: puppet.clock,
    random: () => 0,
    newId: () => "id-1",
    recorder: new Recorder(undefined, "puppet"),
    scope: undefined,
    work: new Work(),
    storeQueues: new StoreQueues(),
  };
  return { puppet, check: () => checkBroker(connection, environment, 4) };
}

describe("the health of a broker", () => {
  it("is up with the time of a round trip: a question for a queue that cannot exist, which leaves nothing", async () => {
    const { puppet, check } = await prepared();
    const asked: string[] = [];
    puppet.onCheckQueue = async (name) => {
      asked.push(name);
      await puppet.clock.delay(12);
      return { status: "absent" };
    };
    const checking = check();
    await puppet.clock.advance(12);
    const parts = { consumers: 4, blocked: false, roundTripMillis: 12 };
    assert.deepEqual(await checking, { status: "up", checked: CHECKED, parts });
    assert.deepEqual(asked, ["acemq-health-id-1"]);
  });

  it("is up for a login that may not ask: a refusal is an answer", async () => {
    const { puppet, check } = await prepared();
    puppet.onCheckQueue = () => Promise.reject(new TopologyError("ACEMQ_TOPOLOGY_REFUSED", "403 ACCESS_REFUSED"));
    assert.equal((await check()).status, "up");
  });

  it("is down after three seconds without an answer, in the words every AceMQ library has for it", async () => {
    const { puppet, check } = await prepared();
    puppet.onCheckQueue = () => new Promise(() => {});
    const checking = check();
    await puppet.clock.advance(3_000);
    assert.deepEqual(await checking, {
      status: "down",
      detail: "the broker did not answer within 3s",
      checked: CHECKED,
      parts: { consumers: 4, blocked: false },
    });
  });

  it("is down with the error of a question that cannot be asked", async () => {
    const { puppet, check } = await prepared();
    puppet.onCheckQueue = () => Promise.reject(new ConnectionError("ACEMQ_CONNECTION_LOST", "Cannot ask the broker"));
    const { status, detail } = await check();
    assert.deepEqual([status, detail], ["down", "Cannot ask the broker"]);
  });

  for (const [reason, tail] of [["low on memory", ": low on memory"], ["", ""]] as const) {
    it(`is up while publishing is blocked ${reason === "" ? "without a reason" : "with its reason"}, without a question`, async () => {
      const { puppet, check } = await prepared();
      puppet.state = { status: "open", blockedReason: reason };
      puppet.onCheckQueue = () => assert.fail("a blocked broker does not read");
      assert.deepEqual(await check(), {
        status: "up",
        detail: `the broker has blocked this connection; publishing is paused${tail}`,
        checked: CHECKED,
        parts: { consumers: 4, blocked: true, blockedReason: reason },
      });
    });
  }

  it("is up when the block comes while the question is out", async () => {
    const { puppet, check } = await prepared();
    puppet.onCheckQueue = () => new Promise(() => {});
    const checking = check();
    puppet.state = { status: "open", blockedReason: "low on disk" };
    await puppet.clock.advance(3_000);
    const { status, parts } = await checking;
    assert.deepEqual([status, parts], ["up", { consumers: 4, blocked: true, blockedReason: "low on disk" }]);
  });

  for (
    const [status, detail] of [
      ["closed", "the connection is closed"],
      ["recovering", "the connection is lost and being recovered"],
    ] as const
  ) {
    it(`is down while ${detail}; whether it is blocked could not be asked`, async () => {
      const { puppet, check } = await prepared();
      puppet.state = { status };
      assert.deepEqual(await check(), {
        status: "down",
        detail,
        checked: CHECKED,
        parts: { consumers: 4, blocked: null },
      });
    });
  }
});
