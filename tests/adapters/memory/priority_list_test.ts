/** The list of a queue with priorities, against an array that does the same the slow way. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { waitingList } from "../../../adapters/memory/priority_list.ts";
import type { QueueEntry } from "../../../adapters/memory/ready_list.ts";
import { storedMessage } from "../../../adapters/memory/stored_message.ts";

const MAX_PRIORITY = 5;

it("a list with priorities hands out the highest first, and of one priority what came back before what was never out", () => {
  const push = fc.record({ push: fc.option(fc.nat(8), { nil: undefined }) });
  const step = fc.oneof(push, fc.constant("shift" as const), fc.nat(9));
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const list = waitingList(MAX_PRIORITY);
    const [waiting, out] = [[] as QueueEntry[], [] as QueueEntry[]];
    let rank = 0;
    for (const one of steps) {
      if (one === "shift") {
        const entry = waiting.shift();
        assert.equal(list.shift(), entry);
        if (entry !== undefined) out.push(entry);
      } else if (typeof one === "number") {
        const [entry] = out.splice(one, 1);
        if (entry === undefined) continue;
        waiting.push(entry);
        list.giveBack(entry);
      } else {
        const entry = entryOf(one.push, rank++);
        waiting.push(entry);
        list.push(entry);
      }
      // What was never out came after everything that was: the rank alone tells the order.
      waiting.sort((a, b) => priorityOf(b) - priorityOf(a) || a.rank - b.rank);
      assert.equal(list.peek(), waiting[0]);
      assert.equal(list.size, waiting.length);
    }
    assert.deepEqual(list.toArray(), waiting);
  }));
});

function entryOf(priority: number | undefined, rank: number): QueueEntry {
  const message = storedMessage({ exchange: "", routingKey: "q", properties: { priority }, body: new Uint8Array() });
  return { message, expiresAtMs: Infinity, rank, returns: 0 };
}

function priorityOf({ message }: QueueEntry): number {
  return Math.min(message.properties.priority ?? 0, MAX_PRIORITY);
}
