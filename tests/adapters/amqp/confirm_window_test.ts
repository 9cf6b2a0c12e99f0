/** Confirms and returns, matched to publishes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ConfirmWindow } from "../../../adapters/amqp/confirm_window.ts";
import type { PublishReceipt } from "../../../src/ports/broker.ts";

/** A window of publishes with the ids `1`, `2`, …, and what became of each. */
function windowOf(count: number, id: (number: number) => string = String): {
  readonly window: ConfirmWindow;
  readonly outcomes: () => readonly (string | undefined)[];
  readonly receipts: readonly (PublishReceipt | undefined)[];
} {
  const window = new ConfirmWindow();
  const receipts: (PublishReceipt | undefined)[] = Array(count).fill(undefined);
  for (let index = 0; index < count; index++) {
    const settle = (receipt: PublishReceipt): void => {
      assert.equal(receipts[index], undefined, "settled twice");
      receipts[index] = receipt;
    };
    window.add({ exchange: "x", routingKey: "k", messageId: id(index + 1), settle });
  }
  return { window, receipts, outcomes: () => receipts.map((receipt) => receipt?.outcome) };
}

describe("a confirm", () => {
  it("settles the number it names, and only that", () => {
    const { window, outcomes } = windowOf(3);
    window.confirm({ tag: 2, multiple: false }, true);
    assert.deepEqual(outcomes(), [undefined, "confirmed", undefined]);
    assert.equal(window.size, 2);
  });

  it("settles every number up to it when it says multiple [PUB-15]", () => {
    const { window, outcomes } = windowOf(5);
    window.confirm({ tag: 2, multiple: false }, false);
    window.confirm({ tag: 4, multiple: true }, true);
    assert.deepEqual(outcomes(), ["confirmed", "nacked", "confirmed", "confirmed", undefined]);
  });

  it("settles everything when it says multiple and names no number", () => {
    const { window, outcomes } = windowOf(3);
    window.confirm({ tag: 0, multiple: true }, true);
    assert.deepEqual(outcomes(), Array(3).fill("confirmed"));
  });

  it("of a number nobody waits for changes nothing", () => {
    const { window, outcomes } = windowOf(1);
    window.confirm({ tag: 7, multiple: false }, true);
    window.confirm({ tag: 1, multiple: false }, true);
    window.confirm({ tag: 1, multiple: false }, false);
    assert.deepEqual(outcomes(), ["confirmed"]);
  });

  it("settles each publish once and as the broker said, for every order of confirms", () => {
    const confirms = fc.array(
      fc.record({ tag: fc.integer({ min: 1, max: 20 }), multiple: fc.boolean(), isAck: fc.boolean() }),
    );
    fc.assert(fc.property(confirms, (said) => {
      const { window, outcomes } = windowOf(20);
      const model: (string | undefined)[] = Array(20).fill(undefined);
      for (const { tag, multiple, isAck } of said) {
        window.confirm({ tag, multiple }, isAck);
        for (let number = multiple ? 1 : tag; number <= tag; number++) {
          model[number - 1] ??= isAck ? "confirmed" : "nacked";
        }
      }
      assert.deepEqual(outcomes(), model);
      assert.equal(window.size, model.filter((outcome) => outcome === undefined).length);
    }));
  });
});

describe("a return", () => {
  const back = { exchange: "x", routingKey: "k", reason: "312 NO_ROUTE" };

  it("makes its own publish unroutable, in the broker's words, when the confirm comes", () => {
    const { window, receipts, outcomes } = windowOf(3);
    window.returned({ ...back, messageId: "2" });
    assert.deepEqual(outcomes(), [undefined, undefined, undefined]);
    window.confirm({ tag: 3, multiple: true }, true);
    assert.deepEqual(outcomes(), ["confirmed", "unroutable", "confirmed"]);
    assert.deepEqual(receipts[1], { outcome: "unroutable", reason: "312 NO_ROUTE" });
  });

  it("means the oldest of the copies that wait under one id", () => {
    const { window, outcomes } = windowOf(3, () => "same");
    window.returned({ ...back, messageId: "same" });
    window.returned({ ...back, messageId: "same" });
    window.confirm({ tag: 3, multiple: true }, true);
    assert.deepEqual(outcomes(), ["unroutable", "unroutable", "confirmed"]);
  });

  it("means no publish to another exchange or under another key", () => {
    const { window, outcomes } = windowOf(1, () => "same");
    window.returned({ ...back, messageId: "same", exchange: "y" });
    window.returned({ ...back, messageId: "same", routingKey: "l" });
    window.returned({ ...back, messageId: undefined });
    window.confirm({ tag: 1, multiple: false }, true);
    assert.deepEqual(outcomes(), ["confirmed"]);
  });
});

describe("the end of a channel", () => {
  it("settles everything that waits, once", () => {
    const { window, outcomes } = windowOf(3);
    window.confirm({ tag: 1, multiple: false }, true);
    window.settleAll({ outcome: "unknown", reason: "gone" });
    window.settleAll({ outcome: "unknown", reason: "gone" });
    assert.deepEqual(outcomes(), ["confirmed", "unknown", "unknown"]);
    assert.equal(window.size, 0);
  });
});
