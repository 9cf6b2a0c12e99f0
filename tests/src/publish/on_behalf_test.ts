import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Work } from "../../../src/internal/work.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";
import { ON_BEHALF_LANE, PublishGate } from "../../../src/publish/gate.ts";
import { type OnBehalfAnswer, publishOnBehalf } from "../../../src/publish/on_behalf.ts";
import { PuppetBroker } from "../../support/puppet_broker.ts";

const COPY: Outbound = {
  exchange: "",
  routingKey: "orders.new.dlq",
  body: new Uint8Array([1]),
  contentType: "application/json",
  messageId: "m",
  headers: { tenant: "acme" },
  persistent: false,
  mandatory: false,
  replyTo: "answers",
  priority: 4,
  expirationMs: 1_000,
};

/** A gate on a connection without confirms. */
async function openGate(): Promise<{ readonly puppet: PuppetBroker; readonly gate: PublishGate }> {
  const puppet = new PuppetBroker();
  const connection = await puppet.open({ name: "gate", clock: puppet.clock, onEvent: () => {} });
  const options = { maxOutstandingPublishes: 10, publishTimeoutMs: 1_000, permitTimeoutMs: 1_000, confirms: false };
  return { puppet, gate: new PublishGate(connection, { clock: puppet.clock, work: new Work() }, options) };
}

describe("a publish on somebody's behalf", () => {
  it("is mandatory, persistent, confirmed and without expiry, whatever the message and the connection say", async () => {
    const { puppet, gate } = await openGate();
    await publishOnBehalf(gate, COPY);
    assert.deepEqual(puppet.handed.map(({ outbound, options }) => ({ outbound, options })), [{
      outbound: { ...COPY, mandatory: true, persistent: true, priority: undefined, expirationMs: undefined },
      options: { lane: ON_BEHALF_LANE, confirm: true },
    }]);
  });

  const answers: readonly (readonly [PublishReceipt, OnBehalfAnswer])[] = [
    [{ outcome: "confirmed" }, { status: "routed" }],
    [{ outcome: "unroutable", reason: "312 NO_ROUTE" }, {
      status: "not_routed",
      because: "unroutable",
      reason: "312 NO_ROUTE",
    }],
    [{ outcome: "nacked", reason: "r" }, { status: "not_routed", because: "nacked", reason: "r" }],
    [{ outcome: "refused", reason: "r", written: true }, { status: "not_routed", because: "refused", reason: "r" }],
    [{ outcome: "refused", reason: "r", written: false }, { status: "not_routed", because: "refused", reason: "r" }],
    [{ outcome: "paused", reason: "r" }, { status: "paused", reason: "r" }],
    [{ outcome: "unknown", reason: "r" }, { status: "unknown", reason: "r" }],
    [{ outcome: "published" }, { status: "unknown", reason: "the broker adapter did not wait for a confirm" }],
  ];
  for (const [receipt, answer] of answers) {
    it(`is ${answer.status} when the broker says ${JSON.stringify(receipt)}`, async () => {
      const { puppet, gate } = await openGate();
      puppet.respond = () => receipt;
      assert.deepEqual(await publishOnBehalf(gate, COPY), answer);
    });
  }

  it("is unknown when no confirm comes in time", async () => {
    const { puppet, gate } = await openGate();
    puppet.hold();
    const published = publishOnBehalf(gate, COPY);
    await puppet.clock.advance(1_000);
    assert.deepEqual(await published, { status: "unknown", reason: "no confirm came within 1000 ms" });
  });

  it("rejects only with the reason of a signal that aborted before the write", async () => {
    const { puppet, gate } = await openGate();
    const signal = AbortSignal.abort(new Error("too late"));
    await assert.rejects(publishOnBehalf(gate, COPY, { signal }), { message: "too late" });
    assert.equal(puppet.handed.length, 0);
  });
});
