/** What the broker wrote is never published again: contract core 1.2. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headersForCopy, isBrokerBookkeeping, streamOffset } from "../../../src/message/broker_headers.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";

const DEATH: WireValue = [
  {
    queue: "orders.new.retry.40s",
    reason: "expired",
    count: 1n,
    exchange: "",
    "routing-keys": ["orders.new.retry.40s"],
  },
  { queue: "orders.new", reason: "rejected", count: 2, time: new Date(1_790_000_000_000) },
];

const BOOKKEEPING: WireTable = {
  "x-death": DEATH,
  "x-first-death-queue": "orders.new.retry.40s",
  "x-first-death-reason": "expired",
  "x-first-death-exchange": "",
  "x-last-death-queue": "orders.new.retry.40s",
  "x-last-death-reason": "expired",
  "x-last-death-exchange": "",
};

const ORDINARY: WireTable = {
  "x-tenant": "north",
  traceparent: "00-5f2d9c8e7b6a41038291a0b1c2d3e4f5-7a6b5c4d3e2f1a0b-01",
  "acemq-replayed-at": 1_770_091_506_789,
  "acemq-reply-to": "acemq-reply-7f3a",
  "acemq-unknown": true,
  "X-Acemq-Id": "other case",
  "x-deaths": 1,
  cc: ["not the broker's"],
  "x-double": new WireDouble(2),
  "x-decimal": new WireDecimal(2, 1_234),
  "x-unsigned": new WireUnsigned(2n ** 63n),
  "x-text": new WireText(Uint8Array.of(0xff)),
  "x-bytes": Uint8Array.of(1, 2),
  "x-nested": { a: [null, new Date(0)] },
};

describe("the application headers of an onward copy", () => {
  it("are every ordinary header with its value and its kind", () => {
    assert.deepEqual(headersForCopy(ORDINARY, "onward"), ORDINARY);
  });

  it("are without the dead-letter history [BRK-01]", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, ...BOOKKEEPING }, "onward"), ORDINARY);
  });

  it("are without further routing keys [BRK-02]", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, CC: ["other"], BCC: ["hidden"] }, "onward"), ORDINARY);
  });

  it("are without the delivery count [BRK-03]", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, "x-delivery-count": 2 }, "onward"), ORDINARY);
  });

  it("are without the offset in a stream: the copy is in none", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, "x-stream-offset": 2 }, "onward"), ORDINARY);
  });

  it("are without reserved names", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, "x-acemq-attempt": 3, "x-acemq-new": 1 }, "onward"), ORDINARY);
  });

  it("keep a header named __proto__", () => {
    const table = Object.fromEntries([["__proto__", 7]]) as WireTable;
    assert.deepEqual(Object.entries(headersForCopy(table, "onward")), [["__proto__", 7]]);
  });
});

describe("the application headers of a copy that is set aside", () => {
  it("keep the dead-letter history for whoever looks", () => {
    assert.deepEqual(headersForCopy({ ...ORDINARY, ...BOOKKEEPING }, "set_aside"), { ...ORDINARY, ...BOOKKEEPING });
  });

  it("are without delivery count, offset in a stream and further routing keys all the same", () => {
    const received = { ...ORDINARY, "x-delivery-count": 2, "x-stream-offset": 2, CC: ["other"], BCC: ["hidden"] };
    assert.deepEqual(headersForCopy(received, "set_aside"), ORDINARY);
  });

  const malformed: readonly (readonly [string, WireValue])[] = [
    ["text", "expired"],
    ["a table", { queue: "q" }],
    ["a list of text", ["expired"]],
    ["a list with one text among tables", [{ count: 1 }, "expired"]],
    ["a list of lists", [[{ count: 1 }]]],
    ["a table without a count", [{ queue: "q" }]],
    ["a count that is text", [{ queue: "q", count: "1" }]],
    ["a count that is a double", [{ queue: "q", count: new WireDouble(1) }]],
    ["a count that is a fraction", [{ queue: "q", count: 1.5 }]],
    ["a count that is void", [{ queue: "q", count: null }]],
    ["a list of instants", [new Date(0)]],
    ["a list of decimals", [new WireDecimal(0, 1)]],
  ];
  for (const [what, value] of malformed) {
    it(`drop an x-death that is ${what} [BRK-05]`, () => {
      for (const kind of ["onward", "set_aside"] as const) {
        assert.deepEqual(headersForCopy({ ...ORDINARY, "x-death": value }, kind), ORDINARY);
      }
    });
  }
});

describe("the broker's bookkeeping", () => {
  it("is the dead-letter history, the delivery count and the offset in a stream, nothing else", () => {
    for (const name of [...Object.keys(BOOKKEEPING), "x-delivery-count", "x-stream-offset", "x-last-death-anything"]) {
      assert.equal(isBrokerBookkeeping(name), true, name);
    }
    for (const name of ["CC", "BCC", "x-deaths", "X-Death", "x-delivery-counts", "x-stream-offsets", "x-acemq-id"]) {
      assert.equal(isBrokerBookkeeping(name), false, name);
    }
  });
});

describe("the offset in a stream", () => {
  it("is the broker's word where a delivery lies: a whole number, and nothing else", () => {
    for (const offset of [0, 7, 2n ** 60n]) assert.equal(streamOffset({ "x-stream-offset": offset }), offset);
    const others: readonly WireTable[] = [
      {},
      { "x-stream-offsets": 1 },
      { "x-stream-offset": "first" },
      { "x-stream-offset": 1.5 },
      { "x-stream-offset": new WireDouble(1) },
      { "x-stream-offset": null },
      Object.create({ "x-stream-offset": 1 }) as WireTable,
    ];
    for (const headers of others) assert.equal(streamOffset(headers), undefined);
  });
});
