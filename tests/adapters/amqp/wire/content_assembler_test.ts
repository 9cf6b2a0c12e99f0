/** Messages put together from frames. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Content, ContentAssembler } from "../../../../adapters/amqp/wire/content_assembler.ts";
import { MalformedFrame } from "../../../../adapters/amqp/wire/malformed.ts";
import type { ContentMethod } from "../../../../adapters/amqp/wire/method_frames.ts";
import { readerOf } from "../../../support/amqp_codec.ts";
import { headerFrame } from "../../../support/amqp_frames.ts";

const DELIVERY: ContentMethod = {
  kind: "delivery",
  consumerTag: "t",
  deliveryTag: 1,
  redelivered: true,
  exchange: "x",
  routingKey: "k",
};

function header(assembler: ContentAssembler, bodySize: number): Content | undefined {
  return assembler.header(readerOf(headerFrame(1, bodySize, { messageId: "m" }).subarray(7, -1)));
}

function body(assembler: ContentAssembler, ...bytes: readonly number[]): Content | undefined {
  return assembler.body(readerOf(Uint8Array.of(...bytes)));
}

describe("content", () => {
  it("is whole with its header when it has no body", () => {
    const assembler = new ContentAssembler();
    assembler.method(DELIVERY);
    const content = header(assembler, 0);
    assert.deepEqual(content?.message.body, new Uint8Array(0));
    assert.deepEqual([content?.method, content?.message.redelivered], [DELIVERY, true]);
    assert.deepEqual([content?.message.exchange, content?.message.routingKey], ["x", "k"]);
    assert.equal(content?.message.properties.messageId, "m");
  });

  it("is whole with its only body frame, and with the last of several", () => {
    const assembler = new ContentAssembler();
    assembler.method(DELIVERY);
    assert.equal(header(assembler, 3), undefined);
    assert.deepEqual(body(assembler, 1, 2, 3)?.message.body, Uint8Array.of(1, 2, 3));
    assembler.method(DELIVERY);
    assert.equal(header(assembler, 5), undefined);
    assert.equal(body(assembler, 1, 2), undefined);
    assert.equal(body(assembler), undefined);
    assert.equal(body(assembler, 3, 4), undefined);
    assert.deepEqual(body(assembler, 5)?.message.body, Uint8Array.of(1, 2, 3, 4, 5));
  });

  it("has bytes of its own, nothing else in their buffer", () => {
    const assembler = new ContentAssembler();
    assembler.method(DELIVERY);
    header(assembler, 3);
    const received = body(assembler, 1, 2, 3)?.message.body;
    assert.equal(received?.constructor, Uint8Array);
    assert.equal(received?.buffer.byteLength, 3);
  });

  const malformed: readonly (readonly [string, (assembler: ContentAssembler) => void])[] = [
    ["a header of no message", (assembler) => header(assembler, 1)],
    ["a body of no message", (assembler) => body(assembler, 1)],
    ["a body before its header", (assembler) => {
      assembler.method(DELIVERY);
      body(assembler, 1);
    }],
    ["a second header", (assembler) => {
      assembler.method(DELIVERY);
      header(assembler, 1);
      header(assembler, 1);
    }],
    ["a message within a message", (assembler) => {
      assembler.method(DELIVERY);
      assembler.method(DELIVERY);
    }],
    ["more body than announced", (assembler) => {
      assembler.method(DELIVERY);
      header(assembler, 2);
      body(assembler, 1, 2, 3);
    }],
  ];
  for (const [what, feed] of malformed) {
    it(`is malformed with ${what}`, () => assert.throws(() => feed(new ContentAssembler()), MalformedFrame));
  }
});
