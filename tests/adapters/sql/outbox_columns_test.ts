/** Bodies and headers in columns: as they went in, and as other languages may have written them (contract patterns 5.3). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readBody, storeBody } from "../../../adapters/sql/outbox_body.ts";
import { formatHeaders, parseHeaders } from "../../../adapters/sql/outbox_headers.ts";
import { DecodeError } from "../../../src/errors.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
} from "../../../src/message/wire_value.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(table: WireTable): string {
  const written = formatHeaders(table);
  return "text" in written ? written.text : assert.fail(written.problem);
}

describe("a body in a column of text", () => {
  it("is text where it is text that every database keeps, and base64 where it is not", () => {
    assert.deepEqual(storeBody(bytes("grün\n")), { text: "grün\n", encoding: "utf-8" });
    assert.deepEqual(storeBody(bytes("")), { text: "", encoding: "utf-8" });
    // An Avro body of a registry: valid UTF-8, and PostgreSQL keeps no NUL.
    assert.deepEqual(storeBody(bytes("\0\0\0\0\x07a")), { text: "AAAAAAdh", encoding: "base64" });
    assert.deepEqual(storeBody(new Uint8Array([0x80])), { text: "gA==", encoding: "base64" });
    assert.deepEqual(storeBody(bytes("\ufeffx")), { text: "\ufeffx", encoding: "utf-8" });
  });

  it("is read whatever the driver gives, and with line breaks in its base64", () => {
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const { text } = storeBody(body);
    const broken = text.replace(/.{60}/g, "$&\n");
    for (const form of [text, broken, `${broken}\r\n`, bytes(broken)]) assert.deepEqual(readBody(form, "base64"), body);
    assert.deepEqual(readBody("grün", "UTF-8"), bytes("grün"));
    assert.deepEqual(readBody(bytes("a\0b"), "utf-8"), bytes("a\0b"));
  });

  it("is not guessed at", () => {
    for (const [text, encoding] of [["gA==", "hex"], ["g", "base64"], ["ä", "base64"]] as const) {
      assert.throws(() => readBody(text, encoding), DecodeError);
    }
    assert.throws(() => readBody(7, "utf-8"), DecodeError);
  });

  it("comes back, whatever it is", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
      const { text, encoding } = storeBody(body);
      assert.deepEqual(readBody(text, encoding), body);
      assert.deepEqual(readBody(bytes(text), encoding), body);
    }));
  });
});

describe("headers in a column", () => {
  it("keep their kinds: integers of any width, doubles of any value [OBX-10]", () => {
    const table = {
      "x-acemq-attempt": 1,
      "x-acemq-first-seen": 1_788_962_400_000n,
      int: 7,
      past: 2 ** 40,
      unsafe: 9_007_199_254_740_993n,
      least: -(2n ** 63n),
      unsigned: new WireUnsigned(2n ** 63n),
      double: new WireDouble(3),
      huge: new WireDouble(1e300),
      zero: new WireDouble(-0),
      fraction: 0.1,
      list: [1, new WireDouble(1), ["a", null, true], {}],
    };
    assert.deepEqual(parseHeaders(textOf(table)), table);
  });

  it("are what other languages read", () => {
    assert.equal(
      textOf({ a: 2 ** 60, b: new WireDouble(3), c: 1.5, d: 5n, "ü": 'q"\n', e: [null, false] }),
      '{"a":1152921504606846976,"b":3.0,"c":1.5,"d":5,"ü":"q\\"\\n","e":[null,false]}',
    );
  });

  it("are read as whole numbers where the engine counts, whatever another language has made of them", () => {
    const text = '{"x-acemq-version": 1.0, "x-acemq-attempt": 2e0, "x-acemq-first-seen": 1788962400000.0, ' +
      '"x-acemq-route-position": "1", "acemq-replay-count": 3, "x-acemq-unknown": 1.0}';
    assert.deepEqual(parseHeaders(text), {
      "x-acemq-version": 1,
      "x-acemq-attempt": 2,
      "x-acemq-first-seen": 1_788_962_400_000n,
      "x-acemq-route-position": 1,
      "acemq-replay-count": 3,
      "x-acemq-unknown": new WireDouble(1),
    });
    assert.deepEqual(parseHeaders('{"x-acemq-attempt":"soon"}'), { "x-acemq-attempt": "soon" });
  });

  it("are refused by name where JSON has no word for them", () => {
    const lost: Readonly<Record<string, WireTable>> = {
      '"b" is bytes': { b: new Uint8Array([1]) },
      '"at" is a Date': { at: new Date(0) },
      '"at" is a WireTimestamp': { at: new WireTimestamp(1n) },
      '"d" is a WireDecimal': { d: new WireDecimal(2, 1234) },
      '"t" is a WireText': { t: new WireText(new Uint8Array([0xff])) },
      '"n" is NaN': { n: new WireDouble(NaN) },
      '"i".in[1] is -Infinity': { i: { in: [0, new WireDouble(-Infinity)] } },
      '"s" is half a surrogate pair': { s: "\ud83d" },
    };
    for (const [problem, table] of Object.entries(lost)) {
      assert.deepEqual(formatHeaders(table), { problem: `header ${problem}, which JSON cannot hold` });
    }
  });

  it("that are no JSON object of AMQP values cannot be read", () => {
    const long = "9".repeat(30);
    const deep = `${'{"a":'.repeat(70)}1${"}".repeat(70)}`;
    for (const text of ["", "null", "[]", '"a"', "{", '{"a":NaN}', `{"a":${long}}`, '{"a":1e999}', deep]) {
      assert.throws(() => parseHeaders(text), DecodeError, text);
    }
  });

  it("come back, whatever they are", () => {
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: "grapheme" }),
        fc.boolean(),
        fc.constant(null),
        fc.maxSafeInteger(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((n) => !Number.isSafeInteger(Number(n))),
        fc.bigInt({ min: 2n ** 63n, max: 2n ** 64n - 1n }).map((n) => new WireUnsigned(n)),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => Number.isInteger(n) ? new WireDouble(n) : n),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string({ unit: "grapheme" }), tie("value"), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), value, { noNullPrototype: true }), (table) => {
      const headers = Object.fromEntries(Object.entries(table)) as WireTable;
      assert.deepEqual(parseHeaders(textOf(headers)), headers);
    }));
  });
});
