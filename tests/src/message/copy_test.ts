/** A received message as it goes out again: contract core 1.2, 4.7 and the worked examples 12.2 to 12.4. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { copyOf, replayCopy, setAsideCopy } from "../../../src/message/copy.ts";
import { type Envelope, nextAttempt, replayed } from "../../../src/message/envelope.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import { parseEnvelope } from "../../../src/message/parse_envelope.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import { contentHeaderSize } from "../../../src/message/wire_size.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";
import { NOW_MS, stoppedSources } from "../../support/sources.ts";

const HEADERS: WireTable = {
  "x-acemq-id": "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
  "x-acemq-type": "order.placed",
  "x-acemq-version": 1,
  "x-acemq-correlation": "cart-8812",
  "x-acemq-causation": "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
  "x-acemq-attempt": 1,
  "x-acemq-first-seen": 1_790_000_000_000n,
  "x-acemq-origin": "checkout@app-3",
  "x-tenant": "north",
};

const DEATHS: WireTable = {
  "x-death": [{ queue: "orders.new.retry.40s", reason: "expired", count: 1 }],
  "x-first-death-queue": "orders.new.retry.40s",
};

const FRAME_BYTES = 131_072 - 8;

function received(headers: WireTable = HEADERS, changes: Partial<ReceivedMessage> = {}): ReceivedMessage {
  return {
    exchange: "shop",
    routingKey: "order.placed",
    redelivered: true,
    properties: {
      contentType: "application/json",
      messageId: "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
      replyTo: "answers",
      deliveryMode: 1,
      priority: 5,
      expiration: "60000",
    },
    headers,
    body: new TextEncoder().encode('{"orderId":"A-19"}'),
    ...changes,
  };
}

function envelopeOf(message: ReceivedMessage): Envelope {
  return parseEnvelope(message, stoppedSources());
}

/** The bytes of UTF-8 that the copy's error takes. */
function errorBytes(copy: Outbound): number {
  return new TextEncoder().encode(String(copy.headers["x-acemq-error"])).byteLength;
}

describe("an onward copy", () => {
  it("has the same body, content type, id and reply address, and one attempt more", () => {
    const message = received();
    assert.deepEqual(copyOf(message, nextAttempt(envelopeOf(message)), { kind: "onward", queue: "orders.new" }), {
      exchange: "",
      routingKey: "orders.new",
      body: message.body,
      contentType: "application/json",
      messageId: "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
      headers: { ...HEADERS, "x-acemq-attempt": 2 },
      persistent: true,
      mandatory: true,
      replyTo: "answers",
    });
  });

  it("goes to a rung with the attempt already written, and without what the broker wrote", () => {
    const message = received({ ...HEADERS, ...DEATHS, "x-acemq-attempt": 2 });
    const copy = copyOf(message, nextAttempt(envelopeOf(message)), { kind: "onward", queue: "orders.new.retry.40s" });
    assert.equal(copy.routingKey, "orders.new.retry.40s");
    assert.deepEqual(copy.headers, { ...HEADERS, "x-acemq-attempt": 3 });
  });

  it("has an id that fits no property in its header alone", () => {
    for (const [id, property] of [["ü".repeat(127), "ü".repeat(127)], ["ü".repeat(128), undefined]] as const) {
      const message = received({ ...HEADERS, "x-acemq-id": id });
      const copy = copyOf(message, envelopeOf(message), { kind: "onward", queue: "q" });
      assert.deepEqual([copy.messageId, copy.headers["x-acemq-id"]], [property, id]);
    }
  });

  it("gains the id it was given on the way, and no empty reply address", () => {
    const message = received({}, { properties: { replyTo: "" } });
    const copy = copyOf(message, envelopeOf(message), { kind: "onward", queue: "q" });
    assert.deepEqual([copy.messageId, copy.replyTo], [stoppedSources().newId(), undefined]);
    assert.equal(copy.contentType, undefined);
  });
});

describe("a copy that is set aside", () => {
  it("has its reason, its attempt unchanged, and the dead-letter history", () => {
    const message = received({ ...HEADERS, ...DEATHS, "x-acemq-attempt": 4 });
    const reason = "exhausted 4 attempts: TimeoutError: payment gateway did not answer";
    const copy = setAsideCopy(message, envelopeOf(message), { queue: "orders.new.dlq", reason });
    assert.equal(copy.routingKey, "orders.new.dlq");
    assert.deepEqual(copy.headers, { ...HEADERS, ...DEATHS, "x-acemq-attempt": 4, "x-acemq-error": reason });
  });

  it("replaces the reason of an earlier one", () => {
    const message = received({ ...HEADERS, "x-acemq-error": "earlier" });
    const copy = setAsideCopy(message, envelopeOf(message), { queue: "q", reason: "later" });
    assert.equal(copy.headers["x-acemq-error"], "later");
  });

  it("keeps 8192 bytes of its reason, cut at a character", () => {
    const message = received();
    const cut = (reason: string): Outbound => setAsideCopy(message, envelopeOf(message), { queue: "q", reason });
    assert.equal(cut("e".repeat(8_192)).headers["x-acemq-error"], "e".repeat(8_192));
    assert.equal(cut("e".repeat(8_193)).headers["x-acemq-error"], "e".repeat(8_192));
    assert.equal(cut("€".repeat(3_000)).headers["x-acemq-error"], "€".repeat(2_730));
  });

  it("fits the frame whatever else it carries: a 300 KB error, 100 KB of other headers [BRK-06]", () => {
    const message = received({ ...HEADERS, "x-big": "b".repeat(100_000) });
    const copy = setAsideCopy(message, envelopeOf(message), {
      queue: "q",
      reason: "🧀".repeat(75_000),
      maxHeaderBytes: FRAME_BYTES,
    });
    assert.ok(contentHeaderSize(copy) <= FRAME_BYTES);
    assert.equal(errorBytes(copy), 8_192);
  });

  it("has as much of its reason as the other headers leave room for, to the byte [BRK-06]", () => {
    const reasons = ["e".repeat(300_000), "€".repeat(100_000), "🧀".repeat(75_000), "e".repeat(5_000)];
    for (const reason of reasons) {
      for (let room = 100; room < 116; room++) {
        const bare = contentHeaderSize(setAsideCopy(received(), envelopeOf(received()), { queue: "q", reason: "" }));
        const header = 1 + "x-acemq-error".length + 5;
        const copy = setAsideCopy(received(), envelopeOf(received()), {
          queue: "q",
          reason,
          maxHeaderBytes: bare + header + room,
        });
        assert.ok(contentHeaderSize(copy) <= bare + header + room, `${reason[0]} ${room}`);
        assert.ok(errorBytes(copy) > room - 4, `${reason[0]} ${room}`);
        assert.ok(reason.startsWith(String(copy.headers["x-acemq-error"])));
      }
    }
  });

  it("has no error at all rather than one that does not fit", () => {
    const message = received();
    const { headers } = setAsideCopy(message, envelopeOf(message), { queue: "q", reason: "why", maxHeaderBytes: 1 });
    assert.equal("x-acemq-error" in headers, false);
  });
});

describe("a foreign message that fills its frame", () => {
  const FOREIGN_FULL = FRAME_BYTES - contentHeaderSize(outboundOf({}));

  function outboundOf(headers: WireTable): Outbound {
    return {
      exchange: "",
      routingKey: "q",
      body: new Uint8Array(),
      messageId: "m-1",
      headers,
      persistent: true,
      mandatory: true,
    };
  }

  /** A foreign message whose content header has `left` bytes of room in the frame. */
  function foreign(left: number): ReceivedMessage {
    const pad = "p".repeat(FOREIGN_FULL - left - (1 + "pad".length + 5));
    return received({ pad }, { properties: { messageId: "m-1" } });
  }

  it("goes on with its attempt counted where the whole envelope does not fit [BRK-06]", () => {
    for (const left of [0, 20, 21, 22, 100]) {
      const message = foreign(left);
      const envelope = nextAttempt(parseEnvelope(message, stoppedSources()));
      const copy = copyOf(message, envelope, { kind: "onward", queue: "q", maxHeaderBytes: FRAME_BYTES });
      assert.deepEqual(Object.keys(copy.headers).sort(), ["pad", "x-acemq-attempt"]);
      assert.equal(copy.headers["x-acemq-attempt"], 2);
      // The name's length, its 15 bytes, the kind and four bytes: 21.
      assert.equal(contentHeaderSize(copy) <= FRAME_BYTES, left >= 21);
    }
  });

  it("can always be set aside: with a reason where there is room, as it came where there is none [BRK-06]", () => {
    for (const left of [0, 10, 21, 30, 60, 200, 400]) {
      const message = foreign(left);
      const envelope = parseEnvelope(message, stoppedSources());
      const copy = setAsideCopy(message, envelope, {
        queue: "q.dlq",
        reason: "r".repeat(500),
        maxHeaderBytes: FRAME_BYTES,
      });
      assert.ok(contentHeaderSize(copy) <= FRAME_BYTES, `${left} bytes of room`);
      assert.equal(copy.headers["pad"], message.headers["pad"]);
      assert.equal("x-acemq-error" in copy.headers, left >= 60);
    }
  });
});

describe("what a broken sender or a broken handler leaves in a message", () => {
  it("does not keep it from being set aside: half a surrogate pair in the reason", () => {
    const copy = setAsideCopy(received(), envelopeOf(received()), {
      queue: "q.dlq",
      reason: `cannot greet Ana ${"😀".slice(0, 1)}`,
    });
    assert.equal(copy.headers["x-acemq-error"], "cannot greet Ana \ufffd");
  });

  it("does not keep it from going on: properties that grew beyond 255 bytes when their invalid UTF-8 was read", () => {
    const grown = "\ufffd".repeat(100);
    const message = received(HEADERS, { properties: { contentType: grown, replyTo: grown } });
    const { contentType, replyTo } = copyOf(message, envelopeOf(message), { kind: "onward", queue: "q" });
    assert.deepEqual([contentType, replyTo], [undefined, undefined]);
  });
});

describe("a copy that is put back", () => {
  const STAMP = { from: "orders.new.dlq", atMs: NOW_MS + 86_512_000, keepAttempts: false };
  const DEAD: WireTable = { ...HEADERS, ...DEATHS, "x-acemq-attempt": 4, "x-acemq-error": "exhausted 4 attempts: no" };

  function putBack(headers: WireTable, maxHeaderBytes?: number): Outbound {
    const message = received(headers);
    return replayCopy(message, replayed(envelopeOf(message), STAMP), { queue: "orders.new", maxHeaderBytes });
  }

  it("is the contract's worked example: a first attempt without an error, stamped, nothing else changed", () => {
    assert.deepEqual(putBack(DEAD).headers, {
      ...HEADERS,
      "x-acemq-attempt": 1,
      "acemq-replayed-from": "orders.new.dlq",
      "acemq-replayed-at": "2026-09-22T14:15:12.000Z",
      "acemq-replay-count": 1,
    });
    const { exchange, routingKey, messageId, persistent, mandatory, priority, expirationMs } = putBack(DEAD);
    assert.deepEqual([exchange, routingKey, messageId, persistent, mandatory], [
      "",
      "orders.new",
      HEADERS["x-acemq-id"],
      true,
      true,
    ]);
    assert.deepEqual([priority, expirationMs], [undefined, undefined]);
  });

  it("has the stamps of this replay in place of earlier ones, whatever they were written as [ENV-05]", () => {
    const earlier: readonly WireTable[] = [
      { "acemq-replayed-from": "x", "acemq-replayed-at": 1_770_091_506_789, "acemq-replay-count": "2" },
      { "x-acemq-replayed-from": "x", "x-acemq-replayed-at": "2026-02-03T04:05:06Z", "x-acemq-replay-count": 2n },
    ];
    for (const stamps of earlier) {
      const { headers } = putBack({ ...DEAD, ...stamps });
      const names = Object.keys(headers).filter((name) => name.includes("replay")).toSorted();
      assert.deepEqual(names, ["acemq-replay-count", "acemq-replayed-at", "acemq-replayed-from"]);
      assert.deepEqual(names.map((name) => headers[name]), [3, "2026-09-22T14:15:12.000Z", "orders.new.dlq"]);
    }
  });

  it("gives up its stamps rather than never to leave", () => {
    const full = contentHeaderSize(putBack(DEAD));
    assert.equal(putBack(DEAD, full).headers["acemq-replay-count"], 1);
    const { "x-acemq-error": _, ...rest } = DEAD;
    const unstamped = putBack(rest, full - 1);
    assert.deepEqual(unstamped.headers, { ...HEADERS, "x-acemq-attempt": 1 });
    assert.ok(contentHeaderSize(unstamped) < full);
  });
});
