import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventHub } from "../../../src/internal/event_hub.ts";

async function collect<E>(events: AsyncIterable<E>): Promise<readonly E[]> {
  const collected: E[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

describe("an event hub", () => {
  it("gives every event to every reader that is there, from then on, until it closes", async () => {
    const hub = new EventHub<number>();
    hub.emit(0);
    const first = hub.read();
    hub.emit(1);
    const second = hub.read();
    hub.emit(2);
    hub.close();
    hub.emit(3);
    assert.deepEqual([await collect(first), await collect(second), await collect(hub.read())], [[1, 2], [2], []]);
  });

  it("wakes a reader that waits", async () => {
    const hub = new EventHub<number>();
    const next = hub.read().next();
    hub.emit(1);
    assert.deepEqual(await next, { done: false, value: 1 });
  });

  it("ends a reader in the moment its signal aborts; what it has not read yet it still gets", async () => {
    const hub = new EventHub<number>();
    const leaving = new AbortController();
    const events = hub.read(leaving.signal);
    hub.emit(1);
    leaving.abort();
    hub.emit(2);
    assert.deepEqual(await collect(events), [1]);
    assert.deepEqual(await collect(hub.read(AbortSignal.abort())), []);
  });

  it("forgets a reader that leaves its loop", async () => {
    const hub = new EventHub<number>();
    const events = hub.read();
    hub.emit(1);
    for await (const event of events) {
      assert.equal(event, 1);
      break;
    }
    hub.emit(2);
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  });

  it("keeps the latest thousand events for a reader that does not read", async () => {
    const hub = new EventHub<number>();
    const events = hub.read();
    for (let event = 0; event < 1_500; event++) hub.emit(event);
    hub.close();
    const kept = await collect(events);
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [1_000, 500, 1_499]);
  });
});
