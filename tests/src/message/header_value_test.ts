/** Header values in an application's hands: contract core 1.2, 1.3 and 1.5. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import {
  type HeaderValue,
  type OutgoingHeaders,
  readableHeaders,
  writableHeaders,
} from "../../../src/message/header_value.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The table of headers that are expected to be accepted. */
function written(headers: OutgoingHeaders): WireTable {
  const result = writableHeaders(headers);
  if ("problem" in result) assert.fail(result.problem);
  return result.table;
}

/** The problem with headers that are expected to be refused. */
function problem(headers: Readonly<Record<string, unknown>>): string {
  const result = writableHeaders(headers as OutgoingHeaders);
  return "problem" in result ? result.problem : assert.fail("accepted");
}

describe("a received header", () => {
  const readings: readonly (readonly [string, WireValue, HeaderValue])[] = [
    ["text", "käse 🧀", "käse 🧀"],
    ["empty text", "", ""],
    ["a whole number", 42, 42],
    ["a large integer", 9_007_199_254_740_993n, 9_007_199_254_740_993n],
    ["a double", new WireDouble(2.5), 2.5],
    ["an unsigned integer", new WireUnsigned(2n ** 64n - 1n), 2n ** 64n - 1n],
    ["a decimal as its text", new WireDecimal(2, 1_234), "12.34"],
    ["a boolean", false, false],
    ["void as null", null, null],
    ["a timestamp", new Date(1_790_000_000_000), new Date(1_790_000_000_000)],
    ["a timestamp no Date holds as its seconds", new WireTimestamp(-(2n ** 62n)), -(2n ** 62n)],
    ["bytes of UTF-8 as text", bytes("north"), "north"],
    ["bytes with a byte order mark as they are", bytes("\ufeffa"), "\ufeffa"],
    ["no bytes as empty text", new Uint8Array(), ""],
    ["other bytes as bytes", Uint8Array.of(0xff, 0x00), Uint8Array.of(0xff, 0x00)],
    ["bytes of half a surrogate pair as bytes", Uint8Array.of(0xed, 0xa0, 0x80), Uint8Array.of(0xed, 0xa0, 0x80)],
    ["text that is no UTF-8, replaced", new WireText(Uint8Array.of(0x61, 0xff)), "a\ufffd"],
    ["a list", [1, bytes("b"), null], [1, "b", null]],
    ["a table", { a: bytes("b"), c: [{ d: Uint8Array.of(0xff) }] }, { a: "b", c: [{ d: Uint8Array.of(0xff) }] }],
    ["a table's reserved-looking name", { "x-acemq-id": 1 }, { "x-acemq-id": 1 }],
  ];
  for (const [what, value, expected] of readings) {
    it(`is read: ${what}`, () => assert.deepEqual({ ...readableHeaders({ h: value }) }, { h: expected }));
  }

  it("is not seen under the reserved prefix, known or not", () => {
    const headers = readableHeaders({
      "x-acemq-id": "7f3a",
      "x-acemq-foo": 1,
      "x-acemq-": 2,
      "acemq-foo": 3,
      "X-acemq-id": 4,
      "x-death": [{ count: 1 }],
    });
    assert.deepEqual({ ...headers }, { "acemq-foo": 3, "X-acemq-id": 4, "x-death": [{ count: 1 }] });
  });

  it("keeps the name __proto__, at any depth", () => {
    const wire = Object.fromEntries([["__proto__", Object.fromEntries([["__proto__", 7]])]]) as WireTable;
    const headers = readableHeaders(wire);
    assert.deepEqual(Object.keys(headers), ["__proto__"]);
    assert.deepEqual(Object.entries(Object.entries(headers)[0]?.[1] as object), [["__proto__", 7]]);
  });

  it("cannot be changed by the handler in a way the copy would carry", () => {
    const wire: WireTable = { bytes: Uint8Array.of(0xff), at: new Date(0), list: [1], table: { a: 1 } };
    const headers = readableHeaders(wire);
    (headers["bytes"] as Uint8Array)[0] = 0;
    (headers["at"] as Date).setTime(5);
    for (const frozen of [headers, headers["list"], headers["table"]]) assert.equal(Object.isFrozen(frozen), true);
    assert.deepEqual(wire, { bytes: Uint8Array.of(0xff), at: new Date(0), list: [1], table: { a: 1 } });
  });
});

describe("a header to send", () => {
  const accepted: readonly (readonly [string, HeaderValue])[] = [
    ["text", "käse 🧀"],
    ["empty text", ""],
    ["a 32-bit integer", -2_147_483_648],
    ["a safe integer", 2 ** 53 - 1],
    ["the smallest 64-bit integer as a number", -(2 ** 63)],
    ["the largest number below 2^63", 2 ** 63 - 1024],
    ["the smallest 64-bit integer", -(2n ** 63n)],
    ["the largest 64-bit integer", 2n ** 63n - 1n],
    ["a fraction", 3.14],
    ["a tiny fraction", 5e-324],
    ["a boolean", true],
    ["null", null],
    ["a Date", new Date(-1_000)],
    ["bytes", Uint8Array.of(0xff, 0x00)],
    ["a list", [1, "a", [null]]],
    ["an empty list", []],
    ["a table", { a: { b: [1n] } }],
    ["an empty table", {}],
  ];
  for (const [what, value] of accepted) {
    it(`is accepted: ${what}`, () => {
      assert.deepEqual(written({ h: value }), { h: value });
      assert.deepEqual(written({ h: [value] }), { h: [value] });
    });
  }

  it("is left out when it is undefined, at the top and in a table", () => {
    const table = { a: undefined, b: 1 } as unknown as HeaderValue;
    assert.deepEqual(written({ gone: undefined, kept: table }), { kept: { b: 1 } });
  });

  it("may be a table without a prototype, and named __proto__", () => {
    const bare = Object.assign(Object.create(null), { a: 1 }) as HeaderValue;
    const table = written(Object.fromEntries([["__proto__", bare]]));
    assert.deepEqual(Object.entries(table), [["__proto__", { a: 1 }]]);
  });

  it("does not change with the caller's own value afterwards", () => {
    const given = { bytes: Uint8Array.of(1), at: new Date(0), list: [1], table: { a: 1 } };
    const table = written(given);
    given.bytes[0] = 9;
    given.at.setTime(9);
    given.list.push(9);
    given.table.a = 9;
    assert.deepEqual(table, { bytes: Uint8Array.of(1), at: new Date(0), list: [1], table: { a: 1 } });
  });

  it("is left out when it is the broker's bookkeeping, so that received headers can be handed on", () => {
    assert.deepEqual(
      written({
        "x-death": [{ queue: "q", count: 1 }],
        "x-first-death-queue": "q",
        "x-last-death-queue": "q",
        "x-delivery-count": 2,
        "x-tenant": "north",
      }),
      { "x-tenant": "north" },
    );
  });
});

describe("a header no AMQP kind holds", () => {
  class Order {
    readonly id = 1;
  }
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const cyclicList: unknown[] = [];
  cyclicList.push(cyclicList);

  const refused: readonly (readonly [string, unknown, string])[] = [
    ["NaN", NaN, "is NaN, which no AMQP kind holds"],
    ["infinity", Infinity, "is Infinity, which no AMQP kind holds"],
    ["minus infinity", -Infinity, "is -Infinity, which no AMQP kind holds"],
    ["2^63", 2n ** 63n, "does not fit a signed 64-bit integer"],
    ["-2^63 - 1", -(2n ** 63n) - 1n, "does not fit a signed 64-bit integer"],
    ["2^63 as a number", 2 ** 63, "does not fit a signed 64-bit integer"],
    ["the number below -2^63", -(2 ** 63) - 2048, "does not fit a signed 64-bit integer"],
    ["1e300", 1e300, "does not fit a signed 64-bit integer"],
    ["a function", () => 1, "is a function, which no AMQP kind holds"],
    ["a symbol", Symbol("s"), "is a symbol, which no AMQP kind holds"],
    ["a Map", new Map([["a", 1]]), "is an instance of Map, which no AMQP kind holds"],
    ["a Set", new Set([1]), "is an instance of Set, which no AMQP kind holds"],
    ["a DataView", new DataView(new ArrayBuffer(1)), "is an instance of DataView, which no AMQP kind holds"],
    ["an ArrayBuffer", new ArrayBuffer(1), "is an instance of ArrayBuffer, which no AMQP kind holds"],
    ["an array of 16-bit numbers", new Uint16Array(1), "is an instance of Uint16Array, which no AMQP kind holds"],
    ["a promise", Promise.resolve(1), "is an instance of Promise, which no AMQP kind holds"],
    ["a boxed text", Object("a"), "is an instance of String, which no AMQP kind holds"],
    ["an Error", new Error("e"), "is an instance of Error, which no AMQP kind holds"],
    ["an instance of a class", new Order(), "is an instance of Order, which no AMQP kind holds"],
    ["an invalid Date", new Date(NaN), "is an invalid Date"],
    ["half a surrogate pair", "a\ud83d", "holds half a surrogate pair"],
    ["the other half", "\udcb8a", "holds half a surrogate pair"],
  ];
  for (const [what, value, why] of refused) {
    it(`is refused by name: ${what}`, () => assert.equal(problem({ "x-h": value }), `header "x-h" ${why}`));
    it(`is refused by its place when nested: ${what}`, () => {
      assert.equal(problem({ "x-ok": 1, "x-h": { list: [0, value] } }), `header "x-h".list[1] ${why}`);
      assert.equal(problem({ "x-h": [{ deep: value }] }), `header "x-h"[0].deep ${why}`);
    });
  }

  it("is refused when it contains itself", () => {
    assert.match(problem({ "x-h": cyclic }), /^header "x-h"(\.self)+ is nested deeper than 64 levels$/);
    assert.match(problem({ "x-h": cyclicList }), /^header "x-h"(\[0\])+ is nested deeper than 64 levels$/);
  });

  it("is refused beyond 64 levels and accepted up to them", () => {
    const nested = (levels: number): HeaderValue => levels === 0 ? 1 : [nested(levels - 1)];
    assert.deepEqual(written({ h: nested(64) }), { h: nested(64) });
    assert.match(problem({ h: nested(65) }), /nested deeper than 64 levels$/);
  });

  it("is refused as a hole or undefined in a list, where leaving it out would move its neighbours", () => {
    assert.equal(problem({ "x-h": [1, undefined] }), 'header "x-h"[1] is undefined, which no AMQP kind holds');
    assert.equal(problem({ "x-h": new Array(1) }), 'header "x-h"[0] is undefined, which no AMQP kind holds');
  });
});

describe("bytes in a header", () => {
  it("are the message's own, also when they came in a Node Buffer that is used again", () => {
    const buffer = Buffer.from([1, 2, 255]);
    const written = writableHeaders({ seal: buffer });
    const read = readableHeaders({ seal: buffer });
    buffer.fill(0);
    assert.ok("table" in written);
    assert.deepEqual(written.table["seal"], new Uint8Array([1, 2, 255]));
    assert.deepEqual(read["seal"], new Uint8Array([1, 2, 255]));
  });
});

describe("a header name", () => {
  it("holds up to 255 bytes of UTF-8, at any depth", () => {
    for (const name of ["n".repeat(255), "ü".repeat(127) + "n", "🧀".repeat(63) + "abc"]) {
      assert.deepEqual(written({ [name]: { [name]: 1 } }), { [name]: { [name]: 1 } });
    }
  });

  for (const name of ["n".repeat(256), "ü".repeat(128), "🧀".repeat(64)]) {
    it(`of 256 bytes is refused: ${name.slice(0, 2)}…`, () => {
      const why = `a header name must fit 255 bytes of UTF-8, found 256: ${JSON.stringify(name.slice(0, 40))}`;
      assert.equal(problem({ [name]: 1 }), why);
      assert.equal(problem({ "x-h": [{ [name]: 1 }] }), why);
    });
  }

  it("with half a surrogate pair is refused", () => {
    assert.equal(problem({ "a\ud83d": 1 }), String.raw`header name "a\ud83d" holds half a surrogate pair`);
    assert.equal(problem({ h: { "\udcb8": 1 } }), String.raw`header name "\udcb8" holds half a surrogate pair`);
  });

  it("of the reserved prefix is refused, every one of them named", () => {
    assert.equal(
      problem({ "x-acemq-mine": 1, "x-tenant": "north", "x-acemq-id": undefined, "x-acemq-": "" }),
      'the prefix x-acemq- is reserved: found "x-acemq-mine", "x-acemq-id", "x-acemq-"',
    );
  });

  it("that only looks reserved is accepted", () => {
    const headers = { "acemq-mine": 1, "X-ACEMQ-id": 2, "x-acemq": 3, nested: { "x-acemq-id": 4 } };
    assert.deepEqual(written(headers), headers);
  });
});

describe("further routing keys", () => {
  it("are a list of texts", () => {
    assert.deepEqual(written({ CC: ["a", "ü".repeat(127)], BCC: [] }), { CC: ["a", "ü".repeat(127)], BCC: [] });
  });

  for (const value of ["a", [1], ["a", null], [["a"]], { 0: "a" }, null, ["ü".repeat(128)]]) {
    it(`are refused as ${JSON.stringify(value).slice(0, 20)}`, () => {
      assert.equal(problem({ CC: value }), 'header "CC" must be a list of routing keys');
      assert.equal(problem({ BCC: value }), 'header "BCC" must be a list of routing keys');
    });
  }
});
