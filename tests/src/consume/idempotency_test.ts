/** A consumer with an idempotency store: contract patterns 4.2 and core 3.7. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryIdempotencyStore } from "../../../adapters/memory/mod.ts";
import { park, reject, retry } from "../../../src/consume/ack.ts";
import { FatalError, StoreError } from "../../../src/errors.ts";
import { exponentialRetry, fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { MemoryWorld } from "../../support/memory_world.ts";
import { otherwise, Payments, QUEUE } from "../../support/payments.ts";
import { deferred } from "../../support/until.ts";

describe("a consumer with an idempotency store", () => {
  it("handles a message once, however often it comes, and counts the others as duplicates", async () => {
    const payments = new Payments();
    await payments.consume(() => {});
    for (const id of ["a", "a", "b", "a"]) payments.put(id);
    await payments.pass();
    assert.equal(payments.attempts.length, 2);
    assert.deepEqual([payments.claims("claimed"), payments.claims("already_confirmed")], [2, 2]);
    assert.equal(payments.settled("acked"), 4);
    assert.equal(payments.world.depth(QUEUE), 0);
    await payments.world.close();
  });

  it("says so once when two queues of its connection claim the same ids in one store", async () => {
    const payments = new Payments();
    const warnings = (): unknown[] =>
      payments.world.sink.events("acemq.idempotency.store_shared").map((
        { fields },
      ) => [fields["queue"], fields["other"]]);
    await payments.consume(() => {});
    await payments.consume(() => {});
    const mq = payments.world.connections[0];
    assert.ok(mq !== undefined);
    await mq.declare(topology().queue("receipts").queue("labels"));
    const key = ({ id }: { readonly id: string }): string => `label:${id}`;
    await mq.consume("labels", () => {}, { idempotency: { store: payments.store, key } });
    assert.deepEqual(warnings(), []);
    await mq.consume("receipts", () => {}, { idempotency: { store: payments.store } });
    await mq.consume("receipts", () => {}, { idempotency: payments.store });
    assert.deepEqual(warnings(), [["receipts", QUEUE]]);
    await payments.world.close();
  });

  it("releases a claim when the handler throws, so that every attempt is made [IDM-14]", async () => {
    const payments = new Payments();
    await payments.consume(() => {
      throw new Error("declined");
    }, { retry: fixedRetry(3, { delayMs: 10 }) });
    payments.put("a");
    await payments.pass(100);
    assert.deepEqual(payments.attempts, [1, 2, 3]);
    assert.equal(payments.world.depth(`${QUEUE}.dlq`), 1);
    assert.equal(payments.claims("in_progress"), 0);
    await payments.world.close();
  });

  it("releases a claim for every word but acceptance", async () => {
    for (const word of [reject("no"), park("no"), retry(new Error("later"))]) {
      const payments = new Payments();
      await payments.consume(() => word);
      payments.put("a");
      await payments.pass();
      assert.equal((await payments.store.tryClaim("a")).status, "claimed", word.kind);
      await payments.world.close();
    }
  });

  it("calls what failed after the handler confirmed it a duplicate: charged, total 1", async () => {
    const payments = new Payments();
    let charged = 0;
    await payments.consume(async (message) => {
      charged++;
      await message.confirm();
      await message.confirm();
      throw new Error("the receipt email service is down");
    }, { retry: fixedRetry(3, { delayMs: 10 }) });
    payments.put("a");
    await payments.pass(100);
    assert.equal(charged, 1);
    assert.deepEqual([payments.settled("retried"), payments.settled("acked")], [1, 1]);
    assert.equal(payments.world.depth(`${QUEUE}.dlq`), 0);
    await payments.world.close();
  });

  it("waits while somebody else has the message, puts it back unchanged, and spends no attempt [IDM-01, IDM-20, ID-01]", async () => {
    const payments = new Payments({ inProgressDelayMs: 1_000, claimTimeoutMs: 3_000 });
    await payments.store.tryClaim("a");
    await payments.consume(() => {}, { retry: fixedRetry(2, { delayMs: 10 }) });
    payments.put("a");
    await payments.pass(2_999);
    assert.deepEqual([payments.attempts, payments.settled("in_progress")], [[], 2]);
    await payments.pass(1_001);
    assert.deepEqual(payments.attempts, [1]);
    assert.equal(payments.settled("in_progress"), 3);
    assert.deepEqual([payments.settled("retried"), payments.settled("dead_lettered")], [0, 0]);
    assert.equal(payments.world.sink.count("acemq.idempotency.takeovers.total"), 1);
    await payments.world.close();
  });

  it("is not kept from the next attempt by a release that fails: one more after the lease, none on .dlq [IDM-01]", async () => {
    const payments = new Payments(
      { claimTimeoutMs: 2_000 },
      otherwise(() => ({ release: () => Promise.reject(new StoreError("away")) })),
    );
    let fails = true;
    await payments.consume(() => {
      if (fails) throw new Error("once");
    }, { retry: fixedRetry(2, { delayMs: 10 }) });
    payments.put("a");
    await payments.pass(500);
    fails = false;
    await payments.pass(4_000);
    assert.deepEqual(payments.attempts, [1, 2]);
    assert.equal(payments.world.depth(`${QUEUE}.dlq`), 0);
    assert.equal(payments.world.sink.events("acemq.idempotency.release_failed").length, 1);
    await payments.world.close();
  });

  it("gives a message back at once when it closes during the wait [IDM-19]", async () => {
    const payments = new Payments({ inProgressDelayMs: 5_000 });
    await payments.store.tryClaim("a");
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(100);
    const closed = payments.world.connections[0]?.close();
    await payments.pass(100);
    assert.deepEqual(await closed, { drained: true, stranded: 0 });
    assert.equal(payments.world.depth(QUEUE), 1);
    assert.equal(payments.settled("in_progress"), 0);
  });

  it("retries a message whose claim cannot be made, and never acknowledges it [IDM-03]", async () => {
    let isAway = true;
    const payments = new Payments(
      {},
      otherwise((store) => ({
        tryClaim: (id) => isAway ? Promise.reject(new StoreError("away")) : store.tryClaim(id),
      })),
    );
    await payments.consume(() => {}, { retry: fixedRetry(5, { delayMs: 10 }) });
    payments.put("a");
    await payments.pass(25);
    assert.deepEqual([payments.attempts, payments.settled("retried")], [[], 2]);
    isAway = false;
    await payments.pass(100);
    assert.deepEqual(payments.attempts, [4]);
    await payments.world.close();
  });

  it("rejects what can never be claimed, saying why", async () => {
    const payments = new Payments();
    await payments.consume(() => {}, {
      idempotency: { store: payments.store, key: () => "" },
      retry: fixedRetry(5, { delayMs: 10 }),
    });
    payments.put("a");
    await payments.pass(100);
    const [dead] = payments.world.waiting(`${QUEUE}.dlq`);
    assert.match(String(dead?.headers["x-acemq-error"]), /^it cannot be claimed: FatalError: .*its id is empty/);
    assert.equal(payments.settled("rejected"), 1);
    await payments.world.close();
  });

  it("tries again to confirm what is done while the lease runs", async () => {
    let failures = 2;
    const payments = new Payments(
      {},
      otherwise((store) => ({
        confirm: (id, token) => failures-- > 0 ? Promise.reject(new StoreError("away")) : store.confirm(id, token),
      })),
    );
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(1_000);
    assert.equal(await payments.store.isConfirmed("a"), true);
    assert.deepEqual([payments.settled("acked"), payments.claims("unconfirmed")], [1, 0]);
    await payments.world.close();
  });

  it("acknowledges what is done when it cannot be confirmed within the lease, with a warning and a count", async () => {
    const payments = new Payments(
      { claimTimeoutMs: 10_000 },
      otherwise(() => ({ confirm: () => Promise.reject(new StoreError("away")) })),
    );
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(9_000);
    assert.equal(payments.settled("acked"), 0);
    await payments.pass(10_000);
    assert.deepEqual([payments.settled("acked"), payments.claims("unconfirmed")], [1, 1]);
    assert.equal(payments.world.sink.events("acemq.idempotency.confirm_failed").length, 1);
    await payments.world.close();
  });

  it("tells a handler that its lease has ended, by the signal, a warning and the message's own confirm", async () => {
    const payments = new Payments({ claimTimeoutMs: 1_000 });
    const done = deferred();
    const seen: unknown[] = [];
    await payments.consume(async (message) => {
      message.signal.addEventListener("abort", () => seen.push((message.signal.reason as Error).name));
      await done.promise;
      await message.confirm().catch((error: Error) => seen.push(error.name));
    });
    payments.put("a");
    await payments.pass(999);
    assert.deepEqual(seen, []);
    await payments.pass(1);
    assert.deepEqual(seen, ["LeaseLostError"]);
    assert.equal(payments.world.sink.events("acemq.idempotency.lease_outlived").length, 1);
    const taken = await payments.store.tryClaim("a");
    assert.equal(taken.status, "claimed");
    done.resolve();
    await payments.pass();
    assert.deepEqual(seen, ["LeaseLostError", "LeaseLostError"]);
    assert.deepEqual([payments.settled("acked"), payments.claims("lost")], [1, 1]);
    assert.deepEqual(await payments.store.tryClaim("a"), { status: "in_progress" });
    await payments.world.close();
  });

  it("puts a message back whose claim its handler has lost to somebody else, and spends no attempt", async () => {
    const payments = new Payments({ claimTimeoutMs: 1_000, inProgressDelayMs: 100 });
    const done = deferred();
    await payments.consume(async (message) => {
      await done.promise;
      await message.confirm().catch((cause: unknown) => {
        throw new Error("the payment was rolled back", { cause });
      });
    });
    payments.put("a");
    await payments.pass(1_000);
    const taken = await payments.store.tryClaim("a");
    assert.ok(taken.status === "claimed");
    done.resolve();
    await payments.pass(150);
    assert.deepEqual([payments.settled("in_progress"), payments.settled("dead_lettered")], [1, 0]);
    assert.equal(await payments.store.confirm("a", taken.token), "held");
    await payments.pass(100);
    assert.deepEqual(payments.attempts, [1]);
    assert.deepEqual([payments.settled("acked"), payments.world.depth(`${QUEUE}.dlq`)], [1, 0]);
    await payments.world.close();
  });

  it("counts an attempt of a handler that gave up at the end of its lease while nobody else had the message", async () => {
    const payments = new Payments({ claimTimeoutMs: 1_000 });
    await payments.consume(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      {
        retry: fixedRetry(2, { delayMs: 10 }),
      },
    );
    payments.put("a");
    await payments.pass(5_000);
    assert.deepEqual(payments.attempts, [1, 2]);
    assert.deepEqual([payments.settled("dead_lettered"), payments.settled("in_progress")], [1, 0]);
    await payments.world.close();
  });

  it("renews the lease of a long handler when it is asked to, and stops when it is through", async () => {
    let renewals = 0;
    const payments = new Payments(
      { claimTimeoutMs: 3_000 },
      otherwise((store) => ({
        renew: (id, token) => {
          renewals++;
          return store.renew(id, token);
        },
      })),
    );
    const done = deferred();
    let isAborted = false;
    await payments.consume(async (message) => {
      message.signal.addEventListener("abort", () => isAborted = true);
      await done.promise;
    }, { idempotency: { store: payments.store, renewLease: true } });
    payments.put("a");
    await payments.pass(30_000);
    assert.deepEqual(await payments.store.tryClaim("a"), { status: "in_progress" });
    assert.equal(isAborted, false);
    assert.ok(renewals >= 9 && renewals <= 30, `${renewals}`);
    done.resolve();
    await payments.pass();
    assert.equal(await payments.store.isConfirmed("a"), true);
    const before = renewals;
    await payments.pass(30_000);
    assert.equal(renewals, before);
    await payments.world.close();
  });

  it("tells a handler whose claim was taken over all the same, when it renews", async () => {
    const payments = new Payments(
      { claimTimeoutMs: 3_000 },
      otherwise(() => ({ renew: async () => ({ status: "lost" }) })),
    );
    const reasons: unknown[] = [];
    const done = deferred();
    await payments.consume(async (message) => {
      message.signal.addEventListener("abort", () => reasons.push((message.signal.reason as Error).name));
      await done.promise;
    }, { idempotency: { store: payments.store, renewLease: true } });
    payments.put("a");
    await payments.pass(1_000);
    assert.deepEqual(reasons, ["LeaseLostError"]);
    done.resolve();
    await payments.world.close();
  });

  it("takes no claim for a body it cannot read", async () => {
    const payments = new Payments();
    await payments.consume(() => {});
    payments.world.put(QUEUE, new TextEncoder().encode("{no"), { messageId: "a" });
    await payments.pass();
    assert.equal(payments.world.depth(`${QUEUE}.parked`), 1);
    assert.equal((await payments.store.tryClaim("a")).status, "claimed");
    await payments.world.close();
  });

  it("claims the key it is told to: two queues with one store keep a message apart", async () => {
    const payments = new Payments();
    await payments.store.confirm("a", (await payments.store.tryClaim("a") as { token: string }).token);
    await payments.consume(() => {}, { idempotency: { store: payments.store, key: ({ id }) => `charge:${id}` } });
    payments.put("a");
    await payments.pass();
    assert.equal(payments.attempts.length, 1);
    assert.equal(await payments.store.isConfirmed("charge:a"), true);
    await payments.world.close();
  });

  it("shows the handler its claim, and refuses to confirm without a store", async () => {
    const payments = new Payments();
    const claims: unknown[] = [];
    await payments.consume(({ claim, ...message }) => claims.push(claim?.id, typeof claim?.token, message));
    payments.put("a");
    await payments.pass();
    assert.deepEqual(claims.slice(0, 2), ["a", "string"]);
    const errors: unknown[] = [];
    const mq = await payments.world.withQueue("plain");
    await mq.consume("plain", async (message) => {
      assert.equal(message.claim, undefined);
      await message.confirm().catch((error) => errors.push(error));
    });
    payments.world.put("plain", 1);
    await payments.pass();
    assert.ok(errors[0] instanceof TypeError);
    await payments.world.close();
  });

  it("works with a store of two answers as it is [IDM-22]", async () => {
    const claimed = new Set<string>(["held elsewhere"]);
    const confirmed = new Set<string>(["old"]);
    const two = {
      claim: (id: string) => claimed.has(id) || confirmed.has(id) ? false : (claimed.add(id), true),
      isConfirmed: (id: string) => confirmed.has(id),
      confirm: (id: string) => void confirmed.add(id),
      release: (id: string) => void claimed.delete(id),
    };
    const payments = new Payments();
    await payments.consume(() => {}, { idempotency: two });
    for (const id of ["old", "new", "held elsewhere"]) payments.put(id);
    await payments.pass(1_500);
    assert.equal(payments.attempts.length, 1);
    assert.deepEqual([...confirmed], ["old", "new"]);
    assert.equal(payments.settled("in_progress"), 1);
    await payments.world.close();
  });

  it("is refused when its retries outlast what the store remembers, before anything is declared [ID-08]", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue(QUEUE);
    const before = world.broker.queues;
    const store = memoryIdempotencyStore({ retentionMs: 60_000 });
    const refused = [
      { retry: exponentialRetry(6, { initialDelayMs: 10_000, maxDelayMs: 60_000 }) },
      { retry: fixedRetry(2, { delayMs: 1_000 }), rungsMs: [120_000] },
      { retry: fixedRetry(61, { delayMs: 1_000 }) },
      // Looked at is the age at the failure, and then comes one more wait.
      { retry: fixedRetry(5, { delayMs: 40_000, maxMessageAgeMs: 20_000 }) },
    ];
    for (const options of refused) {
      await assert.rejects(mq.consume(QUEUE, () => {}, { ...options, idempotency: store }), {
        name: "RangeError",
        message: /its retries may come for \d+ ms, and the idempotency store forgets after 60000 ms/,
      });
    }
    assert.deepEqual(world.broker.queues, before);
    const fitting = [
      fixedRetry(60, { delayMs: 1_000 }),
      fixedRetry(5, { delayMs: 30_000, maxMessageAgeMs: 20_000 }),
      fixedRetry(2, { delayMs: 50_000, maxMessageAgeMs: 3_600_000 }),
    ];
    for (const retry of fitting) await mq.consume(QUEUE, () => {}, { retry, idempotency: store });
    await world.close();
  });

  it("does not start when its store cannot be used", async () => {
    const payments = new Payments({}, otherwise(() => ({ check: () => Promise.reject(new StoreError("away")) })));
    await assert.rejects(payments.consume(() => {}), { code: "ACEMQ_STORE" });
    await payments.world.close();
  });

  it("purges on the store's schedule while it runs, counts the rows once a minute, and stops with the consumer", async () => {
    const purges: number[] = [];
    const payments = new Payments(
      { purgeIntervalMs: 60_000 },
      otherwise(() => ({
        purgeIntervalMs: 60_000,
        purgeExpired: async () => {
          purges.push(purges.length);
          if (purges.length === 1) throw new StoreError("away");
          return 0;
        },
      })),
    );
    await payments.consume(() => {});
    await payments.pass(180_000);
    assert.equal(purges.length, 3);
    assert.equal(payments.world.sink.events("acemq.idempotency.purge_failed").length, 1);
    for (const id of ["a", "b"]) payments.put(id);
    await payments.pass(1);
    assert.equal(payments.world.sink.values("acemq.idempotency.rows").length, 1);
    await payments.world.close();
    await payments.pass(600_000);
    assert.equal(purges.length, 3);
  });

  it("rejects a fatal error of the handler, and frees the message for a person to replay", async () => {
    const payments = new Payments();
    await payments.consume(() => {
      throw new FatalError("No such account");
    });
    payments.put("a");
    await payments.pass();
    assert.equal(payments.settled("rejected"), 1);
    assert.equal((await payments.store.tryClaim("a")).status, "claimed");
    await payments.world.close();
  });
});
