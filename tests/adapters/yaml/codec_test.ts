import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { yamlCodec, type YamlCodecOptions } from "../../../adapters/yaml/mod.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";

const utf8 = new TextEncoder();

function textOf(payload: unknown, options: YamlCodecOptions = {}): string {
  return new TextDecoder().decode((yamlCodec(options).encode(payload) as EncodedPayload).body);
}

function read(body: string | Uint8Array, options: YamlCodecOptions = {}, contentType = ""): unknown {
  return yamlCodec(options).decode(typeof body === "string" ? utf8.encode(body) : body, { contentType });
}

function nested(levels: number, inner: unknown = 1): unknown {
  return levels === 0 ? inner : [nested(levels - 1, inner)];
}

codecContract("YAML", async () => ({
  codec: yamlCodec(),
  holds: [
    {
      payload: {
        ref: "b-7",
        qty: 3,
        tags: ["red", "blue"],
        note: null,
        box: { deep: [[], {}, [{}], [[1], { a: [] }]] },
      },
    },
    ...[null, "", "text", 42, -0.5, true, [], {}, [[[]]], [{ a: 1 }, { b: [{ c: null }] }]].map((payload) => ({
      payload,
    })),
    {
      payload: ["yes", "no", "007", "1e3", ":sym", "=", "<<", "1,000", "10:20", "2026-03-04", "~", "- x", "a: b", "#"],
    },
    { payload: "größe 😀 \u0000 \u0085 \u2028 \ufeff \uffff \r\n tab\t" },
    { payload: [0, -1, 1e21, 2 ** 60, 1.5e-7, NaN, Infinity, -Infinity, -0, 9_007_199_254_740_993n, -(2n ** 70n)] },
    {
      payload: { at: new Date(0), raw: Uint8Array.of(1, 2, 255) },
      reads: { at: "1970-01-01T00:00:00.000Z", raw: "AQL/" },
    },
    { payload: { there: 1, left: undefined }, reads: { there: 1 } },
    { payload: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') },
    { payload: { ["k".repeat(2_000)]: { inner: ["x"] }, ["l".repeat(2_000)]: [1, [2]] } },
  ],
  refuses: [
    undefined,
    () => 4242,
    Symbol("4242"),
    ["4242", undefined],
    new Map([["4242", 4242]]),
    { card: "4242", at: new Date(NaN) },
    { "4242": new Date(8.64e15) },
    "4242\ud800",
    { "4242\ud800": 1 },
    nested(65, "4242"),
  ],
  unreadable: [
    "",
    " \n",
    "# 4242",
    "4242: [",
    "a: 1\n---\nb: 4242",
    "4242: 1\n4242: 2",
    "a: !4242 4242",
    "a: *x4242",
    "b: !!binary 4242",
    "? [4242]\n: 1",
    "a: &a [*a, 4242]",
    "a: &a {b: {c: *a}}",
    "\tx4242: 1",
    "[".repeat(101) + "4242",
    "- ".repeat(200) + "4242",
  ].map((text) => utf8.encode(text)).concat(Uint8Array.of(0x34, 0x32, 0x34, 0x32, 0xff)),
  reads: ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/vnd.shop.order+yaml"],
  leaves: ["application/json", "text/plain", "application/yamlish", "application/yaml+json", undefined],
}));

describe("YAML, written", () => {
  it("is what the contract shows", () => {
    const payload = { ref: "b-7", qty: 3, country: "NO", serial: "007", tags: ["red", "blue"] };
    assert.equal(textOf(payload), 'ref: b-7\nqty: 3\ncountry: "NO"\nserial: "007"\ntags:\n- red\n- blue\n');
    assert.equal(yamlCodec().contentType, "application/yaml");
  });

  const written: readonly (readonly [payload: unknown, text: string])[] = [
    [null, "null\n"],
    ["", '""\n'],
    [[], "[]\n"],
    [{}, "{}\n"],
    [{ a: undefined }, "{}\n"],
    [[1, [2, [3]], { a: 1, b: [4] }], "- 1\n- - 2\n  - - 3\n- a: 1\n  b:\n  - 4\n"],
    [{ a: { b: { c: 1 } }, d: [[]] }, "a:\n  b:\n    c: 1\nd:\n- []\n"],
    [{ e: [{ f: {}, g: [] }] }, "e:\n- f: {}\n  g: []\n"],
    [1e21, "1.0e+21\n"],
    [2 ** 53, "9007199254740992.0\n"],
    [2n ** 64n, "18446744073709551616\n"],
    [-0, "-0.0\n"],
    [[NaN, Infinity, -Infinity], "- .nan\n- .inf\n- -.inf\n"],
    [new Date(Date.UTC(2026, 2, 4, 5, 6, 7, 890)), "2026-03-04T05:06:07.890Z\n"],
    [Uint8Array.of(0xff, 0xfe), '"//4="\n'],
    [{ toJSON: (key: string) => `of ${key}` }, '"of "\n'],
    ["a".repeat(199), `${"a".repeat(199)}\n`],
    ["a".repeat(200), `"${"a".repeat(200)}"\n`],
  ];
  for (const [payload, text] of written) {
    it(`is ${JSON.stringify(text.slice(0, 60))}`, () => assert.equal(textOf(payload), text));
  }

  it("quotes what a reader of YAML 1.1 or of YAML 1.2 takes for something else than text [COD-07]", () => {
    const taken = [
      ...[
        "y",
        "N",
        "yes",
        "No",
        "ON",
        "off",
        "True",
        "FALSE",
        "null",
        "NULL",
        "NaN",
        "inf",
        "",
        " a",
        "a ",
        "~",
        "=",
        "<<",
      ],
      ...[
        "012",
        "0o14",
        "0x1F",
        "1_000",
        "1,000",
        "1e3",
        "1.5",
        "+1",
        "-1",
        ".5",
        "10:20",
        "2026-03-04",
        ":sym",
        "a:b",
        "a: b",
      ],
      ...[
        "a #b",
        "#",
        "- a",
        "? a",
        "!t",
        "&a",
        "*a",
        "|",
        ">",
        "[",
        "{",
        "'",
        '"',
        "%p",
        "@at",
        "`",
        "---",
        "...",
        "a\nb",
        "ö",
      ],
    ];
    for (const text of taken) assert.equal(textOf(text), `${JSON.stringify(text)}\n`, text);
    for (const text of ["b-7", "Yes sir", "nano", "a b/c.d@e+f_g-h", "_x", "null-ish"]) {
      assert.equal(textOf(text), `${text}\n`);
    }
    assert.equal(textOf({ no: 1, "1": 2, ok: 3 }), '"1": 2\n"no": 1\nok: 3\n');
  });

  it("escapes what YAML does not allow, and what is a line break to one of its versions", () => {
    assert.equal(textOf("a\u007f\u0085\u2028\u2029\ufeff\ufffe"), '"a\\u007f\\u0085\\u2028\\u2029\\ufeff\\ufffe"\n');
  });

  it("writes a shared object twice, and has no anchors", () => {
    const shared = { x: 1 };
    assert.equal(textOf([shared, shared]), "- x: 1\n- x: 1\n");
  });

  it("refuses what only JavaScript can spell, and an object that holds itself [COD-20]", () => {
    class Order {
      readonly #id = 7;
      get id(): number {
        return this.#id;
      }
    }
    for (const payload of [new Order(), new Set([1]), new Error("x"), new Response("x"), /x/]) {
      assert.throws(() => textOf({ payload }), EncodeError);
    }
    const ring: Record<string, unknown> = {};
    ring["self"] = ring;
    assert.throws(() => textOf(ring), /it is nested too deeply at member 0, member 0/);
    assert.equal(
      textOf(
        new (class Line {
          readonly sku = "x";
        })(),
      ),
      "sku: x\n",
    );
  });

  it("has at most 64 levels, or as many as were asked for", () => {
    assert.doesNotThrow(() => textOf(nested(64)));
    assert.throws(() => textOf(nested(65)), EncodeError);
    assert.deepEqual(read(textOf(nested(100), { maxEncodeDepth: 100 })), nested(100));
    assert.throws(() => yamlCodec({ maxEncodeDepth: 101 }), RangeError);
  });
});

describe("YAML, read", () => {
  it("follows the core schema of YAML 1.2: NO is text, a date is text [COD-07]", () => {
    const text =
      "a: NO\nb: 012\nc: 0o14\nd: 1_000\ne: 1,000\nf: 1e3\ng: 10:20\nh: 2026-03-04\ni: :sym\nj: =\nk: ~\nl:\n";
    assert.deepEqual(read(text), {
      a: "NO",
      b: 12,
      c: 12,
      d: "1_000",
      e: "1,000",
      f: 1000,
      g: "10:20",
      h: "2026-03-04",
      i: ":sym",
      j: "=",
      k: null,
      l: null,
    });
  });

  it("reads every content type there is for it, written one [COD-12]", () => {
    for (const type of ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/a+yaml"]) {
      assert.equal(yamlCodec().canDecode(`${type}; charset=utf-8`), true);
      assert.deepEqual(read("a: 1", {}, `${type}; charset=utf-8`), { a: 1 });
    }
    assert.throws(
      () => read("a: 1", {}, "application/yaml; charset=utf-16"),
      /its charset must be utf-8, found utf-16/,
    );
  });

  it("leaves bodies without a content type to JSON [COD-10]", () => {
    assert.equal(yamlCodec().canDecode(undefined), false);
    assert.equal(yamlCodec().canDecode(""), false);
  });

  it("gives a long of Java exactly, as bigint [COD-06]", () => {
    assert.deepEqual(
      read("a: 9007199254740993\nb: -9223372036854775808\nc: 0xFFFFFFFFFFFFFFFFFF\nd: 9007199254740991\n"),
      {
        a: 9_007_199_254_740_993n,
        b: -9_223_372_036_854_775_808n,
        c: 0xFFFFFFFFFFFFFFFFFFn,
        d: 9_007_199_254_740_991,
      },
    );
    assert.equal(read(`1${"0".repeat(400)}`), 10n ** 400n);
    assert.equal(read(`!!int "-0b${"1".repeat(60)}"`), -(2n ** 60n - 1n));
    assert.equal(read(`0b${"1".repeat(60)}`), `0b${"1".repeat(60)}`);
  });

  it("makes dates of timestamps where that was asked for, also of those that Ruby and Python write", () => {
    const spellings = [
      "2026-03-04T05:06:07.890Z",
      "2026-03-04t07:06:07.890+02:00",
      "2026-03-04 05:06:07.890000000 Z",
      "2026-03-04 05:06:07.890123+00:00",
      "2026-03-04 05:06:07.89",
    ];
    for (const text of spellings) {
      assert.deepEqual(read(text, { dates: "date" }), new Date(Date.UTC(2026, 2, 4, 5, 6, 7, 890)), text);
      assert.equal(read(text), text);
      assert.equal(read(JSON.stringify(text), { dates: "date" }), text);
    }
    assert.deepEqual(read("2026-03-04", { dates: "date" }), new Date(Date.UTC(2026, 2, 4)));
    assert.equal(read("2026-02-30", { dates: "date" }), "2026-02-30");
    assert.deepEqual(read("2026-03-04: 7", { dates: "date" }), { "2026-03-04T00:00:00.000Z": 7 });
    assert.throws(() => read("2026-03-04: 7\n2026-03-04: 8", { dates: "date" }), DecodeError);
    const at = new Date(1_772_600_767_890);
    assert.deepEqual(read(textOf({ at }), { dates: "date" }), { at });
  });

  it("leaves << a key like another, and follows aliases", () => {
    assert.deepEqual(read("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n"), { a: { x: 1 }, b: { "<<": { x: 1 }, y: 2 } });
  });

  it("has at most 100 aliases, which come to 100,000 values, or as many as were asked for", () => {
    const aliases = (count: number): string => `a: &a [1]\nb: [${Array(count).fill("*a").join(", ")}]`;
    assert.doesNotThrow(() => read(aliases(100)));
    assert.throws(() => read(aliases(101)), /it has too many aliases/);
    assert.doesNotThrow(() => read(aliases(101), { maxAliases: 101 }));
    assert.throws(() => read(aliases(1), { maxAliases: 0 }), DecodeError);
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]", ..."bcdefghi"].reduce((text, name) => {
      const before = String.fromCharCode(name.charCodeAt(0) - 1);
      return `${text}\n${name}: &${name} [${Array(10).fill(`*${before}`).join(",")}]`;
    });
    assert.throws(() => read(bomb), /with its aliases it has more than 100000 nodes/);
    assert.throws(() => read(aliases(10), { maxNodes: 23 }), /more than 23 nodes/);
    assert.doesNotThrow(() => read(aliases(10), { maxNodes: 24 }));
    // Aliases that are text are none, and without one a large document is no bomb.
    assert.equal((read(`[${Array(100_001).fill("'*'").join(",")}]`) as unknown[]).length, 100_001);
  });

  it("is at most 100 levels deep, aliases written out, or as deep as was asked for", () => {
    const levels = (count: number, inner = ""): string => "[".repeat(count) + inner + "]".repeat(count);
    assert.doesNotThrow(() => read(levels(100)));
    assert.doesNotThrow(() => read(levels(100, "1")));
    assert.doesNotThrow(() => read("- ".repeat(100) + "1"));
    for (const deeper of [levels(101), levels(101, "1"), "- ".repeat(101) + "1", `a: ${levels(100)}`]) {
      assert.throws(() => read(deeper), /it is nested (too deeply|deeper than 100 levels)/);
    }
    assert.throws(() => read(levels(3), { maxDecodeDepth: 2 }), DecodeError);
    const chain = `a: &a ${levels(60)}\nb: &b ${levels(60, "*a")}\nc: ${levels(60, "*b")}`;
    assert.throws(() => read(chain), /it is nested deeper than 100 levels/);
    assert.throws(() => read("[".repeat(200_000)), DecodeError);
    for (const deep of [levels(1_000), "- ".repeat(1_000) + "1"]) {
      assert.doesNotThrow(() => read(deep, { maxDecodeDepth: 1_000 }));
    }
  });

  it("refuses a body that is larger than was asked for, unread", () => {
    assert.doesNotThrow(() => read("a: 1", { maxBodyBytes: 4 }));
    assert.throws(() => read("a: 12", { maxBodyBytes: 4 }), {
      message: "Cannot read the body as YAML: it must have at most 4 bytes, found 5",
    });
  });

  const refused: readonly (readonly [body: string, message: string])[] = [
    ["", "it is empty"],
    ["# nothing\n", "it holds no document"],
    ["a: 1\n---\nb: 2\n", "it holds more than one document"],
    ["a: 1\na: 2\n", "a key stands twice in a mapping, line 2"],
    ["a: !unit 5\n", "a tag is outside the core schema, line 1"],
    ["a: 1\nb: !!binary AAEC\n", "a tag is outside the core schema, line 2"],
    ["!!js/function 'x'", "a tag is outside the core schema, line 1"],
    ["a: *nobody\n", "an alias has no anchor, line 1"],
    ["? {a: 1}\n: 2\n", "a key of a mapping is a collection, line 1"],
    ["a: &a\n- *a\n", "an alias stands within its own anchor"],
    ["a: [1, 2\n", "it is not valid YAML, line 2"],
  ];
  for (const [body, message] of refused) {
    it(`refuses ${JSON.stringify(body)}: ${message}`, () => {
      assert.throws(() => read(body), { name: "DecodeError", message: `Cannot read the body as YAML: ${message}` });
    });
  }
});
