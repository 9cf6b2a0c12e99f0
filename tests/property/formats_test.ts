/**
 * YAML, TOML and XML against bodies that nobody meant, and against every value that they can hold.
 *
 * Other readers judge: js-yaml by the rules of YAML 1.1, smol-toml alone, and saxes for XML.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { load, YAML11_SCHEMA } from "js-yaml";
import { SaxesParser } from "saxes";
import { parse } from "smol-toml";
import { tomlCodec } from "../../adapters/toml/mod.ts";
import { xmlCodec } from "../../adapters/xml/mod.ts";
import { yamlCodec } from "../../adapters/yaml/mod.ts";
import { jsonCodec } from "../../src/codec/json.ts";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import type { Codec, EncodedPayload } from "../../src/ports/codec.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, LANGUAGES } from "../support/fixtures.ts";

/** Each writes as deep as it reads. Exact integers in JSON would find one where 1e20 was written: it has digits for both. */
const CODECS: Readonly<Record<string, Codec>> = {
  json: jsonCodec({ maxEncodeDepth: 1_000 }),
  yaml: yamlCodec({ maxEncodeDepth: 100 }),
  toml: tomlCodec({ maxEncodeDepth: 100 }),
  xml: xmlCodec({ maxEncodeDepth: 1_000 }),
};

const utf8 = new TextEncoder();

function write(codec: Codec, payload: unknown): Uint8Array {
  return (codec.encode(payload) as EncodedPayload).body;
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

/** What a body is read as; undefined where it is refused, as it should be. */
function readOf(codec: Codec, body: Uint8Array): unknown {
  try {
    return codec.decode(body, { contentType: codec.contentType });
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    assert.match(error.message, /^Cannot read the body as [A-Z]+: [^\n]+$/);
    return undefined;
  }
}

/** Every body that was recorded in a format. */
function recorded(format: string): readonly Uint8Array[] {
  return LANGUAGES.flatMap((language) =>
    fixtureCases<FixtureCase & { readonly codec: string; readonly body_hex: string }>("codecs", language)
  ).filter(({ codec }) => codec === format).map(({ body_hex }) => bytesOfHex(body_hex));
}

/** What has a meaning of its own somewhere in each format, put where it does not belong. */
const FRAGMENTS: Readonly<Record<string, readonly string[]>> = {
  json: ['"', "\\", "{", "}", "[", "]", ",", ":", "null", "NaN", "-", "\u0000", "\\ud800", "__proto__"],
  yaml: [
    "*a",
    "&a ",
    "- ",
    ": ",
    "? ",
    "| ",
    "> ",
    "\n",
    "  ",
    "\t",
    "!!str ",
    "---\n",
    "...",
    "'",
    '"',
    "#",
    "[",
    "{",
    "<<",
    "%",
  ],
  toml: ["=", "[", "]", "[[", "{", "}", '"""', "'''", "\n", ".", "#", "2026-02-30", "05:06:07", "nan", "0x", "_", ","],
  xml: [
    "<",
    ">",
    "</",
    "/>",
    "&",
    ";",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE a>",
    "&#0;",
    "a:b",
    "=",
    '"',
    "xmlns:a='b'",
  ],
};

/** Bodies of a format with pieces cut out, doubled and put in. */
function damaged(format: string): fc.Arbitrary<Uint8Array> {
  const edit = fc.tuple(fc.nat(), fc.nat(12), fc.constantFrom("", "\u00ff", ...FRAGMENTS[format] ?? []));
  return fc.tuple(fc.constantFrom(...recorded(format)), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([body, edits]) => {
      let bytes = [...body.subarray(0, 2_000)];
      for (const [from, length, piece] of edits) {
        const at = from % (bytes.length + 1);
        bytes = [...bytes.slice(0, at), ...utf8.encode(piece), ...bytes.slice(at + length)];
      }
      return Uint8Array.from(bytes);
    });
}

describe("a body that nobody meant", () => {
  for (const [format, codec] of Object.entries(CODECS)) {
    it(`is read as ${format} or refused with a DecodeError, and pollutes nothing`, () => {
      const bodies = fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged(format));
      fc.assert(
        fc.property(bodies, (body) => {
          readOf(codec, body);
          assert.equal(Object.keys(Object.prototype).length, 0);
        }),
        { numRuns: 2_000 },
      );
    });

    it(`means as ${format} what it means when it is written and read again`, () => {
      fc.assert(
        fc.property(damaged(format), (body) => {
          const value = readOf(codec, body);
          // A top or a name that XML could be read with, and not be written.
          if (value === undefined || (format === "xml" && !isWritableXml(value))) return;
          // To JSON.parse -0 is a number of its own, and what is too large for one an infinity.
          if (format === "json" && /-0|[eE]\+?\d{3}|\d{300}/.test(textOf(body))) return;
          assert.deepEqual(readOf(codec, write(codec, value)), value);
        }),
        { numRuns: 1_000 },
      );
    });
  }
});

/** Whether what was read as XML can be written and is read as the same: names without other letters, no text beside attributes. */
function isWritableXml(value: unknown, isTop = true): boolean {
  if (typeof value === "string") return !isTop;
  if (Array.isArray(value)) return value.every((item) => isWritableXml(item, false));
  return Object.entries(value as object).length > 0 &&
    Object.entries(value as object).every(([name, member]) =>
      /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) && isWritableXml(member, false)
    );
}

const KEYS = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("__proto__", "constructor", "", "no", "1", "a.b"),
);
const TEXTS = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ maxLength: 30 }),
  fc.stringMatching(/^[-+.:_~=<>&*!|%@`'"# ,?0-9a-fox[\]{}\r\n\t]{0,8}$/),
  fc.constantFrom(
    "yes",
    "NO",
    "null",
    "~",
    "1e3",
    "0x1F",
    "2026-03-04",
    "10:20",
    "<<",
    "=",
    ":sym",
    "1_000",
    "'''",
    "]]>",
  ),
);
const NUMBERS = fc.oneof(fc.double(), fc.maxSafeInteger());

/** Objects and lists of these values, any names among the members. */
function trees(...leaves: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const { tree } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.oneof(...leaves), fc.array(tie("value"), { maxLength: 4 }), tie("tree")),
    tree: fc.dictionary(KEYS, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  }));
  return tree as fc.Arbitrary<Readonly<Record<string, unknown>>>;
}

const LARGE = fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n });

describe("what a format can hold", () => {
  it("comes back from YAML as it was, and a reader of YAML 1.1 finds the same texts [COD-07]", () => {
    fc.assert(fc.property(trees(TEXTS, NUMBERS, fc.boolean(), fc.constant(null), LARGE), (payload) => {
      const body = write(yamlCodec(), payload);
      assert.deepEqual(readOf(yamlCodec(), body), payload);
    }));
    fc.assert(fc.property(trees(TEXTS, fc.boolean(), fc.constant(null)), (payload) => {
      assert.deepEqual(load(textOf(write(yamlCodec(), payload)), { schema: YAML11_SCHEMA }), payload);
    }));
  });

  it("comes back from TOML as it was, and the library alone finds the same", () => {
    const dates = fc.date({ min: new Date("0000-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(fc.property(trees(TEXTS, NUMBERS, fc.boolean(), LARGE, dates), (payload) => {
      assert.deepEqual(readOf(tomlCodec(), write(tomlCodec(), payload)), payload);
    }));
    fc.assert(fc.property(trees(TEXTS, fc.boolean()), (payload) => {
      const alone = parse(textOf(write(tomlCodec(), payload)));
      assert.deepEqual(JSON.stringify(sorted(alone)), JSON.stringify(sorted(payload)));
    }));
  });

  it("comes back from XML as text", () => {
    const names = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/);
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 20 }).map((text) =>
      text.replace(/[^\t\n\r\u0020-\ufffd]/g, "?")
    );
    const { tree } = fc.letrec((tie) => ({
      item: fc.oneof({ maxDepth: 4 }, texts, tie("tree")),
      list: fc.array(tie("item"), { minLength: 2, maxLength: 3 }),
      tree: fc.dictionary(names, fc.oneof({ maxDepth: 4 }, texts, tie("list"), tie("tree")), {
        minKeys: 1,
        maxKeys: 4,
        noNullPrototype: true,
      }),
    }));
    fc.assert(
      fc.property(tree, (payload) => assert.deepEqual(readOf(xmlCodec(), write(xmlCodec(), payload)), payload)),
    );
  });
});

/** The same value with its members in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([name, member]) => [name, sorted(member)]);
}

describe("what a format cannot hold", () => {
  const nowhere = [() => 1, Symbol("s"), new Map([["a", 1]]), new Set([1]), new Date(NaN), new Error("e")];
  const cannot: Readonly<Record<string, readonly unknown[]>> = {
    json: [...nowhere, NaN, Infinity],
    yaml: [...nowhere, "\ud800", new Date(8.64e15)],
    toml: [...nowhere, "\ud800", new Date(8.64e15), null, 2n ** 63n],
    xml: [...nowhere, "\ud800", "\u0001", NaN, -Infinity, [[1]]],
  };
  for (const [format, values] of Object.entries(cannot)) {
    it(`is refused by ${format} before anything is sent, wherever it stands`, () => {
      const path = fc.array(fc.constantFrom("list", "member"), { maxLength: 5 });
      fc.assert(fc.property(fc.constantFrom(...values), path, (value, steps) => {
        // XML has no list in a list, which would be what is refused.
        const inner = format === "xml" ? steps.filter((step) => step === "member") : steps;
        const payload = {
          a: 1,
          b: inner.reduce((made, step) => step === "list" ? [1, made] : { c: 1, d: made }, value),
        };
        assert.throws(() => write(CODECS[format] as Codec, payload), EncodeError);
      }));
    });
  }
});

describe("XML", () => {
  it("is read where a strict parser reads it, as the same, and refused where that refuses", () => {
    fc.assert(
      fc.property(damaged("xml"), (body) => {
        const value = readOf(xmlCodec(), body);
        const expected = readBySaxes(body);
        if (expected === UNDECIDED) return;
        assert.deepEqual(value, expected, JSON.stringify(textOf(body)));
      }),
      { numRuns: 3_000 },
    );
  });
});

/** Where the two may differ: documents that ours refuses by its own rules, and names that two attributes share without their prefix. */
const UNDECIDED = Symbol("undecided");

interface Open {
  readonly object: Record<string, unknown>;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  hasElements: boolean;
  text: string;
}

/** The value of a document by another parser, and by the rules of the contract once more. */
function readBySaxes(body: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
  const parser = new SaxesParser({ xmlns: true });
  const open: Open[] = [];
  let [result, isUndecided, hasFailed]: [unknown, boolean, boolean] = [undefined, false, false];
  parser.on("error", () => hasFailed = true);
  parser.on("doctype", () => isUndecided = true);
  parser.on("xmldecl", () => isUndecided = true);
  parser.on("opentag", ({ attributes }) => {
    const payload = Object.values(attributes).filter(({ name, prefix }) =>
      name !== "xmlns" && !["xmlns", "xsi", "xml"].includes(prefix)
    );
    if (new Set(payload.map(({ local }) => local)).size < payload.length) isUndecided = true;
    open.push({
      object: {},
      attributes: payload.map(({ local, value }) => [local, value]),
      hasElements: false,
      text: "",
    });
  });
  const addText = (more: string): void => {
    const top = open.at(-1);
    if (top !== undefined) top.text += more;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", ({ local }) => {
    const content = contentOf(open.pop() as Open);
    const parent = open.at(-1);
    if (parent === undefined) result = content;
    else put(parent, local, content);
  });
  parser.write(text).close();
  if (isUndecided) return UNDECIDED;
  return hasFailed ? undefined : result;
}

function put(parent: Open, name: string, content: unknown): void {
  parent.hasElements = true;
  const before = Object.hasOwn(parent.object, name) ? parent.object[name] : undefined;
  const value = before === undefined ? content : [...Array.isArray(before) ? before : [before], content];
  Object.defineProperty(parent.object, name, { value, enumerable: true, configurable: true, writable: true });
}

function contentOf({ object, attributes, hasElements, text }: Open): unknown {
  for (const [name, value] of attributes) {
    if (!Object.hasOwn(object, name)) {
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }
  if (hasElements) return object;
  if (attributes.length === 0) return text;
  return text === "" ? object : { ...object, "": text };
}
