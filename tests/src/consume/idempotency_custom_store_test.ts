/** A store of an application's own: it is told by what it can do, and what it answers is looked at. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryIdempotencyStore } from "../../../adapters/memory/mod.ts";
import type { ConsumeOptions } from "../../../src/consume/options.ts";
import type { IdempotencyStore, TwoAnswerStore } from "../../../src/ports/idempotency_store.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { otherwise, Payments, QUEUE } from "../../support/payments.ts";

const THREE_ATTEMPTS = { retry: fixedRetry(3, { delayMs: 10 }) };

/** A store of two answers in a map, of which some methods do otherwise. */
function twoAnswers(changes: Partial<Record<keyof TwoAnswerStore, unknown>> = {}): TwoAnswerStore {
  const rows = new Map<string, "claimed" | "confirmed">();
  const store: TwoAnswerStore = {
    claim: (id) => !rows.has(id) && rows.set(id, "claimed").has(id),
    isConfirmed: (id) => rows.get(id) === "confirmed",
    confirm: (id) => void rows.set(id, "confirmed"),
    release: (id) => void rows.delete(id),
  };
  // What JavaScript hands in.
  return { ...store, ...changes as Partial<TwoAnswerStore> };
}

/** What JavaScript hands in. */
function wrongly(changes: Readonly<Record<string, unknown>>): (store: IdempotencyStore) => IdempotencyStore {
  return otherwise(() => changes as Partial<IdempotencyStore>);
}

/** Why a message is among the dead letters. */
function reasonOf(payments: Payments): string {
  const [dead] = payments.world.waiting(`${QUEUE}.dlq`);
  return String(dead?.headers["x-acemq-error"]);
}

describe("an idempotency store of an application's own", () => {
  it("is taken for a store by its methods, also with a member called 'store' or 'key'", async () => {
    const members = { store: new Map(), key: "orders", renewLease: "never" };
    const three = (payments: Payments): object => Object.assign(otherwise(() => ({}))(payments.store), members);
    for (const make of [three, () => Object.assign(twoAnswers(), members)]) {
      const payments = new Payments();
      await payments.consume(() => {}, { idempotency: make(payments) as IdempotencyStore });
      for (let time = 0; time < 3; time++) payments.put("a");
      await payments.pass(10);
      assert.deepEqual([payments.attempts.length, payments.settled("acked")], [1, 3]);
      await payments.world.close();
    }
  });

  it("is taken for one also when its methods are those of a class", async () => {
    class OfOurOwn implements TwoAnswerStore {
      readonly store = "of claims";
      readonly #rows = twoAnswers();
      claim(id: string): boolean | Promise<boolean> {
        return this.#rows.claim(id);
      }
      isConfirmed(id: string): boolean | Promise<boolean> {
        return this.#rows.isConfirmed(id);
      }
      confirm(id: string): void | Promise<void> {
        return this.#rows.confirm(id);
      }
      release(id: string): void | Promise<void> {
        return this.#rows.release(id);
      }
    }
    const payments = new Payments();
    await payments.consume(() => {}, { idempotency: new OfOurOwn() });
    for (let time = 0; time < 2; time++) payments.put("a");
    await payments.pass(10);
    assert.deepEqual([payments.attempts.length, payments.settled("acked")], [1, 2]);
    await payments.world.close();
  });

  it("is refused before anything is declared when it is none, lacks a method, or has a time that is none", async () => {
    const payments = new Payments();
    const mq = await payments.world.withQueue(QUEUE);
    const queues = payments.world.broker.queues;
    const lacks = (name: string): RegExp => new RegExp(`a store with the method '\\w+' must have '${name}' too`);
    const time = (name: string): RegExp => new RegExp(`Cannot use option '${name}': it must be a finite number`);
    const refused: readonly (readonly [given: unknown, message: RegExp])[] = [
      [null, /Cannot use option 'idempotency': it must be an object, found null/],
      ["memory", /it must be an object, found string/],
      [{}, /it must be a store such as memoryIdempotencyStore\(\), or have one as 'store', found undefined/],
      [{ store: { tryClaim: true } }, /or have one as 'store', found object/],
      [{ tryClaim: true }, /'tryClaim'.* none of that name/],
      [twoAnswers({ release: undefined }), lacks("release")],
      [twoAnswers({ isConfirmed: true }), lacks("isConfirmed")],
      [wrongly({ renew: undefined })(payments.store), lacks("renew")],
      [{ store: wrongly({ count: 7 })(payments.store) }, lacks("count")],
      [wrongly({ claimTimeoutMs: 0 })(payments.store), time("claimTimeoutMs")],
      [wrongly({ retentionMs: "1h" })(payments.store), time("retentionMs")],
      [wrongly({ inProgressDelayMs: Infinity })(payments.store), time("inProgressDelayMs")],
      [wrongly({ purgeIntervalMs: NaN })(payments.store), time("purgeIntervalMs")],
    ];
    for (const [given, message] of refused) {
      const options = { idempotency: given } as ConsumeOptions;
      await assert.rejects(mq.consume(QUEUE, () => {}, options), { message }, String(message));
    }
    assert.deepEqual(payments.world.broker.queues, queues);
    await payments.world.close();
  });

  it("that answers a claim with what is no answer has a message tried again, and never handled", async () => {
    const answers: readonly (readonly [answer: unknown, found: string])[] = [
      [{ status: "duplicate" }, `'status' "duplicate"`],
      [{ status: "claimed" }, `'status' "claimed"`],
      [{ status: "claimed", token: 7 }, `'status' "claimed"`],
      [{}, "object"],
      [true, "boolean"],
      [undefined, "undefined"],
    ];
    for (const [answer, found] of answers) {
      const payments = new Payments({}, wrongly({ tryClaim: () => answer }));
      await payments.consume(() => {}, THREE_ATTEMPTS);
      payments.put("a");
      await payments.pass(1_000);
      assert.deepEqual([payments.attempts, payments.settled("retried")], [[], 2]);
      const text = reasonOf(payments);
      assert.match(text, /^exhausted 3 attempts: StoreError: .*'tryClaim': it must be 'status' claimed with a 'token'/);
      assert.ok(text.endsWith(`found ${found}`), text);
      await payments.world.close();
    }
  });

  it("of two answers that gives another one has a message tried again, and never handled", async () => {
    for (const changes of [{ claim: () => undefined }, { claim: () => false, isConfirmed: () => 1 }]) {
      const payments = new Payments();
      await payments.consume(() => {}, { ...THREE_ATTEMPTS, idempotency: twoAnswers(changes) });
      payments.put("a");
      await payments.pass(1_000);
      assert.deepEqual([payments.attempts, payments.settled("retried")], [[], 2]);
      assert.match(reasonOf(payments), /StoreError: .*: it must be true or false, found (?:undefined|number)$/);
      await payments.world.close();
    }
  });

  it("is never asked for a message without a key, which is rejected", async () => {
    const keys: readonly unknown[] = ["", undefined, 7];
    for (const key of keys) {
      const payments = new Payments();
      let asked = 0;
      const store = twoAnswers({ claim: () => ++asked > 0 });
      await payments.consume(() => {}, { idempotency: { store, key: () => key as string }, ...THREE_ATTEMPTS });
      payments.put("a");
      await payments.pass(1_000);
      assert.deepEqual([asked, payments.attempts, payments.settled("rejected")], [0, [], 1]);
      assert.match(reasonOf(payments), /^it cannot be claimed: FatalError: Cannot claim a message: its id/);
      await payments.world.close();
    }
  });

  it("that answers a confirmation with what is no answer has done nothing that counts: a warning, and the message is through", async () => {
    const payments = new Payments({}, wrongly({ confirm: async () => true }));
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass();
    assert.deepEqual([payments.settled("acked"), payments.claims("unconfirmed")], [1, 1]);
    const [warning] = payments.world.sink.events("acemq.idempotency.confirm_failed");
    assert.match(String(warning?.fields["error"]), /'confirm': it must be held or lost, found boolean/);
    await payments.world.close();
  });

  it("that answers a release or a renewal with what is no answer is warned about, and the lease runs out", async () => {
    const payments = new Payments({ claimTimeoutMs: 3_000 }, wrongly({ release: () => 1, renew: () => "held" }));
    let told = 0;
    await payments.consume(({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          told = payments.world.clock.elapsed();
          reject(new Error("out of time"));
        })
      ), { idempotency: { store: payments.store, renewLease: true } });
    payments.put("a");
    await payments.pass(5_000);
    assert.equal(told, 3_000);
    for (const [event, count] of [["renew_failed", 2], ["release_failed", 1]] as const) {
      const events = payments.world.sink.events(`acemq.idempotency.${event}`);
      assert.equal(events.length, count, event);
      assert.match(String(events[0]?.fields["error"]), /StoreError: .* found "?(?:held|number)/);
    }
    await payments.world.close();
  });

  it("that throws instead of rejecting, wherever it is asked, keeps no claim and loses no message", async () => {
    const thrown = (): never => {
      throw new Error("thrown");
    };
    const methods = ["count", "renew", "release", "purgeExpired"] as const;
    for (const method of methods) {
      const payments = new Payments({ claimTimeoutMs: 3_000 }, wrongly({ [method]: thrown, purgeIntervalMs: 100 }));
      let fails = method === "release";
      await payments.consume(async () => {
        await payments.world.clock.delay(1_500);
        if (fails) throw new Error("once");
      }, { ...THREE_ATTEMPTS, idempotency: { store: payments.store, renewLease: true } });
      payments.put("a");
      await payments.pass(1_600);
      fails = false;
      await payments.pass(5_000);
      assert.equal(payments.settled("acked"), 1, method);
      assert.equal(payments.attempts.length, method === "release" ? 2 : 1, method);
      if (method !== "release") assert.equal(payments.claims("in_progress"), 0, method);
      assert.equal(await payments.store.isConfirmed("a"), true, method);
      await payments.world.close();
    }
  });

  it("costs no message whatever the telemetry does with its figures", async () => {
    const thrown = (): never => {
      throw new Error("the sink is full");
    };
    for (const sink of [{ metric: thrown, log: thrown }, { metric: () => Promise.reject(new Error("later")) }]) {
      const payments = new Payments();
      await payments.world.withQueue(QUEUE, { telemetry: sink });
      let handled = 0;
      const store = memoryIdempotencyStore({ clock: payments.world.clock });
      await payments.consume(() => void handled++, { idempotency: store });
      payments.put("a");
      await payments.pass();
      assert.deepEqual([handled, await store.isConfirmed("a")], [1, true]);
      await payments.world.close();
    }
  });
});
