/** Which messages are held back after a loss. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InHand } from "../../../src/consume/in_hand.ts";
import { Unfinished } from "../../../src/consume/unfinished.ts";
import { parseEnvelope } from "../../../src/message/parse_envelope.ts";
import type { ReceivedMessage } from "../../../src/message/received.ts";
import { stoppedSources } from "../../support/sources.ts";

interface Facts {
  readonly messageId?: string;
  readonly header?: string;
  readonly routingKey?: string;
  readonly body?: readonly number[];
}

function delivered({ messageId, header, routingKey = "q", body = [1, 2] }: Facts = {}): InHand {
  const message: ReceivedMessage = {
    exchange: "",
    routingKey,
    redelivered: false,
    properties: { messageId },
    headers: header === undefined ? {} : { "x-acemq-id": header },
    body: Uint8Array.from(body),
  };
  return new InHand({ message, settle: () => "stale" }, parseEnvelope(message, stoppedSources()));
}

function holding(...items: readonly InHand[]): Unfinished {
  const unfinished = new Unfinished();
  for (const item of items) unfinished.add(item);
  return unfinished;
}

describe("a message that is not finished", () => {
  it("is known again by its id, wherever that stands and whatever else differs", () => {
    const unfinished = holding(delivered({ messageId: "m-1" }));
    assert.equal(unfinished.has(delivered({ messageId: "m-1", routingKey: "q.retry.1s", body: [] })), true);
    assert.equal(unfinished.has(delivered({ header: "m-1", messageId: "another" })), true);
    assert.equal(unfinished.has(delivered({ messageId: "m-2" })), false);
    assert.equal(unfinished.has(delivered()), false);
  });

  it("is known by its routing key and its bytes where its sender writes no id", () => {
    const unfinished = holding(delivered(), delivered({ body: [] }));
    assert.equal(unfinished.has(delivered()), true);
    assert.equal(unfinished.has(delivered({ body: [] })), true);
    assert.equal(unfinished.has(delivered({ body: [1, 3] })), false);
    assert.equal(unfinished.has(delivered({ routingKey: "p" })), false);
    assert.equal(unfinished.has(delivered({ messageId: "m-1" })), false);
  });

  it("is finished when each lost delivery of it is", () => {
    const [first, second, never] = [
      delivered({ messageId: "m-1" }),
      delivered({ header: "m-1" }),
      delivered(),
    ] as const;
    const unfinished = holding(first, second);
    assert.equal(unfinished.delete(never), false, "It was not lost");
    assert.equal(unfinished.delete(first), true);
    assert.equal(unfinished.delete(first), false);
    assert.deepEqual([unfinished.isEmpty, unfinished.has(first)], [false, true]);
    assert.equal(unfinished.delete(second), true);
    assert.deepEqual([unfinished.isEmpty, unfinished.has(first)], [true, false]);
  });
});
