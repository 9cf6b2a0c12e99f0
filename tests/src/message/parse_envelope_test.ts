/** Reading an envelope: contract core 1.1, 1.5, 1.6 and 1.8. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Envelope } from "../../../src/message/envelope.ts";
import { parseEnvelope } from "../../../src/message/parse_envelope.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import { FRESH_ID, NOW_MS, stoppedSources } from "../../support/sources.ts";

function parse(headers: WireTable, received: Partial<ReceivedMessage> = {}): Envelope {
  return parseEnvelope({ headers, properties: {}, routingKey: "order.placed", ...received }, stoppedSources());
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The published message of contract core 12.1. */
const PUBLISHED: WireTable = {
  "x-acemq-id": "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
  "x-acemq-type": "order.placed",
  "x-acemq-version": 1,
  "x-acemq-correlation": "cart-8812",
  "x-acemq-causation": "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
  "x-acemq-attempt": 1,
  "x-acemq-first-seen": 1_790_000_000_000,
  "x-acemq-origin": "checkout@app-3",
  "x-tenant": "north",
  traceparent: "00-5f2d9c8e7b6a41038291a0b1c2d3e4f5-7a6b5c4d3e2f1a0b-01",
};

const NOTHING_OPTIONAL = {
  causationId: undefined,
  origin: undefined,
  error: undefined,
  claim: undefined,
  route: undefined,
  replayedFrom: undefined,
  replayedAt: undefined,
  replayCount: undefined,
};

describe("the envelope of a received message", () => {
  it("has every field of the published example", () => {
    assert.deepEqual(parse(PUBLISHED), {
      ...NOTHING_OPTIONAL,
      id: "6c1f8a52-3b0e-4d5e-9a77-2f4c0e61b9d3",
      type: "order.placed",
      version: 1,
      correlationId: "cart-8812",
      causationId: "0b7d4d1e-6f53-4a0c-8d0f-6f0e3b1c2a94",
      attempt: 1,
      firstSeenMs: 1_790_000_000_000,
      origin: "checkout@app-3",
    });
  });

  it("is a first attempt of its routing key's type when there is no AceMQ header at all", () => {
    assert.deepEqual(parse({ source: "till" }), {
      ...NOTHING_OPTIONAL,
      id: FRESH_ID,
      type: "order.placed",
      version: 1,
      correlationId: FRESH_ID,
      attempt: 1,
      firstSeenMs: NOW_MS,
    });
  });

  it("takes the replay stamps, the error and the claim of a replayed copy", () => {
    const envelope = parse({
      ...PUBLISHED,
      "x-acemq-error": "exhausted 4 attempts: TimeoutError: payment gateway did not answer",
      "x-acemq-claim": "shelf/4",
      "acemq-replayed-from": "orders.new.dlq",
      "acemq-replayed-at": "2026-09-22T14:15:12.000Z",
      "acemq-replay-count": 1,
    });
    assert.equal(envelope.error, "exhausted 4 attempts: TimeoutError: payment gateway did not answer");
    assert.equal(envelope.claim, "shelf/4");
    assert.equal(envelope.replayedFrom, "orders.new.dlq");
    assert.equal(envelope.replayedAt?.getTime(), 1_790_086_512_000);
    assert.equal(envelope.replayCount, 1);
  });
});

describe("an integer header", () => {
  const readings: readonly (readonly [string, WireValue, number])[] = [
    ["a whole number of any width", 3, 3],
    ["an integer beyond 32 bits", 2_147_483_648, 2_147_483_648],
    ["a double, fraction cut", new WireDouble(2.9), 2],
    ["a fraction", 2.9, 2],
    ["numeric text", "3", 3],
    ["numeric text, trimmed", " \t4 \n", 4],
    ["text with a sign, trimmed", " +3 ", 3],
    ["decimal text, fraction cut", "2.0", 2],
    ["decimal text just below the next number", "2.999999", 2],
    ["bytes of numeric text", bytes("12"), 12],
    ["a decimal, fraction cut", new WireDecimal(2, 399), 3],
    ["zero as one", 0, 1],
    ["a negative number as one", -5, 1],
    ["negative text as one", "-2", 1],
    ["a double below one as one", new WireDouble(0.5), 1],
  ];
  const garbage: readonly (readonly [string, WireValue])[] = [
    ["a word", "three"],
    ["an empty text", ""],
    ["a blank text", "  "],
    ["hexadecimal text", "0x3"],
    ["text with an exponent", "3e2"],
    ["text with a separator", "1,000"],
    ["text of infinity", "Infinity"],
    ["true", true],
    ["false", false],
    ["void", null],
    ["a list", [3]],
    ["a table", { value: 3 }],
    ["a timestamp", new Date(3_000)],
    ["a timestamp no Date holds", new WireTimestamp(1n << 62n)],
    ["NaN", new WireDouble(NaN)],
    ["infinity", new WireDouble(Infinity)],
    ["text that is no UTF-8", new WireText(Uint8Array.of(0x33, 0xff))],
    ["bytes that are no UTF-8", Uint8Array.of(0xfe, 0x33)],
  ];

  function attemptAndVersion(value: WireValue): readonly number[] {
    const { attempt, version } = parse({ "x-acemq-attempt": value, "x-acemq-version": value });
    return [attempt, version];
  }

  for (const [what, value, expected] of readings) {
    it(`reads ${what}`, () => assert.deepEqual(attemptAndVersion(value), [expected, expected]));
  }
  for (const [what, value] of garbage) {
    it(`is one for ${what}`, () => assert.deepEqual(attemptAndVersion(value), [1, 1]));
  }
  it("is one when it is missing", () => assert.deepEqual([parse({}).attempt, parse({}).version], [1, 1]));

  it("of more than a number holds exactly is read as the largest one that does", () => {
    for (const value of [2n ** 63n - 1n, new WireUnsigned(2n ** 64n - 1n), "9".repeat(30), new WireDouble(1e300)]) {
      assert.deepEqual(attemptAndVersion(value), [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
    }
  });
});

describe("the first sight", () => {
  const readings: readonly (readonly [string, WireValue])[] = [
    ["a 64-bit integer", 1_790_000_000_000],
    ["a bigint", 1_790_000_000_000n],
    ["a double", new WireDouble(1_790_000_000_000.75)],
    ["numeric text", "1790000000000"],
    ["numeric text, trimmed", " 1790000000000 "],
    ["bytes of numeric text", bytes("1790000000000")],
    ["an AMQP timestamp: its milliseconds", new Date(1_790_000_000_000)],
  ];
  for (const [what, value] of readings) {
    it(`reads ${what}`, () => assert.equal(parseAt(NOW_MS + 5_000, value), 1_790_000_000_000));
  }

  const unreadable: readonly (readonly [string, WireValue | undefined])[] = [
    ["missing", undefined],
    ["zero", 0],
    ["negative", -1],
    ["a timestamp before 1970", new Date(-1_000)],
    ["a timestamp no Date holds", new WireTimestamp(1n << 62n)],
    ["an instant as text", "2026-09-21T14:13:20Z"],
    ["a word", "yesterday"],
    ["empty", ""],
    ["a boolean", true],
    ["void", null],
    ["a list", [1_790_000_000_000]],
    ["a table", {}],
    ["NaN", new WireDouble(NaN)],
  ];
  for (const [what, value] of unreadable) {
    it(`is now when it is ${what}`, () => assert.equal(parseAt(NOW_MS + 5_000, value), NOW_MS + 5_000));
  }

  function parseAt(nowMs: number, value: WireValue | undefined): number {
    const { clock, newId } = stoppedSources();
    const headers = value === undefined ? {} : { "x-acemq-first-seen": value };
    return parseEnvelope({ headers, properties: {}, routingKey: "k" }, { clock: { ...clock, now: () => nowMs }, newId })
      .firstSeenMs;
  }
});

describe("the id", () => {
  it("is the header", () => {
    assert.equal(parse({ "x-acemq-id": "header" }, { properties: { messageId: "property" } }).id, "header");
  });

  it("is the message-id property when the header is missing or empty", () => {
    assert.equal(parse({}, { properties: { messageId: "property" } }).id, "property");
    assert.equal(parse({ "x-acemq-id": "" }, { properties: { messageId: "property" } }).id, "property");
  });

  it("is a fresh one when the property is missing or empty as well", () => {
    assert.equal(parse({}).id, FRESH_ID);
    assert.equal(parse({ "x-acemq-id": "" }, { properties: { messageId: "" } }).id, FRESH_ID);
  });

  it("is what the correlation falls back to, the fresh one included", () => {
    assert.equal(parse({ "x-acemq-id": "7f3a" }).correlationId, "7f3a");
    assert.equal(parse({ "x-acemq-id": "7f3a", "x-acemq-correlation": "" }).correlationId, "7f3a");
    assert.equal(parse({}, { properties: { messageId: "property" } }).correlationId, "property");
    assert.equal(parse({}).correlationId, FRESH_ID);
  });

  it("keeps spaces and lengths as they are", () => {
    assert.equal(parse({ "x-acemq-id": " a b " }).id, " a b ");
    assert.equal(parse({ "x-acemq-id": "ü".repeat(300) }).id, "ü".repeat(300));
  });
});

describe("the type", () => {
  it("is the routing key when the header is missing or empty", () => {
    assert.equal(parse({}).type, "order.placed");
    assert.equal(parse({ "x-acemq-type": "" }).type, "order.placed");
  });

  it("is `message` when the routing key is empty too", () => {
    assert.equal(parse({}, { routingKey: "" }).type, "message");
    assert.equal(parse({ "x-acemq-type": "" }, { routingKey: "" }).type, "message");
  });

  it("outlives a hop through the queue's own name", () => {
    assert.equal(parse(PUBLISHED, { routingKey: "orders.new" }).type, "order.placed");
  });
});

describe("a text header", () => {
  function everyText(value: WireValue): readonly (string | undefined)[] {
    const { id, type, correlationId, causationId, origin, error, claim, replayedFrom } = parse({
      "x-acemq-id": value,
      "x-acemq-type": value,
      "x-acemq-correlation": value,
      "x-acemq-causation": value,
      "x-acemq-origin": value,
      "x-acemq-error": value,
      "x-acemq-claim": value,
      "acemq-replayed-from": value,
    });
    return [id, type, correlationId, causationId, origin, error, claim, replayedFrom];
  }

  const readings: readonly (readonly [string, WireValue, string])[] = [
    ["text", "käse 🧀", "käse 🧀"],
    ["bytes as UTF-8", bytes("käse 🧀"), "käse 🧀"],
    ["bytes with invalid sequences replaced", Uint8Array.of(0x61, 0xff, 0x62), "a\ufffdb"],
    ["text with invalid sequences replaced", new WireText(Uint8Array.of(0xc3, 0x28)), "\ufffd("],
    ["a byte order mark as it is", bytes("\ufeffa"), "\ufeffa"],
    ["a number as decimal text", 42, "42"],
    ["a large integer as decimal text", 9_007_199_254_740_993n, "9007199254740993"],
    ["an unsigned integer as decimal text", new WireUnsigned(2n ** 63n), "9223372036854775808"],
    ["a double as decimal text", new WireDouble(1.5), "1.5"],
    ["a whole double as decimal text", new WireDouble(2), "2"],
    ["a large double as decimal text", new WireDouble(1e21), "1000000000000000000000"],
    ["a decimal as decimal text", new WireDecimal(2, 1_234), "12.34"],
  ];
  const absent: readonly (readonly [string, WireValue])[] = [
    ["empty text", ""],
    ["empty bytes", new Uint8Array()],
    ["true", true],
    ["void", null],
    ["a list", ["a"]],
    ["a table", { a: "b" }],
    ["a timestamp", new Date(0)],
    ["a timestamp no Date holds", new WireTimestamp(1n << 62n)],
    ["NaN", new WireDouble(NaN)],
    ["infinity", new WireDouble(-Infinity)],
  ];

  for (const [what, value, expected] of readings) {
    it(`reads ${what}`, () => assert.deepEqual(everyText(value), Array(8).fill(expected)));
  }
  for (const [what, value] of absent) {
    it(`gives the default of its field for ${what}`, () => {
      assert.deepEqual(everyText(value), [FRESH_ID, "order.placed", FRESH_ID, ...Array(5).fill(undefined)]);
    });
  }
});

describe("the declared route", () => {
  const names = { "x-acemq-route": "validate,reserve,dispatch", "x-acemq-route-id": "469ffe7a" };

  it("is names, position and run id", () => {
    assert.deepEqual(parse({ ...names, "x-acemq-route-position": 1 }).route, {
      steps: ["validate", "reserve", "dispatch"],
      position: 1,
      runId: "469ffe7a",
    });
  });

  it("has no run id when none was given", () => {
    const { route } = parse({ "x-acemq-route": "a,b", "x-acemq-route-position": 0, "x-acemq-route-id": "" });
    assert.deepEqual(route, { steps: ["a", "b"], position: 0, runId: undefined });
  });

  it("drops blanks around names and empty names", () => {
    assert.deepEqual(parse({ "x-acemq-route": " a, ,b ,,c" }).route?.steps, ["a", "b", "c"]);
  });

  it("is absent when no name is left", () => {
    for (const text of ["", ",", " , ,"]) assert.equal(parse({ "x-acemq-route": text }).route, undefined);
    assert.equal(parse({ "x-acemq-route-position": 1, "x-acemq-route-id": "x" }).route, undefined);
  });

  const positions: readonly (readonly [string, WireValue | undefined, number])[] = [
    ["the number", 2, 2],
    ["the end", 3, 3],
    ["the end when it is beyond", 4, 3],
    ["the start when it is negative", -1, 0],
    ["the start when it is missing", undefined, 0],
    ["the start when it is garbage", "first", 0],
    ["the start when it is a boolean", true, 0],
    ["the start when it is empty", "", 0],
    ["the number of a text", " 2 ", 2],
    ["a double, fraction cut", new WireDouble(1.9), 1],
    ["the number of bytes", bytes("1"), 1],
  ];
  for (const [what, value, expected] of positions) {
    it(`stands at ${what}`, () => {
      const position = value === undefined ? {} : { "x-acemq-route-position": value };
      assert.equal(parse({ ...names, ...position }).route?.position, expected);
    });
  }
});

describe("the replay time [ENV-05]", () => {
  const MS_789 = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
  const WHOLE = Date.UTC(2026, 1, 3, 4, 5, 6);
  const readings: readonly (readonly [string, WireValue, number])[] = [
    ["epoch milliseconds as a number", 1_770_091_506_789, MS_789],
    ["epoch milliseconds as a bigint", 1_770_091_506_789n, MS_789],
    ["epoch milliseconds as a double", new WireDouble(1_770_091_506_789), MS_789],
    ["epoch milliseconds as text", "1770091506789", MS_789],
    ["epoch milliseconds as bytes", bytes("1770091506789"), MS_789],
    ["an AMQP timestamp", new Date(WHOLE), WHOLE],
    ["whole seconds, Z", "2026-02-03T04:05:06Z", WHOLE],
    ["milliseconds, Z", "2026-02-03T04:05:06.789Z", MS_789],
    ["microseconds, Z", "2026-02-03T04:05:06.789012Z", MS_789],
    ["nanoseconds, Z, cut and not rounded", "2026-02-03T04:05:06.789999999Z", MS_789],
    ["one digit of a fraction", "2026-02-03T04:05:06.7Z", WHOLE + 700],
    ["microseconds, +00:00", "2026-02-03T04:05:06.789012+00:00", MS_789],
    ["whole seconds, +00:00", "2026-02-03T04:05:06+00:00", WHOLE],
    ["seven digits, +00:00", "2026-02-03T04:05:06.7890000+00:00", MS_789],
    ["seven nines, cut and not rounded", "2026-02-03T04:05:06.9999999+00:00", WHOLE + 999],
    ["another offset", "2026-02-03T09:35:06.789+05:30", MS_789],
    ["an offset to the west", "2026-02-02T20:05:06-08:00", WHOLE],
    ["lower case", "2026-02-03t04:05:06z", WHOLE],
    ["blanks around it", " 2026-02-03T04:05:06Z ", WHOLE],
    ["bytes", bytes("2026-02-03T04:05:06Z"), WHOLE],
    ["a leap day", "2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ];
  for (const [what, value, expected] of readings) {
    it(`reads ${what}`, () => assert.equal(parse({ "acemq-replayed-at": value }).replayedAt?.getTime(), expected));
    it(`reads ${what} under its old name`, () => {
      assert.equal(parse({ "x-acemq-replayed-at": value }).replayedAt?.getTime(), expected);
    });
  }

  const unreadable: readonly WireValue[] = [
    "",
    "yesterday",
    "2026-02-03",
    "2026-02-03T04:05:06",
    "2026-02-03T04:05Z",
    "2026-13-03T04:05:06Z",
    "2026-02-30T04:05:06Z",
    "2025-02-29T04:05:06Z",
    "2026-02-03T25:05:06Z",
    "2026-02-03T04:05:06+25:00",
    "+275760-09-13T00:00:00Z",
    8_640_000_000_000_000,
    8_640_000_000_000_001,
    new WireDouble(NaN),
    true,
    null,
    [],
    {},
  ];
  for (const value of unreadable) {
    it(`is absent for ${JSON.stringify(value)}`, () => {
      assert.equal(parse({ "acemq-replayed-at": value }).replayedAt, undefined);
    });
  }
});

describe("the replay count", () => {
  const readings: readonly (readonly [WireValue, number | undefined])[] = [
    [3, 3],
    [3n, 3],
    ["3", 3],
    [new WireDouble(3), 3],
    [0, undefined],
    [-1, undefined],
    ["many", undefined],
    [true, undefined],
    [new Date(3), undefined],
  ];
  for (const [value, expected] of readings) {
    it(`is ${expected ?? "absent"} for ${typeof value} ${String(value)}`, () => {
      assert.equal(parse({ "acemq-replay-count": value }).replayCount, expected);
    });
  }
});

describe("the old names of the replay stamps", () => {
  const old = {
    "x-acemq-replayed-from": "orders.new.dead",
    "x-acemq-replayed-at": 1_770_091_506_789,
    "x-acemq-replay-count": 2,
  };

  it("are read when the new ones are missing", () => {
    const { replayedFrom, replayedAt, replayCount } = parse(old);
    assert.deepEqual([replayedFrom, replayedAt?.toISOString(), replayCount], [
      "orders.new.dead",
      "2026-02-03T04:05:06.789Z",
      2,
    ]);
  });

  it("give way to the new ones field by field", () => {
    const { replayedFrom, replayedAt, replayCount } = parse({
      ...old,
      "acemq-replayed-from": "orders.new.dlq",
      "acemq-replay-count": 5,
    });
    assert.deepEqual([replayedFrom, replayedAt?.getTime(), replayCount], ["orders.new.dlq", 1_770_091_506_789, 5]);
  });

  it("stand in for new ones that are there but unreadable", () => {
    const { replayedFrom, replayedAt, replayCount } = parse({
      ...old,
      "acemq-replayed-from": "",
      "acemq-replayed-at": "lately",
      "acemq-replay-count": "often",
    });
    assert.deepEqual([replayedFrom, replayedAt?.getTime(), replayCount], ["orders.new.dead", 1_770_091_506_789, 2]);
  });
});

describe("a header name", () => {
  it("is compared as it is, case and all", () => {
    assert.equal(parse({ "X-AceMQ-Attempt": 4, "X-ACEMQ-ID": "other" }).attempt, 1);
  });

  it("counts only when the table itself has it", () => {
    const inherited = Object.create({ "x-acemq-attempt": 4 }) as WireTable;
    assert.equal(parse(inherited).attempt, 1);
  });
});
