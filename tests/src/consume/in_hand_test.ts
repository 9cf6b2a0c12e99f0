/** A delivery in hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InHand } from "../../../src/consume/in_hand.ts";
import { newEnvelope } from "../../../src/message/envelope.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";
import type { SettleAs } from "../../../src/ports/broker.ts";
import { stoppedSources } from "../../support/sources.ts";

interface Taken {
  readonly item: InHand;
  readonly told: SettleAs[];
}

function take(answer: "sent" | "stale" = "sent", headers: WireTable = {}): Taken {
  const told: SettleAs[] = [];
  const message = {
    exchange: "",
    routingKey: "q",
    redelivered: false,
    properties: {},
    headers,
    body: new Uint8Array(),
  };
  const settle = (as: SettleAs): "sent" | "stale" => {
    told.push(as);
    return answer;
  };
  return { item: new InHand({ message, settle }, newEnvelope({ type: "t" }, stoppedSources())), told };
}

describe("a delivery in hand", () => {
  it("is settled once", () => {
    const { item, told } = take();
    assert.deepEqual([item.isLive, item.settle("ack"), item.isLive, item.settle("requeue"), told], [
      true,
      true,
      false,
      false,
      ["ack"],
    ]);
  });

  it("is not settled at all once the broker has taken it back", () => {
    const { item, told } = take();
    item.discard();
    assert.deepEqual([item.isLive, item.settle("ack"), told], [false, false, []]);
  });

  it("says so when its link turns out to be gone", () => {
    const { item, told } = take("stale");
    assert.deepEqual([item.settle("ack"), item.isLive, told], [false, false, ["ack"]]);
  });

  it("is waited for until it is settled, taken back or in a hurry, whenever it is asked", () => {
    for (const end of [({ item }: Taken) => item.discard(), ({ item }: Taken) => item.hurry()]) {
      const before = take();
      const { patience } = before.item;
      assert.equal(patience.aborted, false);
      end(before);
      assert.deepEqual([patience.aborted, before.item.patience.aborted], [true, true]);

      const after = take();
      end(after);
      assert.equal(after.item.patience.aborted, true);
    }
    const { item } = take();
    item.settle("ack");
    assert.equal(item.patience.aborted, true);
  });

  it("is acknowledged to a stream, and never sent back to it", () => {
    for (const offset of [0, 2n ** 60n]) {
      const acknowledged = take("sent", { "x-stream-offset": offset });
      assert.deepEqual([acknowledged.item.settle("ack"), acknowledged.told], [true, ["ack"]]);
      for (const as of ["requeue", "discard"] as const) {
        const { item, told } = take("sent", { "x-stream-offset": offset });
        assert.deepEqual([item.settle(as), item.isLive, told], [false, false, []]);
      }
    }
  });

  it("can still be settled in a hurry", () => {
    const { item, told } = take();
    item.hurry();
    assert.deepEqual([item.isLive, item.settle("requeue"), told], [true, true, ["requeue"]]);
  });

  it("tells its handler when its time is up, however late the handler asks for its signal", () => {
    const early = take().item;
    const { signal } = early;
    assert.equal(signal.aborted, false);
    early.abort("time");
    assert.deepEqual([signal.aborted, signal.reason, early.signal], [true, "time", signal]);
    const late = take().item;
    late.abort("time");
    assert.deepEqual([late.signal.aborted, late.signal.reason], [true, "time"]);
  });
});
