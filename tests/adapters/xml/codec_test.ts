import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { xmlCodec, type XmlCodecOptions } from "../../../adapters/xml/mod.ts";
import { DecodeError, EncodeError } from "../../../src/errors.ts";
import type { EncodedPayload } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";

const utf8 = new TextEncoder();

function textOf(payload: unknown, options: XmlCodecOptions = {}): string {
  return new TextDecoder().decode((xmlCodec(options).encode(payload) as EncodedPayload).body);
}

function read(body: string | Uint8Array, options: XmlCodecOptions = {}, contentType = ""): unknown {
  return xmlCodec(options).decode(typeof body === "string" ? utf8.encode(body) : body, { contentType });
}

function nested(levels: number): unknown {
  return levels === 0 ? "x" : { a: nested(levels - 1) };
}

/** Text as UTF-16, with its byte order mark. */
function utf16(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint16Array.from(`\ufeff${text}`, (unit) => unit.charCodeAt(0)).buffer);
}

codecContract("XML", async () => ({
  codec: xmlCodec(),
  holds: [
    { payload: {}, reads: "" },
    { payload: { ref: "b-7", tags: ["red", "blue"], box: { sku: "x", size: { w: "1" } } } },
    { payload: { lines: [{ a: "1", sub: [{ b: "2" }, { b: "3" }] }, ""] } },
    {
      payload: { n: 3, f: -0.5, big: 2n ** 70n, yes: true, no: false },
      reads: { n: "3", f: "-0.5", big: "1180591620717411303424", yes: "true", no: "false" },
    },
    {
      payload: { nothing: null, empty: "", blank: "  ", none: [], one: ["x"], left: undefined },
      reads: { nothing: "", empty: "", blank: "  ", one: "x" },
    },
    { payload: { s: "größe 😀 <b> & \"q\" 'a' ]]> \u007f \u0085 \u2028 \r\n \r \t" } },
    {
      payload: { at: new Date(0), raw: Uint8Array.of(1, 2, 255) },
      reads: { at: "1970-01-01T00:00:00.000Z", raw: "AQL/" },
    },
    { payload: { "_a.b-c": "1", A1: "2" } },
    { payload: JSON.parse('{"__proto__":{"polluted":"1"},"constructor":{"prototype":["1","2"]}}') },
  ],
  refuses: [
    undefined,
    null,
    "4242",
    4242,
    ["4242"],
    new Date(4242),
    { card: () => 4242 },
    { card: ["4242", undefined] },
    { card: [["4242"]] },
    { "4242": "digit first" },
    { "a 4242": "blank" },
    { "": "4242" },
    { "a:b": "4242" },
    { "größe": "4242" },
    { card: "4242", at: NaN },
    { "c4242": Infinity },
    { "c4242": "\u0000" },
    { "c4242": "\ufffe" },
    { "c4242": "\ud800" },
    { "c4242": "<\udc00" },
    { "c4242": new Date(NaN) },
    new Map([["4242", 4242]]),
    { card: new Set(["4242"]) },
    { c4242: nested(64) },
  ],
  unreadable: [
    "",
    "4242",
    "<m4242>",
    "<m>4242</n>",
    "<m>4242</m><m/>",
    "<!DOCTYPE m4242><m4242/>",
    '<!DOCTYPE m [<!ENTITY e "4242">]><m>&e;</m>',
    "<m>&x4242;</m>",
    "<m>&#0;4242</m>",
    "<m>&#xD800;4242</m>",
    "<m4242:a/>",
    '<m a="4242" a="1"/>',
    "<m a=4242/>",
    "<m>4242\u0001</m>",
    "<m><![CDATA[4242</m>",
    '<?xml version="1.0" encoding="iso-8859-1"?><m>4242</m>',
    "<m><a 4242>1</a></m>",
    `<m ${Array.from({ length: 257 }, (_, index) => `a${index}="4242"`).join(" ")}/>`,
    "<a>".repeat(1_001) + "4242" + "</a>".repeat(1_001),
  ].map((text) => utf8.encode(text)).concat(utf16("<m>4242</m>"), Uint8Array.of(0x3c, 0x6d, 0xff)),
  reads: ["application/xml", "text/xml", "application/vnd.shop.order+xml"],
  leaves: ["application/json", "text/plain", "application/xml-dtd", "application/xhtml", undefined],
}));

describe("XML, written", () => {
  const basket = { ref: "b-7", qty: 3, tags: ["red", "blue"], note: null };

  it("is what the contract shows", () => {
    const head = "<message><ref>b-7</ref><qty>3</qty>";
    assert.equal(textOf(basket), `${head}<tags>red</tags><tags>blue</tags><note/></message>`);
    assert.equal(
      textOf(basket, { lists: "wrapped" }),
      `${head}<tags><tags>red</tags><tags>blue</tags></tags><note/></message>`,
    );
    assert.equal(xmlCodec().contentType, "application/xml");
  });

  const written: readonly (readonly [payload: unknown, text: string])[] = [
    [{}, "<message></message>"],
    [{ a: null, b: "", c: [], d: undefined, e: [null, ""] }, "<message><a/><b></b><e/><e></e></message>"],
    [{ a: { b: [{ c: 1 }, { c: 2 }] } }, "<message><a><b><c>1</c></b><b><c>2</c></b></a></message>"],
    [{ t: "<a> & \"b\" 'c' ]]>\r\n\t" }, "<message><t>&lt;a&gt; &amp; \"b\" 'c' ]]&gt;&#13;\n\t</t></message>"],
    [{ n: 1e21, b: 2n ** 64n, yes: true }, "<message><n>1e+21</n><b>18446744073709551616</b><yes>true</yes></message>"],
    [{ d: new Date(0), r: Uint8Array.of(255) }, "<message><d>1970-01-01T00:00:00.000Z</d><r>/w==</r></message>"],
    [{ of: { toJSON: (key: string) => `of ${key}` } }, "<message><of>of of</of></message>"],
    [{ toJSON: () => ({ a: 1 }) }, "<message><a>1</a></message>"],
  ];
  for (const [payload, text] of written) {
    it(`is ${text}`, () => assert.equal(textOf(payload), text));
  }

  it("has the outermost element it was told, and tells it where that was asked for", () => {
    assert.equal(textOf({ a: 1 }, { root: "OrderPlaced" }), "<OrderPlaced><a>1</a></OrderPlaced>");
    assert.deepEqual(read("<OrderPlaced><a>1</a></OrderPlaced>"), { a: "1" });
    assert.deepEqual(read("<OrderPlaced><a>1</a></OrderPlaced>", { exposeRoot: true }), { OrderPlaced: { a: "1" } });
    assert.deepEqual(read('<n:m xmlns:n="urn:x">t</n:m>', { exposeRoot: true }), { m: "t" });
    for (const root of ["", "a b", "1a", "a:b", "<a>", "größe"]) assert.throws(() => xmlCodec({ root }), TypeError);
  });

  it("tells the place of what it cannot hold", () => {
    assert.throws(() => textOf({ a: 1, b: [{ c: 1 }, { "d e": 1 }] }), {
      name: "EncodeError",
      message:
        "Cannot write the payload as XML: found a name that no element can have at member 1, item 1, member 0 (counted from 0)",
    });
    assert.throws(() => textOf([1]), /the top must be an object, found a list/);
    assert.throws(() => textOf({ a: [1, [2]] }), /found a list in a list at member 0, item 1 /);
    assert.throws(() => textOf({ a: [{ toJSON: () => [1] }] }), /found a list in a list/);
  });

  it("has at most 64 levels, or as many as were asked for", () => {
    assert.doesNotThrow(() => textOf(nested(64)));
    assert.throws(() => textOf(nested(65)), EncodeError);
    assert.deepEqual(read(textOf(nested(999), { maxEncodeDepth: 999 })), nested(999));
    const ring: Record<string, unknown> = {};
    ring["self"] = [ring];
    assert.throws(() => textOf(ring), /it is nested too deeply/);
    assert.throws(() => xmlCodec({ maxEncodeDepth: 1_001 }), RangeError);
  });
});

describe("XML, read", () => {
  it("reads every content type there is for it, written one [COD-14]", () => {
    for (const type of ["application/xml", "text/xml", "application/a+xml"]) {
      assert.equal(xmlCodec().canDecode(`${type}; charset=utf-8`), true);
      assert.deepEqual(read("<m><a>1</a></m>", {}, `${type}; charset=utf-8`), { a: "1" });
    }
    assert.throws(() => read("<m/>", {}, "application/xml; charset=utf-16"), /its charset must be utf-8, found utf-16/);
    assert.equal(xmlCodec().canDecode(undefined), false);
  });

  const shapes: readonly (readonly [body: string, value: unknown])[] = [
    ["<m/>", ""],
    ["<m>hello</m>", "hello"],
    ["<m> </m>", " "],
    ["<m><a/><b></b><c> </c></m>", { a: "", b: "", c: " " }],
    ["<m><a>1</a><b>x</b><a>2</a><a/></m>", { a: ["1", "2", ""], b: "x" }],
    ["<m>\n  <a>\n 1 </a>\n  <b>\n<c/></b>\n</m>", { a: "\n 1 ", b: { c: "" } }],
    ['<m id="7"/>', { id: "7" }],
    ['<m id="7">x</m>', { "": "x", id: "7" }],
    ['<m id="7"> </m>', { "": " ", id: "7" }],
    ['<m id="7" a="x"><id>8</id><id>9</id></m>', { id: ["8", "9"], a: "x" }],
    ["<m>mixed <b>bold</b> text</m>", { b: "bold" }],
    ['<n:m xmlns:n="urn:x" xmlns="urn:y"><n:a n:b="1" xml:lang="de">t</n:a></n:m>', { a: { "": "t", b: "1" } }],
    ['<m xmlns:xsi="urn:i" xsi:nil="true"/>', ""],
    ['<m><a xmlns:p="urn:x" p:t="1"><p:c/></a><b xmlns:q="urn:y"/></m>', { a: { c: "", t: "1" }, b: "" }],
    ["<?xml version='1.0' encoding='UTF-8' standalone='yes'?><!-- a --><?b c?><m>1<!-- x -->2<?y z?>3</m>", "123"],
    ["<m><![CDATA[<!DOCTYPE x>]]><!-- <!DOCTYPE y> --></m>", "<!DOCTYPE x>"],
    ["<m>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F69A;</m>", "<>&\"'A🚚"],
    ["<m>a\r\nb\rc&#13;d</m>", "a\nb\nc\rd"],
    ["<m><größe>1</größe><名>2</名></m>", { größe: "1", 名: "2" }],
    ["<m><__proto__>1</__proto__><__proto__>2</__proto__></m>", JSON.parse('{"__proto__":["1","2"]}')],
    ['<m __proto__="1" constructor="2"/>', JSON.parse('{"__proto__":"1","constructor":"2"}')],
  ];
  for (const [body, value] of shapes) {
    it(`makes ${JSON.stringify(value)} of ${body}`, () => assert.deepEqual(read(body), value));
  }

  it("refuses every document type, in UTF-8 and in UTF-16, and expands nothing [COD-09]", () => {
    const entities = Array.from({ length: 9 }, (_, index) => {
      const inner = index === 0 ? "xxxxxxxxxx" : `&e${index - 1};`.repeat(10);
      return `<!ENTITY e${index} "${inner}">`;
    });
    const bomb = `<!DOCTYPE m [${entities.join("")}]><m>&e8;</m>`;
    assert.throws(() => read(bomb), DecodeError);
    assert.throws(() => read(bomb.replace("&e8;", "x")), {
      name: "DecodeError",
      message: "Cannot read the body as XML: it has a document type, which is not allowed",
    });
    const declared = `<?xml version="1.0" encoding="utf-16"?>${bomb}`;
    for (const body of [utf16(bomb), utf16(declared), utf16(declared).slice(2)]) {
      assert.throws(() => read(body), DecodeError);
    }
    assert.throws(() => read(`<?xml version="1.0" encoding="utf-16"?><m/>`), /it declares another encoding than UTF-8/);
    for (const type of ["<!DOCTYPE m>", '<!DOCTYPE m SYSTEM "x.dtd">', "<!DOCTYPE m [ ]>", "<!doctype m>"]) {
      assert.throws(() => read(`${type}<m/>`), DecodeError, type);
    }
  });

  it("refuses prefixes that are not bound where they stand", () => {
    const bodies = [
      "<p:m/>",
      "<m><p:a/></m>",
      '<m p:a="1"/>',
      '<m xsi:nil="true"/>',
      '<m><a xmlns:p="urn:x"/><p:b/></m>',
      '<m xmlns:p="urn:x"><p:a:b/></m>',
      '<m xmlns:p="urn:x"><p:/></m>',
      "<:m/>",
    ];
    for (const body of bodies) assert.throws(() => read(body), DecodeError, body);
    assert.doesNotThrow(() =>
      read('<m xml:lang="de"><a xmlns:p="urn:x"><p:b><p:c xmlns:p="urn:y"/><p:d/></p:b></a></m>')
    );
  });

  it("is at most 1,000 levels deep, or as deep as was asked for", () => {
    const levels = (count: number): string => "<a>".repeat(count) + "</a>".repeat(count);
    assert.doesNotThrow(() => read(levels(1_000)));
    assert.throws(() => read(levels(1_001)), /it is nested deeper than 1000 levels/);
    assert.throws(() => read(levels(3), { maxDecodeDepth: 2 }), DecodeError);
    assert.doesNotThrow(() => read(levels(3), { maxDecodeDepth: 3 }));
    const flat = `<m>${"<a b='>'/>".repeat(2_000)}${"<!-- <a> --><![CDATA[<a><a>]]><?a <a>?>".repeat(1_500)}</m>`;
    assert.doesNotThrow(() => read(flat));
    assert.doesNotThrow(() => read(`<m>${"<a><b/>".repeat(2)}</a></a></m>`, { maxDecodeDepth: 4 }));
    for (const deep of ["<a>".repeat(200_000), levels(200_000), "<a b='".repeat(200_000), "<!".repeat(200_000)]) {
      assert.throws(() => read(deep), DecodeError);
    }
  });

  it("has at most 256 attributes an element", () => {
    const attributes = (count: number): string => Array.from({ length: count }, (_, at) => ` a${at}="x"`).join("");
    assert.doesNotThrow(() => read(`<m${attributes(256)}><b${attributes(256)}/></m>`));
    assert.throws(() => read(`<m><b${attributes(257)}/></m>`), /an element has more than 256 attributes/);
  });

  it("reads a text of many lines in no time, whichever way they end", () => {
    const lines = "x\r\n".repeat(300_000);
    assert.equal(read(`<m>${lines}</m>`), "x\n".repeat(300_000));
  });

  it("refuses a body that is larger than was asked for, unread", () => {
    assert.throws(() => read("<m/>", { maxBodyBytes: 3 }), /it must have at most 3 bytes, found 4/);
  });

  it("says in which line it stopped, and nothing of what stands there", () => {
    assert.throws(() => read("<m>\n<c4242></m>"), {
      name: "DecodeError",
      message: "Cannot read the body as XML: it is not valid XML, line 2",
    });
  });
});
