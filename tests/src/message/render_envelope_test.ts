/** Writing an envelope: contract core 1.1 and 1.3, and the worked examples of section 12. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Envelope, newEnvelope, nextAttempt } from "../../../src/message/envelope.ts";
import { headersForCopy } from "../../../src/message/broker_headers.ts";
import { parseEnvelope } from "../../../src/message/parse_envelope.ts";
import { renderHeaders } from "../../../src/message/render_envelope.ts";
import { WireDouble, type WireTable, type WireValue } from "../../../src/message/wire_value.ts";
import { NOW_MS, stoppedSources } from "../../support/sources.ts";

/** The published message of contract core 12.1; a bigint is the 64-bit kind, a small whole number the 32-bit one. */
const PUBLISHED: WireTable = {
  "x-acemq-id": "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
  "x-acemq-type": "order.placed",
  "x-acemq-version": 1,
  "x-acemq-correlation": "cart-8812",
  "x-acemq-causation": "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
  "x-acemq-attempt": 1,
  "x-acemq-first-seen": 1_790_000_000_000n,
  "x-acemq-origin": "checkout@app-3",
  "x-tenant": "north",
  traceparent: "00-5f2d9c8e7b6a41038291a0b1c2d3e4f5-7a6b5c4d3e2f1a0b-01",
};

const APPLICATION: WireTable = {
  "x-tenant": "north",
  traceparent: "00-5f2d9c8e7b6a41038291a0b1c2d3e4f5-7a6b5c4d3e2f1a0b-01",
};

function published(): Envelope {
  return newEnvelope({
    id: "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
    type: "order.placed",
    correlationId: "cart-8812",
    causationId: "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
    origin: "checkout@app-3",
  }, stoppedSources());
}

/** What a hop writes for a received table. */
function copied(received: WireTable, change: (envelope: Envelope) => Envelope = (envelope) => envelope): WireTable {
  const envelope = parseEnvelope({ headers: received, properties: {}, routingKey: "orders.new" }, stoppedSources());
  return renderHeaders(change(envelope), headersForCopy(received, "onward"));
}

describe("the headers of a new message", () => {
  it("are the published example: names, kinds and widths", () => {
    assert.deepEqual(renderHeaders(published(), APPLICATION), PUBLISHED);
  });

  it("hold first-seen as a 64-bit integer and the other integers as 32-bit ones", () => {
    const table = renderHeaders(newEnvelope({ type: "t" }, { ...stoppedSources(), clock: clockAt(5) }), {});
    assert.equal(table["x-acemq-first-seen"], 5n);
    assert.deepEqual([table["x-acemq-version"], table["x-acemq-attempt"]], [1, 1]);
  });

  it("hold an attempt that came larger than 32 bits as the largest of them, and a version that did as it came", () => {
    const largest = 2 ** 31 - 1;
    for (const large of [2n ** 31n, 2n ** 32n, 2n ** 62n, "4294967297"]) {
      const received = { ...PUBLISHED, "x-acemq-version": large, "x-acemq-attempt": large };
      const envelope = parseEnvelope({ headers: received, properties: {}, routingKey: "q" }, stoppedSources());
      assert.ok(envelope.attempt >= 2 ** 31 && envelope.version >= 2 ** 31);
      for (const change of [(same: Envelope) => same, nextAttempt]) {
        const table = copied(received, change);
        assert.deepEqual([table["x-acemq-version"], table["x-acemq-attempt"]], [envelope.version, largest]);
      }
    }
    const replayed = renderHeaders({ ...published(), replayCount: 2 ** 40 }, {});
    assert.equal(replayed["acemq-replay-count"], largest);
  });

  it("are the six that always go, and no more, when nothing is set", () => {
    const table = renderHeaders(newEnvelope({ type: "order.placed" }, stoppedSources()), {});
    assert.deepEqual(Object.keys(table).sort(), [
      "x-acemq-attempt",
      "x-acemq-correlation",
      "x-acemq-first-seen",
      "x-acemq-id",
      "x-acemq-type",
      "x-acemq-version",
    ]);
  });

  it("leave out whatever is empty [ENV-06]", () => {
    const empty: Partial<Envelope> = {
      causationId: "",
      origin: "",
      error: "",
      claim: "",
      route: { steps: [], position: 0, runId: "run" },
      replayedFrom: "",
      replayCount: 0,
    };
    const bare = newEnvelope({ type: "order.placed" }, stoppedSources());
    assert.deepEqual(renderHeaders({ ...bare, ...empty }, {}), renderHeaders(bare, {}));
  });

  it("hold every optional field under its name", () => {
    const table = renderHeaders({
      ...published(),
      error: "rejected",
      claim: "shelf/4",
      route: { steps: ["validate", "reserve"], position: 1, runId: "469ffe7a" },
      replayedFrom: "orders.new.dlq",
      replayedAt: new Date(1_790_086_512_000),
      replayCount: 2,
    }, {});
    const { ["x-tenant"]: _tenant, traceparent: _trace, ...engine } = PUBLISHED;
    assert.deepEqual(table, {
      ...engine,
      "x-acemq-error": "rejected",
      "x-acemq-claim": "shelf/4",
      "x-acemq-route": "validate,reserve",
      "x-acemq-route-position": 1,
      "x-acemq-route-id": "469ffe7a",
      "acemq-replayed-from": "orders.new.dlq",
      "acemq-replayed-at": "2026-09-22T14:15:12.000Z",
      "acemq-replay-count": 2,
    });
  });

  it("write the position of a route at its start, and no run id when there is none", () => {
    const table = renderHeaders({ ...published(), route: { steps: ["a"], position: 0, runId: "" } }, {});
    assert.equal(table["x-acemq-route-position"], 0);
    assert.equal("x-acemq-route-id" in table, false);
  });

  it("spell the replay time in UTC with milliseconds and Z [ENV-05]", () => {
    const table = renderHeaders({ ...published(), replayedAt: new Date(1_770_091_506_789) }, {});
    assert.match(String(table["acemq-replayed-at"]), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    assert.equal(table["acemq-replayed-at"], "2026-02-03T04:05:06.789Z");
  });

  it("cannot be overruled through the application's", () => {
    const table = renderHeaders(published(), { ...APPLICATION, "x-acemq-attempt": 9, "x-acemq-unknown": "x" });
    assert.deepEqual(table, PUBLISHED);
  });

  it("keep an application header named __proto__ as a header", () => {
    const table = renderHeaders(published(), Object.fromEntries([["__proto__", "x"]]) as WireTable);
    assert.equal(Object.hasOwn(table, "__proto__"), true);
    assert.equal(Object.getPrototypeOf(table), Object.prototype);
  });
});

describe("the headers of a copy", () => {
  it("differ from the original's in the attempt alone", () => {
    assert.deepEqual(copied(PUBLISHED, nextAttempt), { ...PUBLISHED, "x-acemq-attempt": 2 });
  });

  it("are the original's for a put-back", () => assert.deepEqual(copied(PUBLISHED), PUBLISHED));

  it("lose unknown names of the reserved prefix", () => {
    assert.deepEqual(copied({ ...PUBLISHED, "x-acemq-": 1, "x-acemq-shard": "7" }), PUBLISHED);
  });

  it("gain the envelope when the message came without one", () => {
    const table = copied({ source: "till" });
    assert.deepEqual(Object.keys(table).sort(), [
      "source",
      "x-acemq-attempt",
      "x-acemq-correlation",
      "x-acemq-first-seen",
      "x-acemq-id",
      "x-acemq-type",
      "x-acemq-version",
    ]);
    assert.equal(table["x-acemq-first-seen"], BigInt(NOW_MS));
  });

  const stamps: readonly (readonly [string, WireValue])[] = [
    ["acemq-replayed-at", 1_770_091_506_789],
    ["acemq-replayed-at", "2026-02-03T04:05:06.7890000+00:00"],
    ["acemq-replayed-at", "lately"],
    ["acemq-replayed-from", new TextEncoder().encode("orders.new.dlq")],
    ["acemq-replay-count", new WireDouble(2)],
    ["acemq-replay-count", 0],
    ["acemq-reply-to", "acemq-reply-7f3a"],
    ["acemq-routing-slip", '{"steps":[]}'],
    ["acemq-something-new", { nested: [1, null] }],
  ];
  for (const [name, value] of stamps) {
    it(`keep ${name} as it came: ${typeof value} ${JSON.stringify(value)}`, () => {
      assert.deepEqual(copied({ ...PUBLISHED, [name]: value }), { ...PUBLISHED, [name]: value });
    });
  }

  it("carry replay stamps of the old names under the new ones", () => {
    const old = {
      "x-acemq-replayed-from": "orders.new.dead",
      "x-acemq-replayed-at": 1_770_091_506_789,
      "x-acemq-replay-count": 2,
    };
    assert.deepEqual(copied({ ...PUBLISHED, ...old }), {
      ...PUBLISHED,
      "acemq-replayed-from": "orders.new.dead",
      "acemq-replayed-at": "2026-02-03T04:05:06.789Z",
      "acemq-replay-count": 2,
    });
  });
});

function clockAt(nowMs: number): ReturnType<typeof stoppedSources>["clock"] {
  return { ...stoppedSources().clock, now: () => nowMs };
}
