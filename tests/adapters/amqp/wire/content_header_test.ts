/** Content headers, written for other clients and read from them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { writeContentHeader } from "../../../../adapters/amqp/wire/content_header.ts";
import { readContentHeader } from "../../../../adapters/amqp/wire/content_header.ts";
import type { Outbound } from "../../../../src/message/outbound.ts";
import { contentHeaderSize } from "../../../../src/message/wire_size.ts";
import { bytesOf, hexOf, readerOf, written } from "../../../support/amqp_codec.ts";
import { messageFor } from "../../../support/amqp_connection.ts";
import { headerFrame } from "../../../support/amqp_frames.ts";
import { readContentHeader as readByOther } from "../../../support/content_header.ts";
import { bytesOfHex, fixtureCases, LANGUAGES } from "../../../support/fixtures.ts";

/** What the contract's worked example 12.1 publishes. */
const PLACED: Outbound = messageFor("order.placed", {
  exchange: "shop",
  contentType: "application/json",
  persistent: true,
  headers: { "x-acemq-id": "6c1f", "x-acemq-version": 1, "x-acemq-first-seen": 1_790_000_000_000n },
  body: new Uint8Array(300),
});

function encoded(outbound: Outbound, messageId = "6c1f"): Uint8Array {
  return written((writer) => writeContentHeader(writer, outbound, messageId));
}

describe("a content header that is written", () => {
  it("is, byte by byte, class, weight, body size, flags and the properties in their order", () => {
    const golden = "003c 0000 000000000000012c b080 10 6170706c69636174696f6e2f6a736f6e" +
      "00000045 0a782d6163656d712d6964 53 00000004 36633166 0f782d6163656d712d76657273696f6e 49 00000001" +
      "12782d6163656d712d66697273742d7365656e 6c 000001a0c4506c00 02 04 36633166";
    assert.equal(hexOf(encoded(PLACED)), golden.replaceAll(" ", ""));
  });

  it("says the same to another reader", () => {
    const { properties, headers, bodySize } = readByOther(encoded({ ...PLACED, replyTo: "answers", priority: 0 }));
    assert.equal(bodySize, 300);
    assert.deepEqual(properties, {
      "content-type": "application/json",
      "delivery-mode": 2,
      "priority": 0,
      "reply-to": "answers",
      "message-id": "6c1f",
    });
    assert.deepEqual(headers.map(([name, kind]) => `${name} ${kind}`), [
      "x-acemq-id S",
      "x-acemq-version I",
      "x-acemq-first-seen l",
    ]);
  });

  it("keeps priority 0 and delivery mode 1, and leaves empty text out (trap 18)", () => {
    const { properties } = readByOther(
      encoded({ ...PLACED, persistent: false, priority: 0, contentType: "", replyTo: "" }),
    );
    assert.deepEqual(properties, { "delivery-mode": 1, "priority": 0, "message-id": "6c1f" });
  });

  it("takes the number of bytes that was said to fit or not to fit a frame", () => {
    const outbound = { ...PLACED, messageId: "6c1f", replyTo: "r\u00fc", priority: 9, expirationMs: 60_000 };
    assert.equal(encoded(outbound).byteLength, contentHeaderSize(outbound));
  });

  const refused: readonly (readonly [string, Partial<Outbound>, RegExp])[] = [
    ["a fraction of a millisecond to live", { expirationMs: 1.5 }, /^the expiration must be a whole number/],
    ["a negative time to live", { expirationMs: -1 }, /^the expiration must be a whole number/],
    ["a time to live that is no number", { expirationMs: NaN }, /^the expiration must be a whole number/],
    ["a priority of 256", { priority: 256 }, /^the priority must be a whole number from 0 to 255, found 256/],
    ["a negative priority", { priority: -1 }, /^the priority must be/],
    ["a content type of 256 bytes", { contentType: "\u00fc".repeat(128) }, /^the content type must fit 255 bytes/],
    ["a reply-to of 256 bytes [SR-20]", { replyTo: "\u{1f430}".repeat(64) }, /^the reply-to must fit 255 bytes/],
    ["a header no AMQP kind holds [BRK-07]", { headers: { a: { b: NaN } } }, /^header "a"\."b" is NaN/],
  ];
  for (const [what, parts, problem] of refused) {
    it(`is refused with ${what}`, () => {
      assert.throws(() => encoded({ ...PLACED, ...parts }), { name: "Unwritable", message: problem });
    });
  }

  it("takes an emoji in every short text, to exactly 255 bytes [SR-20]", () => {
    const name = `${"\u{1f430}".repeat(63)}abc`;
    const outbound = { ...PLACED, contentType: name, replyTo: name, headers: { [name]: 1 } };
    const { properties, headers } = readByOther(encoded(outbound, name));
    assert.deepEqual([properties["content-type"], properties["reply-to"], properties["message-id"], headers[0]?.[0]], [
      name,
      name,
      name,
      name,
    ]);
    assert.throws(() => encoded(outbound, `${name}d`), /^Unwritable: the message id must fit 255 bytes/);
  });
});

describe("a content header that is read", () => {
  it("gives every property the contract reads and steps over the others", () => {
    const frame = headerFrame(1, 7, {
      contentType: "text/plain",
      contentEncoding: "gzip",
      headers: { a: "b" },
      deliveryMode: 2,
      priority: 3,
      correlationId: "c",
      replyTo: "r",
      expiration: "60000",
      messageId: "m",
      timestamp: 1,
      type: "t",
      userId: "u",
      appId: "a",
      clusterId: "cl",
    });
    assert.deepEqual(readContentHeader(readerOf(frame.subarray(7, -1))), {
      bodySize: 7,
      properties: {
        contentType: "text/plain",
        messageId: "m",
        replyTo: "r",
        deliveryMode: 2,
        priority: 3,
        expiration: "60000",
      },
      headers: { a: "b" },
    });
  });

  it("is what it was when it comes back, for every combination of properties", () => {
    const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
    const text = fc.string({ minLength: 1, maxLength: 20 });
    const parts = fc.record({
      contentType: optional(text),
      replyTo: optional(text),
      priority: optional(fc.nat(255)),
      expirationMs: optional(fc.nat()),
      persistent: fc.boolean(),
    });
    fc.assert(fc.property(parts, text, (some, messageId) => {
      const { properties } = readContentHeader(readerOf(encoded({ ...PLACED, ...some }, messageId)));
      const { contentType, replyTo, priority, expirationMs, persistent } = some;
      const expiration = expirationMs === undefined ? undefined : String(expirationMs);
      const deliveryMode = persistent ? 2 : 1;
      assert.deepEqual(properties, { contentType, messageId, replyTo, deliveryMode, priority, expiration });
    }));
  });

  it("may have no properties at all", () => {
    const { properties, headers } = readContentHeader(readerOf(bytesOf("003c 0000 0000000000000000 0000")));
    assert.deepEqual(Object.values(properties), Array(6).fill(undefined));
    assert.deepEqual(headers, {});
  });

  it("is malformed when it claims more flags than there are properties", () => {
    assert.throws(() => readContentHeader(readerOf(bytesOf("003c 0000 0000000000000000 0001"))), {
      name: "MalformedFrame",
    });
  });

  for (const language of LANGUAGES) {
    it(`is read as another reader reads it, for every recorded message of ${language}`, () => {
      const cases = fixtureCases(`messages`, language);
      assert.ok(cases.length > 0);
      for (const { name, content_header_hex: hex } of cases) {
        const bytes = bytesOfHex(String(hex));
        const ours = readContentHeader(readerOf(bytes));
        const other = readByOther(bytes);
        assert.equal(ours.bodySize, other.bodySize, name);
        assert.deepEqual(Object.entries(ours.headers), other.headers.map(([key, , value]) => [key, value]), name);
        assert.equal(ours.properties.messageId, other.properties["message-id"], name);
        assert.equal(ours.properties.contentType, other.properties["content-type"], name);
      }
    });

    it(`of a recorded message of ${language} leaves again with the same kinds`, () => {
      for (const { name, content_header_hex: hex } of fixtureCases("messages", language)) {
        const { headers } = readContentHeader(readerOf(bytesOfHex(String(hex))));
        const again = readContentHeader(readerOf(encoded({ ...PLACED, headers })));
        assert.deepEqual(again.headers, headers, name);
      }
    });
  }
});
