import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { jsonCodec, type JsonCodecOptions } from "../../../src/codec/json.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";

function textOf(payload: unknown, options?: JsonCodecOptions): string {
  // The JSON codec never waits.
  const { body } = jsonCodec(options).encode(payload) as EncodedPayload;
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
}

function read(text: string | Uint8Array, options?: JsonCodecOptions, contentType?: string): unknown {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return jsonCodec(options).decode(body, { contentType });
}

/** `[[…[]…]]`, so many levels deep. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

describe("JSON, written", () => {
  const written: readonly (readonly [what: string, payload: unknown, text: string])[] = [
    ["an object compactly, members in their order", { b: 1, a: [true, null] }, '{"b":1,"a":[true,null]}'],
    ["text beyond ASCII raw", { r: "ö📦" }, '{"r":"ö📦"}'],
    ["a top-level string quoted, also when it is JSON itself", '{"a":1}', '"{\\"a\\":1}"'],
    ["null", null, "null"],
    ["a member that is null, and none that is undefined", { a: null, b: undefined }, '{"a":null}'],
    ["a bigint as digits", 12_950n, "12950"],
    ["integers beyond 2^53 exactly", { n: 9_007_199_254_740_993n }, '{"n":9007199254740993}'],
    ["a Date as ISO text with milliseconds", new Date("2026-03-04T05:06:07.890Z"), '"2026-03-04T05:06:07.890Z"'],
    ["bytes as padded base64", new Uint8Array([0, 1, 2, 255]), '"AAEC/w=="'],
    ["an ArrayBuffer as base64", { b: new Uint8Array([1]).buffer }, '{"b":"AQ=="}'],
    ["the bytes a view shows, and no others", new DataView(new Uint8Array([9, 1, 9]).buffer, 1, 1), '"AQ=="'],
    ["what toJSON says", { at: { toJSON: () => ({ n: 1n }) } }, '{"at":{"n":1}}'],
    [
      "a class instance by its members",
      new (class Order {
        id = "A-19";
        total = 5n;
      })(),
      '{"id":"A-19","total":5}',
    ],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["a member named __proto__", JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
    ["half a surrogate pair as an escape", "\ud800", '"\\ud800"'],
    [
      "special values inside lists and objects",
      [{ d: new Date(0), b: new Uint8Array(2), n: [1n] }],
      '[{"d":"1970-01-01T00:00:00.000Z","b":"AAA=","n":[1]}]',
    ],
  ];
  for (const [what, payload, text] of written) {
    it(`has ${what}`, () => {
      assert.equal(textOf(payload), text);
      assert.doesNotThrow(() => JSON.parse(text));
    });
  }

  it("is application/json in UTF-8, without a byte order mark or a newline", () => {
    const { body, contentType } = jsonCodec().encode({ r: "ö" }) as EncodedPayload;
    assert.deepEqual([jsonCodec().contentType, contentType], ["application/json", undefined]);
    assert.equal(Buffer.from(body).toString("hex"), "7b2272223a22c3b6227d");
  });

  const refused: readonly (readonly [what: string, payload: unknown])[] = [
    ["NaN", NaN],
    ["infinity", -Infinity],
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["an invalid Date", new Date(NaN)],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a promise", Promise.resolve(1)],
    ["an error", new Error("words")],
    ["a regular expression", /a/],
    ["a Response", new Response("text")],
    ["a number object that holds NaN", Object(NaN)],
    ["a string object", Object("text")],
    [
      "an object with nothing to write",
      new (class Secretive {
        #hidden = 1;
        get value() {
          return this.#hidden;
        }
      })(),
    ],
  ];
  for (const [what, payload] of refused) {
    it(`refuses ${what}, at the top and inside`, () => {
      assert.throws(() => textOf(payload), EncodeError);
      if (payload !== undefined) {
        const inside = { a: 1, b: { c: [payload] } };
        assert.throws(() => textOf(inside), /at member 1, member 0, item 0 \(counted from 0\)$/);
      }
      assert.throws(() => textOf([1, payload, 2n]), /at item 1 \(counted from 0\)$/);
    });
  }

  it("refuses a hole in a list", () => {
    assert.throws(() => textOf(new Array(2)), EncodeError);
  });

  it("has at most 64 levels, or as many as were asked for", () => {
    assert.equal(textOf(nested(64)), "[".repeat(64) + "]".repeat(64));
    assert.throws(
      () => textOf(nested(65)),
      /^EncodeError: Cannot write the payload as JSON: it is nested too deeply at /,
    );
    assert.equal(textOf(nested(65), { maxEncodeDepth: 65 }).length, 130);
  });

  it("refuses a value that holds itself, and one whose toJSON never ends", () => {
    const ring: Record<string, unknown> = {};
    ring["self"] = ring;
    assert.throws(() => textOf(ring), EncodeError);
    const endless = { toJSON: (): unknown => ({ ...endless }) };
    assert.throws(() => textOf(endless), EncodeError);
  });

  it("shows nothing of the payload in an error, no name of a member either", () => {
    const named = Object.assign(new Map(), { constructor: { name: "4242" } });
    const deep = { "4242": nested(70) };
    for (
      const payload of [{ card: "4242", total: NaN }, ["4242", new Map([["4242", 1]])], { "4242": NaN }, named, deep]
    ) {
      assert.throws(() => textOf(payload), (error: unknown) => {
        assert.ok(error instanceof EncodeError);
        assert.doesNotMatch(error.message, /4242/);
        return true;
      });
    }
  });

  it("is what JSON.stringify writes, wherever that changes nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => assert.equal(textOf(value), JSON.stringify(value))),
    );
  });

  it("means the same whether it is written by the platform or by hand", () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      // One bigint makes the whole value one that is written by hand.
      assert.equal(textOf([value, 1n]), JSON.stringify([value, 1]));
    }));
  });
});

describe("JSON, read", () => {
  it("is claimed for application/json, text/json, any +json and no type, with any parameters and in any case", () => {
    const { canDecode } = jsonCodec();
    const claimed = [
      undefined,
      "",
      " ",
      "application/json",
      "text/json",
      "application/vnd.shop.order+json",
      "a/b+json",
    ];
    for (const type of [...claimed, "Application/JSON ; charset=utf-8", "application/json;v=2"]) {
      assert.equal(canDecode(type), true, String(type));
    }
    const others = ["application/jsonlines", "application/x-json", "text/plain", "application/json+xml", "json"];
    for (const type of others) assert.equal(canDecode(type), false, type);
  });

  it("is strict UTF-8, whatever else the content type says", () => {
    assert.deepEqual(read('{"ö":1}', {}, "application/json; charset=UTF-8"), { ö: 1 });
    assert.deepEqual(read("[1]", {}, 'application/json; charset="us-ascii"'), [1]);
    assert.throws(() => read("[1]", {}, "application/json; charset=iso-8859-1"), {
      name: "DecodeError",
      message: "Cannot read the body as JSON: its charset must be utf-8, found iso-8859-1",
    });
    assert.throws(() => read(new Uint8Array([0x22, 0xff, 0x22])), DecodeError);
    assert.throws(() => read(new Uint8Array([0xff, 0xfe, 0x5b, 0, 0x5d, 0])), DecodeError);
  });

  it("may begin with a byte order mark", () => {
    assert.deepEqual(read(new Uint8Array([0xef, 0xbb, 0xbf, 0x5b, 0x31, 0x5d])), [1]);
  });

  const malformed = [
    "",
    " ",
    "{",
    "[1,]",
    "{'a':1}",
    "NaN",
    "[Infinity]",
    "-Infinity",
    "01",
    "1 2",
    "[1]x",
    "undefined",
    '"\n"',
    "/**/1",
  ];
  for (const text of malformed) {
    it(`refuses ${JSON.stringify(text)} without showing it`, () => {
      for (const integers of ["number", "bigint"] as const) {
        // A long integer beside it makes the exact reader look at all of the text.
        for (const body of text.trim() === "" ? [text] : [text, `[1234567890123456789,${text}]`]) {
          assert.throws(() => read(body, { integers }), (error: unknown) => {
            assert.ok(error instanceof DecodeError, `${body} was read as ${integers}`);
            assert.match(error.message, /^Cannot read the body as JSON: it is (not valid JSON|empty)$/);
            assert.equal(error.cause, undefined);
            return true;
          });
        }
      }
    });
  }

  it("leaves members nobody asked for where they are, and dates as the text they are [COD-19]", () => {
    assert.deepEqual(read('{"id":"A-19","extra":{"x":1},"at":"2026-03-04T05:06:07Z"}'), {
      id: "A-19",
      extra: { x: 1 },
      at: "2026-03-04T05:06:07Z",
    });
  });

  it("makes a member named __proto__ an own one, and pollutes nothing", () => {
    const options: readonly JsonCodecOptions[] = [{}, { integers: "bigint" }];
    for (const integers of options) {
      const value = read('{"__proto__":{"polluted":1},"n":9007199254740993}', integers) as object;
      assert.deepEqual(Object.keys(value), ["__proto__", "n"]);
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
      assert.equal("polluted" in {}, false);
    }
  });

  it("gives a long of Java exactly where bigint was asked for, and rounded where it was not [COD-06]", () => {
    const text = '{"id":9007199254740993,"min":-9223372036854775808,"safe":9007199254740991,"f":9007199254740993.0}';
    assert.deepEqual(read(text, { integers: "bigint" }), {
      id: 9_007_199_254_740_993n,
      min: -9_223_372_036_854_775_808n,
      safe: 9_007_199_254_740_991,
      f: 9_007_199_254_740_992,
    });
    assert.deepEqual((read(text) as { id: unknown }).id, 9_007_199_254_740_992);
  });

  it("refuses a number that the platform would take for an infinity, wherever it stands and however it is written", () => {
    const beyond = ["1e309", "-1E+309", "1.8e308", "1e0999", "9".repeat(309) + ".5", "9".repeat(215) + "e99"];
    const modes: readonly JsonCodecOptions[] = [{}, { integers: "bigint" }];
    for (const number of beyond) {
      for (const text of [number, `[0,${number}]`, `{"a":{"b": ${number}\n}}`]) {
        for (const mode of modes) {
          assert.throws(() => read(text, mode), {
            name: "DecodeError",
            message: "Cannot read the body as JSON: a number in it is beyond what a double holds",
          }, text);
        }
      }
    }
    assert.throws(() => read(`[${"1".repeat(310)}]`), DecodeError);
    assert.deepEqual(read(`[${"1".repeat(310)}]`, { integers: "bigint" }), [BigInt("1".repeat(310))]);
    for (const text of ['"1e999"', '["1e999,",1e308,1e-999]', `{"1e999":"${"7".repeat(400)}"}`, "[1.5e+0307]"]) {
      assert.deepEqual(read(text), JSON.parse(text));
    }
  });

  it("takes for an infinity nothing that a number of JavaScript holds", () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(320), (value, zeros) => {
      for (
        const digits of [
          String(value),
          value.toExponential(),
          `${value.toExponential()}`.replace("e+", `e+${"0".repeat(zeros % 5)}`),
        ]
      ) {
        assert.deepEqual(read(`{"v":${digits}}`), JSON.parse(`{"v":${digits}}`));
      }
    }));
  });

  it("comes back exactly: a bigint that was written, read as one", () => {
    fc.assert(fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
      const back = read(textOf({ value }), { integers: "bigint" });
      const isSafe = BigInt(Number(value)) === value && Number.isSafeInteger(Number(value));
      assert.deepEqual(back, { value: isSafe ? Number(value) : value });
    }));
  });

  it("is read by the exact reader as by the platform, wherever numbers are safe", () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom("", " ", "\n\t"), (value, space) => {
      const text = JSON.stringify([value, "1234567890123456789"], undefined, space);
      const exact = read(text, { integers: "bigint" });
      const plain: unknown = JSON.parse(
        text,
        (_key, member: unknown) =>
          typeof member === "number" && Number.isInteger(member) && !Number.isSafeInteger(member) ? undefined : member,
      );
      const rounded: unknown = JSON.parse(
        JSON.stringify(exact, (_key, member: unknown) =>
          typeof member === "bigint" ||
            (typeof member === "number" && Number.isInteger(member) && !Number.isSafeInteger(member))
            ? undefined
            : member),
      );
      assert.deepEqual(rounded, JSON.parse(JSON.stringify(plain)));
    }));
  });

  it("refuses whatever the platform refuses, also when it reads exactly", () => {
    const cuts = fc.tuple(fc.jsonValue(), fc.nat(), fc.nat(), fc.string({ maxLength: 2 }));
    fc.assert(fc.property(cuts, ([value, from, length, noise]) => {
      const whole = JSON.stringify([12_345_678_901_234_567_890n.toString(), value]).replace(/"(\d{20})"/, "$1");
      const at = from % whole.length;
      const text = whole.slice(0, at) + noise + whole.slice(at + length % 3);
      let isJson = true;
      try {
        // The platform makes an infinity of a number that is too large; a double does not hold it, so it is refused here.
        JSON.parse(text, (_, value) => isJson &&= value !== Infinity && value !== -Infinity);
      } catch {
        isJson = false;
      }
      if (isJson) assert.doesNotThrow(() => read(text, { integers: "bigint" }));
      else assert.throws(() => read(text, { integers: "bigint" }), DecodeError);
    }));
  });

  it("is at most 1,000 levels deep, or as deep as was asked for", () => {
    const text = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    assert.doesNotThrow(() => read(text(1_000)));
    assert.throws(() => read(text(1_001)), {
      message: "Cannot read the body as JSON: it is nested deeper than 1000 levels",
    });
    assert.throws(() => read(`{"a":${text(3)}}`, { maxDecodeDepth: 3 }), DecodeError);
    assert.doesNotThrow(() => read(`{"a":${text(2)}}`, { maxDecodeDepth: 3 }));
    assert.doesNotThrow(() => read(JSON.stringify(["[[[[[[", '\\"[[[[[']), { maxDecodeDepth: 1 }));
    assert.throws(() => read(text(200_000)), DecodeError);
    assert.throws(() => read("[".repeat(200_000)), DecodeError);
  });
});
