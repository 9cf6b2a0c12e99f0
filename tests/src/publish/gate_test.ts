import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Work } from "../../../src/internal/work.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { BrokerState, PublishReceipt } from "../../../src/ports/broker.ts";
import { type GateOptions, ON_BEHALF_LANE, PublishGate } from "../../../src/publish/gate.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };

function outbound(routingKey: string): Outbound {
  return { exchange: "", routingKey, body: new Uint8Array(), headers: {}, persistent: true, mandatory: true };
}

/** A gate to a puppet broker that keeps its answers. */
async function openGate(
  { perLane, ...options }: Partial<GateOptions> & { readonly perLane?: number } = {},
): Promise<{ readonly puppet: PuppetBroker; readonly gate: PublishGate; keys(): readonly string[] }> {
  const puppet = new PuppetBroker();
  puppet.limits = { maxUnconfirmedPerLane: perLane };
  puppet.hold();
  const connection = await puppet.open({ name: "gate", clock: puppet.clock, onEvent: () => {} });
  const gate = new PublishGate(connection, { clock: puppet.clock, work: new Work() }, {
    maxOutstandingPublishes: 3,
    publishTimeoutMs: 10_000,
    permitTimeoutMs: 5_000,
    confirms: true,
    ...options,
  });
  return { puppet, gate, keys: () => puppet.handed.map(({ outbound }) => outbound.routingKey) };
}

describe("the gate to the broker", () => {
  it("hands a message over within the call, with its lane", async () => {
    const { puppet, gate } = await openGate();
    void gate.publish(outbound("a"), 2);
    assert.deepEqual(puppet.handed.map(({ options }) => options), [{ lane: 2, confirm: true }]);
    assert.equal(gate.outstanding, 1);
  });

  it("asks for no confirm on a connection without, but always for what is on somebody's behalf", async () => {
    const { puppet, gate } = await openGate({ confirms: false });
    void gate.publish(outbound("a"), gate.newLane());
    void gate.publish(outbound("b"), ON_BEHALF_LANE);
    assert.deepEqual(puppet.handed.map(({ options }) => options.confirm), [false, true]);
  });

  it("spreads publishers over lanes that are none of those on somebody's behalf", async () => {
    const { gate } = await openGate();
    assert.deepEqual(Array.from({ length: 6 }, () => gate.newLane()), [1, 2, 3, 4, 1, 2]);
  });

  it("never has more waiting for a confirm than allowed, and writes the next in order as one comes", async () => {
    const { puppet, gate, keys } = await openGate();
    for (const key of ["a", "b", "c", "d", "e"]) void gate.publish(outbound(key), 1);
    assert.deepEqual([keys(), gate.outstanding], [["a", "b", "c"], 3]);
    puppet.handed[1]?.answer(CONFIRMED);
    await puppet.clock.advance(0);
    assert.deepEqual([keys(), gate.outstanding], [["a", "b", "c", "d"], 3]);
  });

  it("never has more on one lane than the broker bears, and lets the other lanes pass", async () => {
    const { gate, keys } = await openGate({ perLane: 1 });
    for (const [key, lane] of [["a", 1], ["b", 1], ["c", 2]] as const) void gate.publish(outbound(key), lane);
    assert.deepEqual([keys(), gate.window], [["a", "c"], 1]);
  });

  it("lets what is on somebody's behalf in ahead of an application's crowd", async () => {
    const { puppet, gate, keys } = await openGate({ maxOutstandingPublishes: 1 });
    for (let count = 0; count < 50; count++) void gate.publish(outbound("crowd"), 1);
    void gate.publish(outbound("copy"), ON_BEHALF_LANE);
    for (let count = 0; count < 2; count++) {
      puppet.handed.at(-1)?.answer(CONFIRMED);
      await puppet.clock.advance(0);
    }
    assert.ok(keys().includes("copy"), `${keys().length} went before it`);
  });

  const receipts: readonly PublishReceipt[] = [
    { outcome: "confirmed" },
    { outcome: "published" },
    { outcome: "unroutable", reason: "312 NO_ROUTE" },
    { outcome: "nacked", reason: "the broker rejected the message" },
    { outcome: "paused", reason: "the connection is recovering" },
    { outcome: "refused", reason: "too large", written: false },
    { outcome: "refused", reason: "404 NOT_FOUND", written: true },
    { outcome: "unknown", reason: "the connection was lost" },
  ];
  for (const receipt of receipts) {
    it(`gives the permit back for a publish that was ${JSON.stringify(receipt)}`, async () => {
      const { puppet, gate } = await openGate();
      const published = gate.publish(outbound("a"), 1);
      puppet.handed[0]?.answer(receipt);
      assert.deepEqual(await published, receipt);
      assert.equal(gate.outstanding, 0);
    });
  }

  it("gives the permit back when the adapter rejects or throws: nobody knows what became of the message", async () => {
    const { puppet, gate } = await openGate();
    const rejected = gate.publish(outbound("a"), 1);
    puppet.handed[0]?.fail(new TypeError("of the adapter"));
    assert.deepEqual(await rejected, {
      outcome: "unknown",
      reason: "the broker adapter failed: TypeError: of the adapter",
    });
    puppet.respond = () => {
      throw new TypeError("at once");
    };
    assert.deepEqual(await gate.publish(outbound("b"), 1), {
      outcome: "unknown",
      reason: "the broker adapter failed: TypeError: at once",
    });
    assert.equal(gate.outstanding, 0);
  });

  it("survives an adapter that throws with any number of publishes waiting", async () => {
    const { puppet, gate } = await openGate({ maxOutstandingPublishes: 1 });
    const all = Array.from({ length: 20_000 }, () => gate.publish(outbound("a"), 1));
    puppet.respond = () => {
      throw new TypeError("at once");
    };
    puppet.handed[0]?.answer(CONFIRMED);
    const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome);
    assert.deepEqual([outcomes.filter((one) => one === "unknown").length, gate.outstanding], [19_999, 0]);
  });

  it("ends the wait for a confirm as unknown at the deadline, and hears no answer that comes later", async () => {
    const { puppet, gate } = await openGate();
    const published = gate.publish(outbound("a"), 1);
    await puppet.clock.advance(9_999);
    assert.equal(gate.outstanding, 1);
    await puppet.clock.advance(1);
    assert.deepEqual(await published, { outcome: "unknown", reason: "no confirm came within 10000 ms" });
    puppet.handed[0]?.answer(CONFIRMED);
    await puppet.clock.advance(0);
    assert.equal(gate.outstanding, 0);
  });

  it("waits for the answer to a copy as long as the broker blocks, and its whole deadline after that [SC-21]", async () => {
    const { puppet, gate } = await openGate();
    const copy = gate.publish(outbound("copy"), ON_BEHALF_LANE);
    await puppet.clock.advance(9_999);
    puppet.state = { status: "open", blockedReason: "low on memory" };
    await puppet.clock.advance(123_456);
    puppet.state = { status: "open" };
    gate.unblocked();
    await puppet.clock.advance(9_999);
    assert.equal(gate.outstanding, 1);
    await puppet.clock.advance(1);
    assert.deepEqual(await copy, { outcome: "unknown", reason: "no confirm came within 10000 ms" });
  });

  it("takes the answer to a copy that comes after any number of blocks", async () => {
    const { puppet, gate } = await openGate();
    const copy = gate.publish(outbound("copy"), ON_BEHALF_LANE);
    for (let block = 0; block < 5; block++) {
      puppet.state = { status: "open", blockedReason: "" };
      await puppet.clock.advance(60_000);
      puppet.state = { status: "open" };
      gate.unblocked();
      await puppet.clock.advance(9_000);
    }
    puppet.handed[0]?.answer(CONFIRMED);
    assert.deepEqual([await copy, gate.outstanding], [CONFIRMED, 0]);
  });

  it("waits no longer than the deadline for the answer to a copy whose connection is lost while it is blocked", async () => {
    for (const status of ["recovering", "closed"] as const) {
      const { puppet, gate } = await openGate();
      const copy = gate.publish(outbound("copy"), ON_BEHALF_LANE);
      puppet.state = { status: "open", blockedReason: "low on memory" };
      await puppet.clock.advance(60_000);
      puppet.state = { status };
      await puppet.clock.advance(10_000);
      assert.equal((await copy).outcome, "unknown");
    }
  });

  it("ends the wait of an application's publish at its deadline, whether the broker blocks or not [PUB-10]", async () => {
    const { puppet, gate } = await openGate();
    const published = gate.publish(outbound("a"), 1);
    puppet.state = { status: "open", blockedReason: "low on memory" };
    await puppet.clock.advance(10_000);
    assert.deepEqual(await published, { outcome: "unknown", reason: "no confirm came within 10000 ms" });
  });

  it("says in the family's words when no permit came in time; nothing was written", async () => {
    const { puppet, gate, keys } = await openGate({ maxOutstandingPublishes: 1 });
    void gate.publish(outbound("a"), 1);
    const refused = gate.publish(outbound("b"), 1);
    await puppet.clock.advance(5_000);
    assert.deepEqual(await refused, {
      outcome: "paused",
      reason:
        "1 publishes are already waiting for a confirm and none completed within 5000 ms. The broker is not keeping " +
        "up; publish more slowly rather than buffering more.",
    });
    assert.deepEqual(keys(), ["a"]);
  });

  it("refuses at once without a permit where it may not wait for one", async () => {
    const { puppet, gate } = await openGate({ maxOutstandingPublishes: 1, permitTimeoutMs: 0 });
    void gate.publish(outbound("a"), 1);
    const refused = gate.publish(outbound("b"), 1);
    await puppet.clock.advance(0);
    assert.equal((await refused).outcome, "paused");
  });

  it("rejects with the signal's reason when it aborts before the write, at once or while waiting", async () => {
    const { puppet, gate, keys } = await openGate({ maxOutstandingPublishes: 1 });
    await assert.rejects(gate.publish(outbound("a"), 1, AbortSignal.abort(new Error("too late"))), {
      message: "too late",
    });
    void gate.publish(outbound("b"), 1);
    const leaving = new AbortController();
    const waiting = gate.publish(outbound("c"), 1, leaving.signal);
    leaving.abort(new Error("no longer wanted"));
    await assert.rejects(waiting, { message: "no longer wanted" });
    puppet.handed[0]?.answer(CONFIRMED);
    await puppet.clock.advance(0);
    assert.deepEqual([keys(), gate.outstanding], [["b"], 0]);
  });

  it("ends the wait as unknown when the signal aborts after the write, and gives the permit back", async () => {
    const { gate } = await openGate();
    const leaving = new AbortController();
    const published = gate.publish(outbound("a"), 1, leaving.signal);
    leaving.abort();
    assert.deepEqual(await published, { outcome: "unknown", reason: "the wait for a confirm was aborted" });
    assert.equal(gate.outstanding, 0);
  });

  const declining: readonly (readonly [state: BrokerState, reason: string])[] = [
    [{ status: "closed" }, "the connection is closed"],
    [{ status: "recovering" }, "the connection is lost and being recovered"],
    [{ status: "open", blockedReason: "low on memory" }, "the broker has blocked this connection: low on memory"],
    [{ status: "open", blockedReason: "" }, "the broker has blocked this connection"],
  ];
  for (const [state, reason] of declining) {
    it(`writes nothing and takes no permit while ${reason}`, async () => {
      const { puppet, gate } = await openGate();
      puppet.state = state;
      assert.deepEqual(await gate.publish(outbound("a"), 1), { outcome: "paused", reason });
      assert.deepEqual([puppet.handed.length, gate.outstanding], [0, 0]);
    });

    it(`declines also what waited for a permit when ${reason}`, async () => {
      const { puppet, gate } = await openGate({ maxOutstandingPublishes: 1 });
      void gate.publish(outbound("a"), 1);
      const waiting = [gate.publish(outbound("b"), 1), gate.publish(outbound("c"), 2)];
      puppet.state = state;
      puppet.handed[0]?.answer(CONFIRMED);
      assert.deepEqual(await Promise.all(waiting), [{ outcome: "paused", reason }, { outcome: "paused", reason }]);
      assert.deepEqual([puppet.handed.length, gate.outstanding], [1, 0]);
    });
  }

  it("writes the messages of a lane in the order of the calls, whenever permits come free", async () => {
    const steps = fc.array(fc.constantFrom("publish", "confirm", "turn"), { maxLength: 60 });
    await fc.assert(fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (plan, limit) => {
      const { puppet, gate, keys } = await openGate({ maxOutstandingPublishes: limit });
      const asked: string[] = [];
      let confirmed = 0;
      for (const step of plan) {
        if (step === "publish") {
          asked.push(String(asked.length));
          void gate.publish(outbound(String(asked.length - 1)), 1);
        } else if (step === "confirm") puppet.handed[confirmed++]?.answer(CONFIRMED);
        else await Promise.resolve();
        assert.ok(gate.outstanding <= limit);
      }
      puppet.respond = () => CONFIRMED;
      for (const one of puppet.handed) one.answer(CONFIRMED);
      await puppet.clock.advance(0);
      assert.deepEqual(keys(), asked);
      assert.equal(gate.outstanding, 0);
    }));
  });

  it("drains: takes nothing more, and waits until what came before is written and answered", async () => {
    const { puppet, gate, keys } = await openGate({ maxOutstandingPublishes: 1 });
    const before = [gate.publish(outbound("a"), 1), gate.publish(outbound("b"), 1)];
    let isDrained = false;
    const drained = gate.drain(new AbortController().signal).then(() => isDrained = true);
    assert.deepEqual(await gate.publish(outbound("c"), 2), { outcome: "paused", reason: "the connection is closed" });
    puppet.handed[0]?.answer(CONFIRMED);
    await puppet.clock.advance(0);
    assert.deepEqual([keys(), isDrained], [["a", "b"], false]);
    puppet.handed[1]?.answer(CONFIRMED);
    await drained;
    assert.deepEqual(await Promise.all(before), [CONFIRMED, CONFIRMED]);
  });

  it("drains no longer than its budget", async () => {
    const { puppet, gate } = await openGate();
    void gate.publish(outbound("a"), 1);
    const budget = new AbortController();
    const drained = gate.drain(budget.signal);
    budget.abort();
    await drained;
    assert.equal(puppet.handed.length, 1);
  });

  it("answers whoever still waits when it is closed: no promise is left open", async () => {
    const { puppet, gate } = await openGate({ maxOutstandingPublishes: 1 });
    const [out, waiting] = [gate.publish(outbound("a"), 1), gate.publish(outbound("b"), 1)];
    gate.close();
    await puppet.clock.advance(10_000);
    assert.deepEqual([(await out).outcome, (await waiting).outcome], ["unknown", "paused"]);
  });
});
