import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { memoryOutboxStore, virtualClock } from "../../../adapters/memory/mod.ts";
import { HEADER_ID } from "../../../src/message/header_names.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { OutboxClaimOptions } from "../../../src/ports/outbox_store.ts";
import { MAX_ATTEMPTS, outboxStoreContract } from "../../contract/outbox_store.ts";
import { Complaints } from "../../support/residue.ts";
import { deferred } from "../../support/until.ts";

outboxStoreContract("memory", async () => {
  const clock = virtualClock();
  const store = memoryOutboxStore({ clock, maxAttempts: MAX_ATTEMPTS });
  return {
    store,
    other: store,
    transaction: (work) => store.transaction(work),
    outside: undefined,
    isTable: false,
    pass: (ms) => clock.advance(ms),
    close: async () => {},
  };
});

const CLAIM: OutboxClaimOptions = { limit: 100, leaseMs: 60_000, mode: "continue", onRetired: "release" };

function message(id: string, more: Partial<Outbound> = {}): Outbound {
  return {
    exchange: "",
    routingKey: "orders",
    body: new TextEncoder().encode(id),
    contentType: "text/plain",
    messageId: id,
    headers: { [HEADER_ID]: id },
    persistent: true,
    mandatory: true,
    ...more,
  };
}

async function claimedIds(store: ReturnType<typeof memoryOutboxStore>): Promise<string[]> {
  return (await store.claim(CLAIM)).rows.map(({ id }) => id);
}

describe("An outbox in memory", () => {
  it("leaves nobody with a promise it was handed and had no use for", async () => {
    const complaints = new Complaints();
    const store = memoryOutboxStore();
    await assert.rejects(
      store.addAll(undefined, [Promise.reject(new Error("no codec"))], { orderingKey: 7 as unknown as string }),
      /'orderingKey'/,
    );
    await nextTurn();
    complaints.close();
    assert.deepEqual(complaints.heard, []);
  });
});

describe("A transaction of an outbox in memory", () => {
  it("shows what was added when it is over, all at once, and not a moment before [OBX-01]", async () => {
    const store = memoryOutboxStore();
    await store.transaction(async (tx) => {
      await store.add(tx, message("a"));
      await store.add(tx, Promise.resolve(message("b")));
      assert.equal((await store.stats()).pending, 0);
      assert.deepEqual(await claimedIds(store), []);
    });
    assert.deepEqual(await claimedIds(store), ["a", "b"]);
  });

  it("shows nothing when its work rejects, and rejects with the same [OBX-01]", async () => {
    const store = memoryOutboxStore();
    const reason = new Error("no such product");
    const failing = store.transaction(async (tx) => {
      await store.add(tx, message("a"));
      throw reason;
    });
    await assert.rejects(failing, (error) => error === reason);
    assert.equal((await store.stats()).pending, 0);
  });

  it("keeps its rows' places in the order when it commits behind a later one [OB-10]", async () => {
    const store = memoryOutboxStore();
    const begun = deferred();
    const end = deferred();
    const slow = store.transaction(async (tx) => {
      await store.add(tx, message("first"));
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    await store.transaction((tx) => store.add(tx, message("second")));
    end.resolve();
    await slow;
    assert.deepEqual(await claimedIds(store), ["first", "second"]);
  });

  it("takes nothing once it is over, nor for another store, nor where there is none [OBX-01]", async () => {
    const store = memoryOutboxStore();
    const over = await store.transaction((tx) => tx);
    await assert.rejects(store.add(over, message("a")), { name: "TypeError", message: /it is over/ });
    await memoryOutboxStore().transaction(async (tx) => {
      await assert.rejects(store.add(tx, message("a")), { name: "TypeError", message: /one of another store/ });
    });
    await assert.rejects(store.add(undefined, message("a")), { name: "TypeError", message: /none of this store/ });
    assert.equal((await store.stats()).pending, 0);
    await store.add(undefined, message("a"), { outsideTransaction: true });
    assert.deepEqual(await claimedIds(store), ["a"]);
  });
});

describe("An outbox in memory", () => {
  it("keeps the bytes as they were when they were added [OBX-09]", async () => {
    const store = memoryOutboxStore();
    const outbound = message("a");
    await store.transaction((tx) => store.add(tx, outbound));
    outbound.body.fill(0);
    const [row] = (await store.claim(CLAIM)).rows;
    assert.ok(row !== undefined && "outbound" in row);
    assert.equal(new TextDecoder().decode(row.outbound.body), "a");
  });

  it("refuses what a row has no place for [OB-26]", async () => {
    const store = memoryOutboxStore();
    const lost: Partial<Outbound>[] = [{ priority: 0 }, { expirationMs: 60_000 }, { replyTo: "answers" }];
    const nameless = message("", { headers: {}, messageId: undefined });
    for (const outbound of [...lost.map((more) => message("a", more)), nameless]) {
      await assert.rejects(store.transaction((tx) => store.add(tx, outbound)), {
        code: "ACEMQ_PUBLISH_REFUSED",
      });
    }
    assert.equal((await store.stats()).pending, 0);
  });

  it("is made of an attempt at least [OBX-13]", () => {
    for (const maxAttempts of [0, -1, 1.5, NaN]) assert.throws(() => memoryOutboxStore({ maxAttempts }), RangeError);
  });

  it("tells of what was added, before the commit, until nobody wants to hear", async () => {
    const store = memoryOutboxStore();
    const heard: (readonly string[])[] = [];
    const end = store.onAdded((ids) => heard.push(ids));
    await store.transaction(async (tx) => {
      await store.addAll(tx, [message("a"), message("b")]);
      assert.deepEqual(heard, [["a", "b"]]);
    });
    end();
    await store.transaction((tx) => store.add(tx, message("c")));
    assert.deepEqual(heard, [["a", "b"]]);
  });

  it("measures leases by its clock, not by the age of a row, and lets a mark through while nobody has taken over [OB-30]", async () => {
    const clock = virtualClock();
    const store = memoryOutboxStore({ clock });
    await store.transaction((tx) => store.addAll(tx, [message("a"), message("b")]));
    await clock.advance(3_600_000);
    const { token } = await store.claim(CLAIM);
    await clock.advance(59_999);
    assert.deepEqual(await claimedIds(store), []);
    await clock.advance(1);
    assert.equal(await store.markPublished(token, ["a"]), 1);
    assert.deepEqual(await claimedIds(store), ["b"]);
    assert.equal(await store.markPublished(token, ["b"]), 0);
  });
});
