/** Sizes of hand-made content headers, byte by byte after AMQP 0-9-1 and RabbitMQ's table of field kinds. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outbound } from "../../../src/message/outbound.ts";
import { contentHeaderSize, FRAME_OVERHEAD, tableSize } from "../../../src/message/wire_size.ts";
import {
  WireDecimal,
  WireDouble,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

const BARE: Outbound = {
  exchange: "shop",
  routingKey: "order.placed",
  body: new Uint8Array(5),
  headers: {},
  persistent: true,
  mandatory: true,
};

describe("the size of a table", () => {
  /** Kind and value as they stand behind the name, in hexadecimal. */
  const vectors: readonly (readonly [string, WireValue, string])[] = [
    ["a long string", "käse", "53 00000005 6bc3a47365"],
    ["an empty long string", "", "53 00000000"],
    ["a long string beyond the plane of 16 bits", "🧀", "53 00000004 f09fa780"],
    ["true", true, "74 01"],
    ["a 32-bit integer", 1, "49 00000001"],
    ["the smallest 32-bit integer", -2_147_483_648, "49 80000000"],
    ["the largest 32-bit integer", 2_147_483_647, "49 7fffffff"],
    ["one more", 2_147_483_648, "6c 0000000080000000"],
    ["one less", -2_147_483_649, "6c ffffffff7fffffff"],
    ["a bigint, however small", 1n, "6c 0000000000000001"],
    ["a fraction", 1.5, "64 3ff8000000000000"],
    ["a double", new WireDouble(2), "64 4000000000000000"],
    ["a decimal", new WireDecimal(2, 1_234), "44 02 000004d2"],
    ["a timestamp", new Date(1_790_000_000_000), "54 000000006ab13b80"],
    ["a timestamp no Date holds", new WireTimestamp(2n ** 62n), "54 4000000000000000"],
    ["an unsigned integer", new WireUnsigned(2n ** 63n), "4c 8000000000000000"],
    ["bytes", Uint8Array.of(1, 2, 3), "78 00000003 010203"],
    ["a long string that is no UTF-8", new WireText(Uint8Array.of(0xff)), "53 00000001 ff"],
    ["void", null, "56"],
    ["an empty list", [], "41 00000000"],
    ["a list", [1, "b"], "41 0000000b 49 00000001 53 00000001 62"],
    ["an empty table", {}, "46 00000000"],
    ["a table", { a: true, "ü": null }, "46 00000008 01 61 74 01 02 c3bc 56"],
  ];
  for (const [what, value, hex] of vectors) {
    it(`counts ${what}`, () => {
      const name = "01 68";
      assert.equal(tableSize({ h: value }), bytesOfHex(`00000000 ${name} ${hex}`.replaceAll(" ", "")).length);
    });
  }
});

describe("the size of a content header", () => {
  it("is class, weight, body size, flags, delivery mode and an empty table at least", () => {
    const hex = "003c 0000 0000000000000005 3000 00000000 02";
    assert.equal(contentHeaderSize(BARE), bytesOfHex(hex.replaceAll(" ", "")).length);
  });

  it("counts each property that is there, in bytes of UTF-8", () => {
    const size = contentHeaderSize(BARE);
    assert.equal(contentHeaderSize({ ...BARE, contentType: "text/plain" }), size + 1 + 10);
    assert.equal(contentHeaderSize({ ...BARE, messageId: "ü🧀" }), size + 1 + 6);
    assert.equal(contentHeaderSize({ ...BARE, replyTo: "amq.rabbitmq.reply-to" }), size + 1 + 21);
    assert.equal(contentHeaderSize({ ...BARE, priority: 0 }), size + 1);
    assert.equal(contentHeaderSize({ ...BARE, expirationMs: 60_000 }), size + 1 + 5);
  });

  it("counts no text property that is empty: it is left out", () => {
    const empty = { ...BARE, contentType: "", messageId: "", replyTo: "" };
    assert.equal(contentHeaderSize(empty), contentHeaderSize(BARE));
  });

  it("leaves eight bytes of a frame for the frame itself", () => assert.equal(FRAME_OVERHEAD, 7 + 1));
});
