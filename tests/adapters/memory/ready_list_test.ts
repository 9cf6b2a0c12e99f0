/** The two structures a queue stands on, against arrays that do the same the slow way. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Deque } from "../../../adapters/memory/deque.ts";
import { type QueueEntry, ReadyList } from "../../../adapters/memory/ready_list.ts";
import { storedMessage } from "../../../adapters/memory/stored_message.ts";

it("a deque gives back what was put in, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), fc.constant("shift" as const)), { maxLength: 200 }), (steps) => {
      const [deque, model] = [new Deque<number>(), [] as number[]];
      for (const step of steps) {
        if (step === "shift") assert.equal(deque.shift(), model.shift());
        else {
          deque.push(step);
          model.push(step);
        }
        assert.deepEqual([deque.size, deque.peek()], [model.length, model[0]]);
      }
      assert.deepEqual(deque.toArray(), model);
    }),
  );
});

it("a list of waiting messages hands out what came back before what was never out, by rank", () => {
  const step = fc.oneof(fc.constant("push" as const), fc.constant("shift" as const), fc.nat(9));
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const list = new ReadyList();
    const [fresh, returned, out] = [[] as QueueEntry[], [] as QueueEntry[], [] as QueueEntry[]];
    let rank = 0;
    for (const one of steps) {
      if (one === "push") {
        const entry = { message: MESSAGE, expiresAtMs: Infinity, rank: rank++, returns: 0 };
        fresh.push(entry);
        list.push(entry);
      } else if (one === "shift") {
        const entry = returned.shift() ?? fresh.shift();
        assert.equal(list.shift(), entry);
        if (entry !== undefined) out.push(entry);
      } else {
        const [entry] = out.splice(one, 1);
        if (entry === undefined) continue;
        returned.push(entry);
        returned.sort((a, b) => a.rank - b.rank);
        list.giveBack(entry);
      }
      assert.equal(list.peek(), returned[0] ?? fresh[0]);
    }
    assert.deepEqual(list.toArray(), [...returned, ...fresh]);
    assert.equal(list.size, returned.length + fresh.length);
  }));
});

const MESSAGE = storedMessage({ exchange: "", routingKey: "q", body: new Uint8Array() });
