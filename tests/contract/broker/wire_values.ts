/**
 * What survives the wire: every kind of header value, the properties, the body.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../../src/message/wire_value.ts";
import type { Scenario } from "./world.ts";

/** What is sent, and what comes: the same unless said otherwise (`message/wire_value.ts`). */
const VALUES: readonly (readonly [kind: string, sent: WireValue, received?: WireValue])[] = [
  ["text", "Grüße, 你好, 🐰"],
  ["empty text", ""],
  ["true", true],
  ["false", false],
  ["zero", 0],
  ["the largest 32-bit integer", 2_147_483_647],
  ["the smallest 32-bit integer", -2_147_483_648],
  ["an integer beyond 32 bits", 3_000_000_000],
  ["an integer below 32 bits", -3_000_000_000],
  ["the largest exact integer", Number.MAX_SAFE_INTEGER],
  ["a small bigint, as a number", 1_790_000_000_000n, 1_790_000_000_000],
  ["a large bigint", 2n ** 63n - 1n],
  ["a large negative bigint", -(2n ** 63n)],
  ["a whole number beyond the exact ones, as a bigint", 2 ** 60, 2n ** 60n],
  ["a fraction, as a double", 3.14, new WireDouble(3.14)],
  ["a double that is whole", new WireDouble(2)],
  ["a decimal", new WireDecimal(2, 1_234)],
  ["a negative decimal", new WireDecimal(0, -400)],
  ["an unsigned integer", new WireUnsigned(2n ** 64n - 1n)],
  ["an unsigned integer that fits a signed one, as a number", new WireUnsigned(5n), 5],
  ["a date, whole seconds", new Date("2026-02-03T04:05:06.789Z"), new Date("2026-02-03T04:05:06.000Z")],
  ["a date before 1970", new Date("1969-12-31T23:59:58.500Z"), new Date("1969-12-31T23:59:58.000Z")],
  ["a timestamp no date holds", new WireTimestamp(2n ** 62n)],
  ["a timestamp that a date holds", new WireTimestamp(5n), new Date(5_000)],
  ["bytes", new Uint8Array([0, 127, 128, 255])],
  ["no bytes", new Uint8Array()],
  ["text that is no UTF-8", new WireText(new Uint8Array([0x61, 0xff]))],
  ["null", null],
  ["a list", ["a", 1, null, [true], { b: 2 }]],
  ["an empty list", []],
  ["a table", { a: { b: { c: [new Uint8Array([1])] } } }],
  ["an empty table", {}],
];

/** The cases about what survives. */
export function wireValues(it: Scenario): void {
  it("carries every kind of header value", async (world) => {
    const queue = await world.queue("q");
    const sent = Object.fromEntries(VALUES.map(([kind, value]) => [kind, value]));
    const expected = Object.fromEntries(VALUES.map(([kind, value, received]) => [kind, received ?? value]));
    assert.deepEqual(await world.publish(queue, { headers: sent }), { outcome: "confirmed" });
    const { headers } = await world.take(queue);
    for (const [kind] of VALUES) assert.deepEqual(headers[kind], expected[kind], kind);
    assert.deepEqual(Object.keys(headers).toSorted(), Object.keys(expected).toSorted());
  });

  it("carries what it has carried before, unchanged", async (world) => {
    const queue = await world.queue("q");
    await world.publish(queue, { headers: Object.fromEntries(VALUES.map(([kind, value]) => [kind, value])) });
    const first = (await world.take(queue)).headers;
    await world.publish(queue, { headers: first });
    assert.deepEqual((await world.take(queue)).headers, first);
  });

  it("carries a header of any name", async (world) => {
    const queue = await world.queue("q");
    const headers: WireTable = JSON.parse('{"__proto__":"own","constructor":1,"":2,"Grüße 🐰":3}');
    await world.publish(queue, { headers: { ...headers, ["n".repeat(255)]: 4 } });
    const received = (await world.take(queue)).headers;
    assert.equal(Object.getOwnPropertyDescriptor(received, "__proto__")?.value, "own");
    assert.deepEqual(Object.keys(received).length, 5);
    assert.equal(received["Grüße 🐰"], 3);
  });

  it("carries the properties, and the absence of those that were not sent", async (world) => {
    const queue = await world.queue("q");
    await world.publish(queue, {
      contentType: "application/json",
      messageId: "7f3a",
      replyTo: "answers",
      priority: 7,
      expirationMs: 600_000,
      persistent: false,
    });
    await world.publish(queue);
    const { contentType, messageId, replyTo, priority, expiration, deliveryMode } =
      (await world.take(queue)).properties;
    assert.deepEqual(
      [contentType, messageId, replyTo, priority, expiration, deliveryMode],
      ["application/json", "7f3a", "answers", 7, "600000", 1],
    );
    const bare = (await world.take(queue)).properties;
    const absent = [bare.contentType, bare.replyTo, bare.priority, bare.expiration];
    assert.deepEqual(absent, [undefined, undefined, undefined, undefined]);
    assert.equal(bare.deliveryMode, 2);
  });

  it("carries an empty body, and one of several frames", async (world) => {
    const queue = await world.queue("q");
    const large = Uint8Array.from({ length: 1_000_003 }, (_, index) => index % 251);
    await world.publish(queue, { body: new Uint8Array() });
    await world.publish(queue, { body: large });
    assert.equal((await world.take(queue)).body.byteLength, 0);
    const { body } = await world.take(queue);
    assert.equal(body.byteLength, large.byteLength);
    assert.ok(body.every((byte, index) => byte === index % 251));
  });

  it("gives every receiver bytes of its own", async (world) => {
    const exchange = await world.exchange("x", "fanout");
    const [one, two] = [await world.queue("one"), await world.queue("two")];
    await world.bind(one, exchange);
    await world.bind(two, exchange);
    const [body, bytes] = [new Uint8Array([1, 2, 3]), new Uint8Array([4, 5, 6])];
    await world.publish("", { exchange, body, headers: { bytes } });
    body.fill(0);
    bytes.fill(0);
    const first = await world.take(one);
    first.body.fill(9);
    assert.ok(first.headers["bytes"] instanceof Uint8Array);
    first.headers["bytes"].fill(9);
    const second = await world.take(two);
    assert.deepEqual([second.body, second.headers["bytes"]], [new Uint8Array([1, 2, 3]), new Uint8Array([4, 5, 6])]);
  });
}
