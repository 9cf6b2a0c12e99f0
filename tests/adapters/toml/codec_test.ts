import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tomlCodec, type TomlCodecOptions } from "../../../adapters/toml/mod.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";

const utf8 = new TextEncoder();

function textOf(payload: unknown, options: TomlCodecOptions = {}): string {
  return new TextDecoder().decode((tomlCodec(options).encode(payload) as EncodedPayload).body);
}

function read(body: string | Uint8Array, options: TomlCodecOptions = {}, contentType = ""): unknown {
  return tomlCodec(options).decode(typeof body === "string" ? utf8.encode(body) : body, { contentType });
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { a: nested(levels - 1) };
}

codecContract("TOML", async () => ({
  codec: tomlCodec(),
  holds: [
    { payload: {} },
    {
      payload: { ref: "b-7", qty: 3, tags: ["red", "blue"], box: { sku: "x", size: { w: 1.5 }, empty: {}, none: [] } },
    },
    {
      payload: {
        lines: [{ a: 1, sub: { b: [{ c: 2 }, { c: 3 }] } }, {}],
        mixed: [1, "two", [3, [{ d: {} }]], { e: [] }],
      },
    },
    { payload: { "": 1, "a b": 2, "a.b": 3, "größe": { "ö.x": [{ '"q"': 4 }] }, true: 5, "1": 6 } },
    { payload: { s: 'größe 😀 \u0000 \u007f \u0085 \u2028 " \\ \r\n \t', t: "'''" } },
    { payload: { i: [0, -1, 2 ** 53 - 1], f: [0.1, 1e21, 2 ** 60, 1.5e-7, NaN, Infinity, -Infinity, -0] } },
    { payload: { l: [9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)], yes: true, no: false } },
    { payload: { at: new Date(1_772_600_767_890) } },
    { payload: { raw: Uint8Array.of(1, 2, 255) }, reads: { raw: "AQL/" } },
    { payload: { there: 1, left: undefined, in: { left: undefined } }, reads: { there: 1, in: {} } },
    { payload: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":[{"polluted":1}]}}') },
  ],
  refuses: [
    undefined,
    null,
    "4242",
    4242,
    ["4242"],
    new Date(4242),
    utf8.encode("4242"),
    { card: "4242", note: null },
    { card: ["4242", null] },
    { card: ["4242", undefined] },
    { card: [{ n: "4242", deeper: [{ note: null }] }] },
    { card: () => 4242 },
    new Map([["4242", 4242]]),
    { card: new Set(["4242"]) },
    { "4242": new Date(NaN) },
    { "4242": new Date(8.64e15) },
    { "4242": 2n ** 63n },
    { "4242": "\ud800" },
    { "4242\ud800": 1 },
    { "4242": nested(64) },
  ],
  unreadable: [
    "4242",
    "x4242 = ",
    "4242 = 1\n4242 = 2",
    "[x4242]\n[x4242]",
    "a = 4242-02-30",
    "a = 42421111111111111111",
    "a = '4242",
    '{"card": 4242}',
    "a = 4242 b = 1",
    "a = 04242",
    'a = "4242\u0001"',
    `a = ${"[".repeat(101)}4242`,
    `${"a.".repeat(200)}x4242 = 1`,
  ].map((text) => utf8.encode(text)).concat(Uint8Array.of(0x34, 0x32, 0x34, 0x32, 0xff)),
  reads: ["application/toml", "text/toml", "application/vnd.shop.order+toml"],
  leaves: ["application/json", "text/plain", "application/x-toml", "application/toml+json", undefined],
}));

describe("TOML, written", () => {
  it("is what the contract shows", () => {
    const payload = { ref: "b-7", qty: 3, due: new Date(1_772_600_767_890), box: { sku: "x" } };
    assert.equal(textOf(payload), 'ref = "b-7"\nqty = 3\ndue = 2026-03-04T05:06:07.890Z\n\n[box]\nsku = "x"\n');
    assert.equal(tomlCodec().contentType, "application/toml");
  });

  const written: readonly (readonly [payload: unknown, text: string])[] = [
    [{}, ""],
    [{ a: {} }, "[a]\n"],
    [{ a: { b: { c: 1 } }, d: 2 }, "d = 2\n\n[a]\n\n[a.b]\nc = 1\n"],
    [{ l: [{ a: 1 }, { b: { c: 2 } }] }, "[[l]]\na = 1\n\n[[l]]\n\n[l.b]\nc = 2\n"],
    [{ l: [{ a: 1 }, 2] }, "l = [{ a = 1 }, 2]\n"],
    [{ l: [], m: [[], {}] }, "l = []\nm = [[], {}]\n"],
    [{ "a b": { "c.d": 1, e_f: 2 } }, '["a b"]\n"c.d" = 1\ne_f = 2\n'],
    [{ f: [1e21, 2 ** 53, 1.5, -0, NaN, -Infinity] }, "f = [1e+21, 9007199254740992.0, 1.5, -0.0, nan, -inf]\n"],
    [{ s: "a\u007f\n\u2028" }, 's = "a\\u007f\\n\u2028"\n'],
    [{ raw: Uint8Array.of(255) }, 'raw = "/w=="\n'],
    [{ of: { toJSON: (key: string) => `of ${key}` } }, 'of = "of of"\n'],
    [{ of: { toJSON: () => ({ a: 1 }) } }, "[of]\na = 1\n"],
    [{ toJSON: () => ({ a: 1 }) }, "a = 1\n"],
    [{ l: [{ toJSON: () => 1 }] }, "l = [1]\n"],
  ];
  for (const [payload, text] of written) {
    it(`is ${JSON.stringify(text)}`, () => assert.equal(textOf(payload), text));
  }

  it("refuses null wherever it stands, which it would be silent about otherwise", () => {
    assert.throws(() => textOf({ a: 1, b: { c: null } }), {
      name: "EncodeError",
      message: "Cannot write the payload as TOML: found null at member 1, member 0 (counted from 0)",
    });
    assert.throws(() => textOf({ l: [{ a: 1 }, { a: null }] }), /found null at member 0, item 1, member 0 /);
    assert.throws(() => textOf({ l: [1, { a: null }] }), /found null at member 0, item 1, member 0 /);
    assert.throws(() => textOf(null), /the top must be a table, found null/);
    assert.throws(() => textOf([]), /the top must be a table, found a list/);
  });

  it("has at most 64 levels, or as many as were asked for", () => {
    assert.doesNotThrow(() => textOf(nested(64)));
    assert.throws(() => textOf(nested(65)), EncodeError);
    assert.deepEqual(read(textOf(nested(100), { maxEncodeDepth: 100 })), nested(100));
    const ring: Record<string, unknown> = {};
    ring["self"] = ring;
    assert.throws(() => textOf(ring), /it is nested too deeply/);
    ring["self"] = [[ring]];
    assert.throws(() => textOf(ring), /it is nested too deeply/);
    assert.throws(() => tomlCodec({ maxEncodeDepth: 101 }), RangeError);
  });
});

describe("TOML, read", () => {
  it("reads every content type there is for it, written one [COD-14]", () => {
    for (const type of ["application/toml", "text/toml", "application/a+toml"]) {
      assert.equal(tomlCodec().canDecode(`${type}; charset=utf-8`), true);
      assert.deepEqual(read("a = 1", {}, `${type}; charset=utf-8`), { a: 1 });
    }
    assert.throws(() => read("", {}, "application/toml; charset=utf-16"), /its charset must be utf-8, found utf-16/);
    assert.equal(tomlCodec().canDecode(undefined), false);
  });

  it("makes a Date of a moment and text of what names none, fractions cut to three digits", () => {
    const times: readonly (readonly [toml: string, value: unknown])[] = [
      ["2026-03-04T05:06:07.890Z", new Date(1_772_600_767_890)],
      ["2026-03-04T07:06:07.8909999+02:00", new Date(1_772_600_767_890)],
      ["2026-03-04 05:06:07.89z", new Date(1_772_600_767_890)],
      ["2026-03-04T05:06:07", "2026-03-04T05:06:07"],
      ["2026-03-04 05:06:07.9999", "2026-03-04T05:06:07.999"],
      ["2026-03-04T05:06:07.000999", "2026-03-04T05:06:07"],
      ["2026-03-04", "2026-03-04"],
      ["05:06:07", "05:06:07"],
      ["05:06:07.25", "05:06:07.250"],
    ];
    for (const [toml, value] of times) {
      const { a } = read(`a = ${toml}`) as { a: unknown };
      assert.deepEqual(a, value, toml);
      if (a instanceof Date) assert.equal(Object.getPrototypeOf(a), Date.prototype);
    }
  });

  it("refuses a date that does not exist, and nothing that looks like one and is none", () => {
    const dates = ["2026-02-29", "2026-02-30", "2024-02-30", "1900-02-29", "2026-04-31", "2026-06-31T00:00:00Z"];
    for (const date of dates) {
      for (
        const body of [`a = ${date}`, `a = [1, ${date}]`, `a = { b = [{ c = ${date} }] }`, `a = [\n[ # x\n${date}]]`]
      ) {
        assert.throws(() => read(body), /a date in it does not exist/, body);
      }
    }
    for (const date of ["2024-02-29", "2000-02-29", "2026-05-31"]) assert.doesNotThrow(() => read(`a = ${date}`));
    const texts = [
      "2026-02-30 = 1",
      "[2026-02-30]\na = 1",
      "[[x.2026-02-30]]",
      "a = { 2026-02-30 = 1, b.2026-02-30 = 2 }",
      "a = [{ 2026-02-30 = 1 }]\n2026-02-30 = 1",
      "a = 1 # 2026-02-30\nb = '2026-02-30'",
      'a = "\\"2026-02-30"\nb = """\n2026-02-30 \\""" = 2026-02-30""""',
      "a = '''\n'2026-02-30' = 2026-02-30''''",
    ];
    for (const body of texts) assert.doesNotThrow(() => read(body), body);
    assert.throws(() => read(`${texts.at(-2)}\nc = 2026-02-30`), DecodeError);
    assert.throws(() => read(`${texts.at(-1)}\nc = 2026-02-30`), DecodeError);
    assert.doesNotThrow(() => read(`a = "${"2026-02-30".repeat(300_000)}"`));
  });

  it("gives a long of Java exactly, as bigint, and refuses more than 64 bits [COD-06]", () => {
    assert.deepEqual(
      read("a = 9007199254740993\nb = -9223372036854775808\nc = 0x7FFFFFFFFFFFFFFF\nd = 9007199254740991"),
      {
        a: 9_007_199_254_740_993n,
        b: -9_223_372_036_854_775_808n,
        c: 9_223_372_036_854_775_807n,
        d: 9_007_199_254_740_991,
      },
    );
    for (const large of ["9223372036854775808", "-9223372036854775809", "0x8000000000000000"]) {
      assert.throws(() => read(`a = [${large}]`), /an integer in it has more than 64 bits/);
    }
  });

  it("takes nothing at all for an empty table", () => {
    for (const body of ["", "\n", "# nothing\n", new Uint8Array([0xef, 0xbb, 0xbf])]) assert.deepEqual(read(body), {});
  });

  it("gives objects like any other, and pollutes nothing", () => {
    const value = read("[__proto__]\npolluted = 1\n[a.__proto__.b]\nc = 1\n") as Record<string, object>;
    assert.deepEqual(Object.keys(value), ["__proto__", "a"]);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(Object.getPrototypeOf(value["a"]), Object.prototype);
    assert.equal("polluted" in {}, false);
  });

  it("is at most 100 levels deep, or as deep as was asked for", () => {
    const keys = (count: number): string => `${Array(count).fill("a").join(".")} = 1`;
    const lists = (count: number): string => `a = ${"[".repeat(count)}${"]".repeat(count)}`;
    assert.doesNotThrow(() => read(keys(100)));
    assert.throws(() => read(keys(101)), /nested deeper than 100 levels/);
    assert.throws(() => read(`[${Array(101).fill("a").join(".")}]`), DecodeError);
    assert.doesNotThrow(() => read(lists(99)));
    assert.throws(() => read(lists(100)), DecodeError);
    assert.throws(() => read(keys(3), { maxDecodeDepth: 2 }), DecodeError);
    assert.doesNotThrow(() => read(keys(1_000), { maxDecodeDepth: 1_000 }));
    for (const huge of [keys(100_000), lists(100_000), "a = [".repeat(50_000), `[${"a.".repeat(50_000)}a]`]) {
      assert.throws(() => read(huge), DecodeError);
    }
  });

  it("refuses a number beyond a double, and reads an infinity that says so", () => {
    for (
      const text of ["a = 1e309", "information = [-1e999]", `inf = ${"9".repeat(309)}.0`, 'a = "=inf"\nb.c = 1e+400']
    ) {
      assert.throws(() => read(text), {
        name: "DecodeError",
        message: "Cannot read the body as TOML: a number in it is beyond what a double holds",
      }, text);
    }
    assert.deepEqual(read("a = inf\nb = [-inf,+inf]\nc = 1e308"), { a: Infinity, b: [-Infinity, Infinity], c: 1e308 });
    assert.deepEqual(read("a = inf\nb = 0xf1e999"), { a: Infinity, b: 0xf1e999 });
  });

  it("refuses a body that is larger than was asked for, unread", () => {
    assert.throws(() => read("a = 12", { maxBodyBytes: 5 }), /it must have at most 5 bytes, found 6/);
  });

  it("says in which line it stopped, and nothing of what stands there", () => {
    assert.throws(() => read("a = 1\nb = x4242\n"), {
      name: "DecodeError",
      message: "Cannot read the body as TOML: it is not valid TOML, line 2",
    });
    assert.throws(
      () => read("a = 1\na = 2\n"),
      /^DecodeError: Cannot read the body as TOML: it is not valid TOML, line 2$/,
    );
  });
});
