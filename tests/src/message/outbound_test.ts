/** What can be told of a message that is ready to go. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Outbound, outboundId, outboundType } from "../../../src/message/outbound.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";

function outbound(headers: WireTable, messageId?: string): Outbound {
  return {
    exchange: "",
    routingKey: "q",
    body: new Uint8Array(),
    messageId,
    headers,
    persistent: true,
    mandatory: true,
  };
}

describe("the id of an outbound message", () => {
  it("is its header, else its property, else empty", () => {
    assert.equal(outboundId(outbound({ "x-acemq-id": "header" }, "property")), "header");
    assert.equal(outboundId(outbound({ "x-acemq-id": "" }, "property")), "property");
    assert.equal(outboundId(outbound({}, "property")), "property");
    assert.equal(outboundId(outbound({})), "");
  });

  it("is the whole id also where the property had to be left out", () => {
    assert.equal(outboundId(outbound({ "x-acemq-id": "i".repeat(300) })), "i".repeat(300));
  });

  it("is no name inherited from a prototype", () => {
    assert.equal(outboundId(outbound(Object.create({ "x-acemq-id": "x" }) as WireTable)), "");
  });
});

describe("the type of an outbound message", () => {
  it("is its header, else empty", () => {
    assert.equal(outboundType(outbound({ "x-acemq-type": "order.placed" })), "order.placed");
    assert.equal(outboundType(outbound({})), "");
  });
});
