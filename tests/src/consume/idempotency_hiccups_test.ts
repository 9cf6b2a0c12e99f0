/** A store that hiccups or hangs under a consumer: what is done is confirmed while the lease runs, and nobody waits longer than that. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { park } from "../../../src/consume/ack.ts";
import { AceMqError, ClaimUnconfirmedError, FatalError, StoreError } from "../../../src/errors.ts";
import type { Message } from "../../../src/message/message.ts";
import type { ClaimFate, IdempotencyStore, RenewAnswer } from "../../../src/ports/idempotency_store.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { otherwise, Payments, QUEUE } from "../../support/payments.ts";
import { type Deferred, deferred } from "../../support/until.ts";

const AWAY = (): Promise<never> => Promise.reject(new StoreError("The database is away"));
const HANGS = (): Promise<never> => new Promise(() => {});
const LEASE_MS = 9_000;
const THREE_ATTEMPTS = { retry: fixedRetry(3, { delayMs: 10 }) };

/** A store of which `confirm` does otherwise so many times, and as it should from then on. */
function confirmsLate(times: number, first: () => Promise<ClaimFate>): (store: IdempotencyStore) => IdempotencyStore {
  let left = times;
  return otherwise((store) => ({ confirm: (id, token) => left-- > 0 ? first() : store.confirm(id, token) }));
}

/** What a handler's own confirmation ended with, and when. */
class Confirmation {
  error: unknown;
  atMs: number | undefined;
  readonly #payments: Payments;

  constructor(payments: Payments) {
    this.#payments = payments;
  }

  async of(message: Message): Promise<void> {
    await message.confirm().catch((error: unknown) => this.error = error);
    this.atMs = this.#payments.world.clock.elapsed();
  }
}

describe("a handler's own confirmation", () => {
  it("is tried again after a hiccup of the database, so that work whose money has moved is not done again", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, confirmsLate(2, AWAY));
    let charged = 0;
    await payments.consume(async (message) => {
      charged++;
      await message.confirm();
      throw new Error("the receipt email service is down");
    }, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(LEASE_MS);
    assert.equal(charged, 1);
    assert.deepEqual([payments.settled("retried"), payments.settled("acked")], [1, 1]);
    assert.equal(await payments.store.isConfirmed("a"), true);
    await payments.world.close();
  });

  it("is asked for less and less often until the lease ends, and is refused then by an error of its own", async () => {
    const asked: number[] = [];
    const payments = new Payments(
      { claimTimeoutMs: LEASE_MS },
      otherwise(() => ({
        confirm: () => {
          asked.push(payments.world.clock.elapsed());
          return AWAY();
        },
      })),
    );
    const confirmation = new Confirmation(payments);
    await payments.consume(async (message) => {
      await confirmation.of(message);
      return park("charged, and not on record");
    });
    payments.put("a");
    await payments.pass(LEASE_MS - 1);
    assert.equal(confirmation.atMs, undefined);
    await payments.pass(1);
    const { error } = confirmation;
    assert.ok(error instanceof ClaimUnconfirmedError && error instanceof FatalError && error instanceof AceMqError);
    assert.equal(error.code, "ACEMQ_CLAIM_UNCONFIRMED");
    assert.match(
      error.message,
      /^Cannot confirm message "a": the store did not do it, or did not say so, while the lease ran$/,
    );
    assert.ok(error.cause instanceof StoreError);
    assert.deepEqual([asked[0], asked.at(-1)], [0, LEASE_MS]);
    const waits = asked.slice(1, -1).map((ms, at) => ms - (asked[at] ?? 0));
    assert.ok(waits.length > 3 && waits.every((ms, at) => ms >= (waits[at - 1] ?? 0)), waits.join());
    assert.deepEqual([payments.claims("unconfirmed"), payments.settled("parked")], [1, 1]);
    await payments.world.close();
  });

  it("that is refused and let out of the handler leaves the message among the dead letters, handled once", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, otherwise(() => ({ confirm: AWAY })));
    await payments.consume((message) => message.confirm(), THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(3 * LEASE_MS);
    assert.deepEqual(payments.attempts, [1]);
    const [dead] = payments.world.waiting(`${QUEUE}.dlq`);
    assert.match(String(dead?.headers["x-acemq-error"]), /ClaimUnconfirmedError: Cannot confirm message "a"/);
    assert.deepEqual([payments.settled("rejected"), payments.claims("unconfirmed")], [1, 1]);
    assert.equal(payments.world.sink.events("acemq.idempotency.confirm_failed").length, 1);
    await payments.world.close();
  });

  it("that is refused, and was not made after all, lets a handler that throws something else be called again", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, confirmsLate(12, AWAY));
    let charged = 0;
    await payments.consume(async (message) => {
      charged++;
      await message.confirm().catch(() => {
        charged--;
        throw new Error("refunded");
      });
    }, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(3 * LEASE_MS);
    assert.deepEqual([charged, payments.attempts], [1, [1, 2]]);
    assert.equal(await payments.store.isConfirmed("a"), true);
    assert.deepEqual([payments.claims("unconfirmed"), payments.settled("acked")], [1, 1]);
    await payments.world.close();
  });

  it("is not waited for beyond the lease when the store never answers", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, otherwise(() => ({ confirm: HANGS })));
    const confirmation = new Confirmation(payments);
    await payments.consume((message) => confirmation.of(message));
    payments.put("a");
    await payments.pass(LEASE_MS);
    assert.ok(confirmation.error instanceof ClaimUnconfirmedError);
    assert.equal(confirmation.atMs, LEASE_MS);
    await payments.pass(LEASE_MS);
    assert.deepEqual([payments.settled("acked"), payments.claims("unconfirmed")], [1, 1]);
    await payments.world.close();
  });

  it("is given up after five minutes where a store of two answers knows no leases", async () => {
    const payments = new Payments();
    const confirmation = new Confirmation(payments);
    const store = { claim: () => true, isConfirmed: () => false, confirm: AWAY, release: () => {} };
    await payments.consume((message) => confirmation.of(message), { idempotency: store });
    payments.put("a");
    await payments.pass(299_999);
    assert.equal(confirmation.atMs, undefined);
    await payments.pass(1);
    assert.ok(confirmation.error instanceof ClaimUnconfirmedError);
    await payments.world.close();
  });

  it("is one, however often it is asked for, and waited for when the handler did not", async () => {
    const answered = deferred();
    let asked = 0;
    const payments = new Payments(
      {},
      otherwise((store) => ({
        confirm: async (id, token) => {
          asked++;
          await answered.promise;
          return await store.confirm(id, token);
        },
      })),
    );
    await payments.consume((message) => {
      for (let time = 0; time < 3; time++) void message.confirm();
      throw new Error("the receipt email service is down");
    }, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(5_000);
    answered.resolve();
    await payments.pass(1_000);
    assert.deepEqual([asked, payments.attempts], [1, [1]]);
    assert.deepEqual([payments.settled("retried"), payments.settled("acked")], [1, 1]);
    await payments.world.close();
  });

  it("is tried a last time when the budget of a drain ends, and keeps no consumer from closing", async () => {
    const payments = new Payments({}, otherwise(() => ({ confirm: AWAY })));
    const confirmation = new Confirmation(payments);
    await payments.consume((message) => confirmation.of(message));
    payments.put("a");
    await payments.pass(1_000);
    const closed = payments.world.connections[0]?.close();
    await payments.pass(60_000);
    assert.deepEqual(await closed, { drained: true, stranded: 0 });
    assert.ok(confirmation.error instanceof ClaimUnconfirmedError);
    assert.equal(confirmation.atMs, 21_000);
  });
});

describe("the confirmation of what a handler has accepted", () => {
  it("is made while the link to the broker is lost: the redelivery is a duplicate", async () => {
    let isAway = true;
    const payments = new Payments(
      { claimTimeoutMs: LEASE_MS },
      otherwise((store) => ({ confirm: (id, token) => isAway ? AWAY() : store.confirm(id, token) })),
    );
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(100);
    await payments.world.faults.lose();
    await payments.pass(1_000);
    isAway = false;
    await payments.pass(5_000);
    assert.equal(await payments.store.isConfirmed("a"), true);
    await payments.world.faults.recover();
    await payments.pass(1_000);
    assert.deepEqual(payments.attempts, [1]);
    assert.deepEqual([payments.claims("already_confirmed"), payments.claims("unconfirmed")], [1, 0]);
    assert.equal(payments.world.depth(QUEUE), 0);
    await payments.world.close();
  });

  it("ends with the lease when the link is lost and the store never answers, and the message is begun again then", async () => {
    let isHanging = true;
    const payments = new Payments(
      { claimTimeoutMs: LEASE_MS },
      otherwise((store) => ({ confirm: (id, token) => isHanging ? HANGS() : store.confirm(id, token) })),
    );
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(100);
    await payments.world.faults.lose();
    await payments.world.faults.recover();
    isHanging = false;
    await payments.pass(LEASE_MS - 101);
    assert.deepEqual(payments.attempts, [1]);
    await payments.pass(2_000);
    assert.deepEqual([payments.attempts, payments.claims("unconfirmed")], [[1, 1], 1]);
    await payments.world.close();
  });

  it("goes on while a consumer drains", async () => {
    const payments = new Payments({}, confirmsLate(4, AWAY));
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(10);
    const closed = payments.world.connections[0]?.close();
    await payments.pass(5_000);
    assert.deepEqual(await closed, { drained: true, stranded: 0 });
    assert.equal(await payments.store.isConfirmed("a"), true);
    assert.deepEqual([payments.settled("acked"), payments.claims("unconfirmed")], [1, 0]);
  });
});

describe("the release of what a handler has not accepted", () => {
  it("is not waited for beyond the lease when the store never answers", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, otherwise(() => ({ release: HANGS })));
    await payments.consume(() => {
      throw new Error("declined");
    }, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(LEASE_MS - 1);
    assert.equal(payments.settled("retried"), 0);
    await payments.pass(1_000);
    assert.deepEqual(payments.attempts, [1, 2]);
    assert.equal(payments.world.sink.events("acemq.idempotency.release_failed").length, 1);
    await payments.world.close();
  });
});

/** A payment whose lease is renewed, and what its handler was told. */
async function renewing(
  renew: (store: IdempotencyStore) => (id: string, token: string) => Promise<RenewAnswer>,
): Promise<{ readonly payments: Payments; readonly told: string[]; readonly done: (error?: Error) => void }> {
  const payments = new Payments({ claimTimeoutMs: LEASE_MS }, otherwise((store) => ({ renew: renew(store) })));
  const [over, told] = [deferred(), [] as string[]];
  await payments.consume(async ({ signal }) => {
    signal.addEventListener("abort", () => told.push(`${payments.world.clock.elapsed()} ${signal.reason.name}`));
    await over.promise;
  }, { idempotency: { store: payments.store, renewLease: true } });
  payments.put("a");
  await payments.pass();
  return { payments, told, done: (error) => error === undefined ? over.resolve() : over.reject(error) };
}

describe("a handler whose lease is renewed", () => {
  it("is told when its lease ends, whatever the renewal does", async () => {
    for (const renew of [HANGS, AWAY]) {
      const { payments, told, done } = await renewing(() => renew);
      await payments.pass(LEASE_MS - 1);
      assert.deepEqual(told, []);
      await payments.pass(1);
      assert.deepEqual(told, [`${LEASE_MS} LeaseLostError`]);
      assert.equal(payments.world.sink.events("acemq.idempotency.lease_outlived").length, 1);
      done();
      await payments.world.close();
    }
  });

  it("has its claim confirmed by the token of a renewal that is answered late", async () => {
    const answer = deferred();
    const { payments, done } = await renewing((store) => async (id, token) => {
      // As where the time is the token: another one from now on.
      await store.release(id, token);
      const again = await store.tryClaim(id);
      assert.ok(again.status === "claimed");
      await answer.promise;
      return { status: "held", token: again.token };
    });
    await payments.pass(4_000);
    done();
    await payments.pass(1_000);
    assert.equal(payments.settled("acked"), 0);
    answer.resolve();
    await payments.pass(1_000);
    assert.deepEqual([payments.settled("acked"), payments.claims("lost")], [1, 0]);
    assert.equal(await payments.store.isConfirmed("a"), true);
    await payments.world.close();
  });

  it("has its claim released by the token of a renewal that is answered late", async () => {
    const answer = deferred();
    const { payments, done } = await renewing((store) => async (id, token) => {
      await store.release(id, token);
      const again = await store.tryClaim(id);
      assert.ok(again.status === "claimed");
      await answer.promise;
      return { status: "held", token: again.token };
    });
    await payments.pass(4_000);
    done(new FatalError("No such account"));
    await payments.pass(1_000);
    answer.resolve();
    await payments.pass(1_000);
    assert.equal(payments.settled("rejected"), 1);
    assert.equal((await payments.store.tryClaim("a")).status, "claimed");
    await payments.world.close();
  });

  it("that was told so by its renewal has lost its claim once, and not a second time when it ends", async () => {
    const { payments, told, done } = await renewing(() => async () => ({ status: "lost" }));
    await payments.pass(LEASE_MS);
    assert.equal(told.length, 1);
    assert.equal((await payments.store.tryClaim("a")).status, "claimed");
    done();
    await payments.pass(1_000);
    assert.deepEqual([payments.claims("lost"), payments.settled("acked")], [1, 1]);
    await payments.world.close();
  });
});

describe("a claim that the store answers when its lease has ended", () => {
  /** A store whose first claim is answered when the test says so. */
  function late(claimTimeoutMs = LEASE_MS): { readonly payments: Payments; readonly answer: () => void } {
    const answer = deferred();
    let left = 1;
    const payments = new Payments(
      { claimTimeoutMs },
      otherwise((store) => ({
        tryClaim: async (id) => {
          const answered = await store.tryClaim(id);
          if (left-- > 0) await answer.promise;
          return answered;
        },
      })),
    );
    return { payments, answer: () => answer.resolve() };
  }

  it("is given back and never handled: the message is tried again, as after any claim that failed", async () => {
    const { payments, answer } = late();
    const released: string[] = [];
    await payments.consume(() => {}, {
      ...THREE_ATTEMPTS,
      idempotency: otherwise((store) => ({
        release: (id, token) => {
          released.push(id);
          return store.release(id, token);
        },
      }))(payments.store),
    });
    payments.put("a");
    await payments.pass(LEASE_MS);
    answer();
    await payments.pass();
    assert.deepEqual([payments.attempts, released], [[], ["a"]]);
    await payments.pass(1_000);
    assert.deepEqual(payments.attempts, [2]);
    assert.deepEqual([payments.settled("retried"), payments.settled("acked")], [1, 1]);
    await payments.world.close();
  });

  it("and that somebody else has by now is in progress, and spends no attempt", async () => {
    const { payments, answer } = late();
    await payments.consume(() => {}, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(LEASE_MS);
    const taken = await payments.store.tryClaim("a");
    assert.ok(taken.status === "claimed");
    answer();
    await payments.pass(500);
    await payments.store.confirm("a", taken.token);
    await payments.pass(1_000);
    assert.deepEqual(payments.attempts, []);
    assert.deepEqual([payments.settled("in_progress"), payments.settled("retried")], [1, 0]);
    assert.equal(payments.settled("acked"), 1);
    await payments.world.close();
  });

  it("is dead-lettered, saying so, when that never changes", async () => {
    const payments: Payments = new Payments(
      { claimTimeoutMs: LEASE_MS },
      otherwise((store) => ({
        tryClaim: async (id) => {
          const answered = await store.tryClaim(id);
          await payments.world.clock.delay(LEASE_MS);
          return answered;
        },
      })),
    );
    await payments.consume(() => {}, THREE_ATTEMPTS);
    payments.put("a");
    await payments.pass(4 * LEASE_MS);
    assert.deepEqual(payments.attempts, []);
    const [dead] = payments.world.waiting(`${QUEUE}.dlq`);
    assert.match(
      String(dead?.headers["x-acemq-error"]),
      /^exhausted 3 attempts: StoreError: .* its lease of 9000 ms was over/,
    );
    await payments.world.close();
  });

  it("is given back when the broker has taken the message back meanwhile, and handled when it comes again", async () => {
    const { payments, answer } = late();
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(1_000);
    await payments.world.faults.lose();
    await payments.world.faults.recover();
    answer();
    await payments.pass(2_000);
    assert.deepEqual(payments.attempts, [1]);
    assert.deepEqual([payments.claims("claimed"), payments.settled("acked")], [2, 1]);
    await payments.world.close();
  });

  it("is given back when the consumer has closed meanwhile, and the message is on its queue", async () => {
    const { payments, answer } = late(300_000);
    await payments.consume(() => {});
    payments.put("a");
    await payments.pass(1_000);
    const closed = payments.world.connections[0]?.close();
    await payments.pass(60_000);
    assert.deepEqual(await closed, { drained: false, stranded: 1 });
    answer();
    await payments.pass();
    assert.deepEqual([payments.attempts, payments.world.depth(QUEUE)], [[], 1]);
    assert.equal((await payments.store.tryClaim("a")).status, "claimed");
  });
});

/** Payments whose first claim is answered when `late` is resolved, given up by now; its next attempt waits. */
async function givenUp(): Promise<{ readonly payments: Payments; readonly late: Deferred; handled: number }> {
  const late = deferred();
  let hangs = true;
  const payments = new Payments(
    { claimTimeoutMs: LEASE_MS },
    otherwise((store) => ({
      tryClaim: async (id) => {
        if (hangs) await late.promise;
        return await store.tryClaim(id);
      },
    })),
  );
  const found = { payments, late, handled: 0 };
  await payments.consume(() => void found.handled++, THREE_ATTEMPTS);
  payments.put("a");
  await payments.pass(2 * LEASE_MS - 1);
  assert.equal(payments.settled("retried"), 0);
  await payments.pass(1);
  hangs = false;
  return found;
}

describe("a store that never answers", () => {
  it("has a message claimed again after two leases", async () => {
    const found = await givenUp();
    const { payments, late } = found;
    await payments.pass(10);
    assert.deepEqual([payments.settled("retried"), found.handled], [1, 1]);
    late.resolve();
    await payments.world.close();
  });

  it("has what it claims later than that released", async () => {
    const found = await givenUp();
    const { payments, late } = found;
    late.resolve();
    await payments.pass(10);
    assert.deepEqual([payments.settled("retried"), found.handled, payments.claims("in_progress")], [1, 1, 0]);
    await payments.world.close();
  });

  it("does not keep a consumer from being given up before it has begun", async () => {
    const payments = new Payments({ claimTimeoutMs: LEASE_MS }, otherwise(() => ({ check: HANGS })));
    const given = new AbortController();
    const beginning = payments.consume(() => {}, { signal: given.signal });
    given.abort(new Error("too late"));
    await assert.rejects(beginning, /^Error: too late$/);
    await payments.world.close();
  });
});
