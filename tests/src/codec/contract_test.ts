/** The codecs of the core keep the contract of the port. */
import { bytesCodec } from "../../../src/codec/bytes.ts";
import { jsonCodec } from "../../../src/codec/json.ts";
import { textCodec } from "../../../src/codec/text.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import { codecContract } from "../../contract/codec.ts";

const utf8 = new TextEncoder();

codecContract("JSON", async () => ({
  codec: jsonCodec({ integers: "bigint" }),
  holds: [
    { payload: { ref: "b-7", qty: 3, tags: ["red", "blue"], note: null, box: { deep: [[], {}, [{}]] } } },
    { payload: null },
    { payload: "" },
    { payload: "größe 😀 \u2028 \u0000 \ud800" },
    { payload: [true, false, 0, -1.5, 1e300, 9_007_199_254_740_993n, -(2n ** 70n)] },
    {
      payload: { at: new Date(0), raw: Uint8Array.of(1, 2, 255) },
      reads: { at: "1970-01-01T00:00:00.000Z", raw: "AQL/" },
    },
    { payload: { there: 1, left: undefined }, reads: { there: 1 } },
    { payload: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') },
  ],
  refuses: [
    undefined,
    () => 4242,
    Symbol("4242"),
    { 4242: NaN },
    [Infinity],
    new Map([["4242", 4242]]),
    { card: "4242", at: new Date(NaN) },
    JSON.parse("[".repeat(65) + "4242" + "]".repeat(65)),
  ],
  unreadable: ["", " ", "4242 4242", '{"card":4242', "['4242']", "[NaN,4242]", "{4242:1}", "[".repeat(5_000)]
    .map((text) => utf8.encode(text)).concat(Uint8Array.of(0x34, 0x32, 0x34, 0x32, 0xff)),
  reads: ["application/json", "text/json", "application/vnd.shop.order+json", undefined],
  leaves: ["application/jsonlines", "application/x-json", "text/plain", "application/json+xml"],
}));

codecContract("text", async () => ({
  codec: textCodec() as Codec,
  holds: [
    { payload: "" },
    { payload: "grün 😀 \u0000\r\n" },
    ...[42, -0.5, 12_345_678_901_234_567_890n, true].map((payload) => ({ payload, reads: String(payload) })),
  ],
  refuses: [undefined, null, NaN, { card: "4242" }, ["4242"], new Date(4242), utf8.encode("4242"), "4242\ud800"],
  unreadable: [Uint8Array.of(0x34, 0x32, 0x34, 0x32, 0xff), Uint8Array.of(0xed, 0xa0, 0x80)],
  reads: ["text/plain", "text/csv", "text/markdown"],
  leaves: ["application/json", "application/octet-stream", "text", undefined],
}));

codecContract("bytes", async () => ({
  codec: bytesCodec() as Codec,
  holds: [
    { payload: Uint8Array.of(1, 2, 255) },
    { payload: new Uint8Array() },
    { payload: "grün", reads: utf8.encode("grün") },
    { payload: Uint8Array.of(7, 8).buffer, reads: Uint8Array.of(7, 8) },
    { payload: new Uint16Array([0x0101]), reads: Uint8Array.of(1, 1) },
    { payload: new DataView(Uint8Array.of(1, 2, 3).buffer, 1, 2), reads: Uint8Array.of(2, 3) },
  ],
  refuses: [undefined, null, 4242, { card: "4242" }, [4242], "4242\ud800"],
  unreadable: [],
  reads: ["application/octet-stream", "application/json", "text/plain", "nonsense", undefined],
  leaves: [],
}));
