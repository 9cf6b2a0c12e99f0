/**
 * Any number of claims, late confirmations, late releases and crashes, by holders whose clocks disagree: every store answers as the
 * state machine of the contract does (patterns 4.1, 4.8).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { memoryIdempotencyStore, virtualClock } from "../../adapters/memory/mod.ts";
import { postgresIdempotencyStore, postgresSession } from "../../adapters/postgres/mod.ts";
import type { IdempotencyLayoutName } from "../../adapters/sql/mod.ts";
import { type SqlIdempotencyStore, sqliteIdempotencyStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { AceMqError } from "../../src/errors.ts";
import type { ClaimedMessage, IdempotencyStore, OnceWithin } from "../../src/ports/idempotency_store.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { CLAIM_TIMEOUT_MS, RETENTION_MS } from "../contract/idempotency_store.ts";
import { ClaimModel, type RetentionFrom } from "../support/claim_model.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

const skip = await missing("postgresql");

const HOLDERS = 3;
const TIMES = { claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };

/** One thing that happens. `grant` counts back through the claims that somebody was given and has not forgotten in a crash. */
type Step =
  | { readonly does: "claim" | "ask" | "crash"; readonly holder: number; readonly id: string }
  | { readonly does: "confirm" | "release" | "renew"; readonly holder: number; readonly grant: number }
  | { readonly does: "commit" | "roll back"; readonly holder: number; readonly grant: number }
  | { readonly does: "commit unclaimed"; readonly holder: number; readonly id: string }
  | { readonly does: "pass"; readonly ms: number }
  | { readonly does: "purge" | "count"; readonly holder: number };

const holder = fc.nat(HOLDERS - 1);
const id = fc.constantFrom("a", "b");
const grant = fc.nat(3);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: fc.constant("claim" as const), holder, id }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("ask" as const, "crash" as const), holder, id }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constantFrom("confirm", "release", "renew"), holder, grant }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom("commit" as const, "roll back" as const), holder, grant }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("commit unclaimed" as const), holder, id }) },
  // Coarse, since PostgreSQL's clock goes on by itself in between: to the end of a lease, of a retention, or well before it.
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("pass" as const),
      ms: fc.constantFrom(20_000, 40_000, CLAIM_TIMEOUT_MS, RETENTION_MS - CLAIM_TIMEOUT_MS, RETENTION_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom("purge" as const, "count" as const), holder }) },
);

const steps = fc.array(step, { maxLength: 40, size: "max" });

/** One holder's view of the claims. */
interface Holder {
  readonly store: IdempotencyStore;
  /** Confirms in a transaction of its own, and says how that ended. Only a database has it. */
  readonly once?: (message: ClaimedMessage, isCommitted: boolean) => Promise<OnceWithin>;
}

/** Claims that holders share, empty at the beginning of every run. */
interface Place {
  readonly retentionFrom: RetentionFrom;
  readonly open: (holder: number) => Holder;
  readonly pass: (ms: number) => Promise<void>;
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A claim somebody was given. A renewal may change its token. */
interface Grant {
  readonly number: number;
  readonly holder: number;
  readonly id: string;
  token: string;
}

/** Does the same to a store and to the model, and compares what they answer. */
class Run {
  readonly #place: Place;
  readonly #model: ClaimModel;
  readonly #holders: Holder[];
  readonly #tokens = new Set<string>();
  #grants: Grant[] = [];
  #claims = 0;

  constructor(place: Place) {
    this.#place = place;
    this.#model = new ClaimModel(place.retentionFrom);
    this.#holders = Array.from({ length: HOLDERS }, (_, number) => place.open(number));
  }

  async take(one: Step): Promise<void> {
    switch (one.does) {
      case "pass":
        this.#model.pass(one.ms);
        return await this.#place.pass(one.ms);
      case "crash":
        this.#grants = this.#grants.filter((given) => given.holder !== one.holder);
        this.#holders[one.holder] = this.#place.open(one.holder);
        // Nobody is back in no time.
        this.#model.pass(1);
        return await this.#place.pass(1);
      case "claim":
        return await this.#claim(one.holder, one.id);
      case "ask":
        return assert.equal(await this.#at(one.holder).store.isConfirmed(one.id), this.#model.isConfirmed(one.id));
      case "purge":
        return assert.equal(await this.#at(one.holder).store.purgeExpired({ batchSize: 1 }), this.#model.purge());
      case "count":
        return assert.equal(await this.#at(one.holder).store.count(), this.#model.count);
      case "commit unclaimed":
        return await this.#once(one.holder, { id: one.id }, true);
      default: {
        const given = this.#grants.at(-1 - one.grant);
        if (given !== undefined) await this.#with(given, one.does);
      }
    }
  }

  async #claim(by: number, of: string): Promise<void> {
    const number = this.#claims++;
    const answer = await this.#at(by).store.tryClaim(of);
    const said = answer.status === "claimed" && answer.takenOver ? "taken over" : answer.status;
    assert.equal(said, this.#model.claim(of, number));
    if (answer.status !== "claimed") return;
    this.#grants.push({ number, holder: by, id: of, token: this.#new(answer.token) });
  }

  async #with(given: Grant, does: "confirm" | "release" | "renew" | "commit" | "roll back"): Promise<void> {
    const { store } = this.#at(given.holder);
    const { id: of, number, token } = given;
    if (does === "commit" || does === "roll back") return await this.#once(given.holder, given, does === "commit");
    if (does !== "renew") return assert.equal(await store[does](of, token), this.#model[does](of, number));
    const answer = await store.renew(of, token);
    assert.equal(answer.status, this.#model.renew(of, number));
    if (answer.status === "held" && answer.token !== token) given.token = this.#new(answer.token);
  }

  async #once(by: number, of: { readonly id: string } | Grant, isCommitted: boolean): Promise<void> {
    const { once } = this.#at(by);
    if (once === undefined) return;
    const given = "token" in of ? of : undefined;
    const claim = given === undefined ? undefined : { id: given.id, token: given.token };
    const said = await once({ envelope: { id: of.id }, claim }, isCommitted).catch((error) => {
      if (error instanceof AceMqError) return error.name;
      throw error;
    });
    assert.equal(said, this.#model.once(of.id, given?.number, isCommitted));
  }

  #at(by: number): Holder {
    return this.#holders[by] ?? assert.fail(`There is no holder ${by}`);
  }

  /** Nobody was given this token before. */
  #new(token: string): string {
    assert.ok(!this.#tokens.has(token), `${token} was given twice`);
    this.#tokens.add(token);
    return token;
  }
}

async function behavesAsTheModel(place: Place, numRuns: number): Promise<void> {
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (many) => {
        await place.empty();
        const run = new Run(place);
        for (const one of many) await run.take(one);
      }),
      { numRuns },
    );
  } finally {
    await place.close();
  }
}

/** A clock that is wrong about the day, and jumps. */
function skewed(clock: Clock, by: number): Clock {
  const jump = (): number => (Math.random() - 0.5 + by) * RETENTION_MS;
  return { now: () => clock.now() + jump(), elapsed: () => clock.elapsed(), delay: clock.delay.bind(clock) };
}

/** Runs a transaction that is rolled back by an error of its own. */
async function within(
  session: SqlSession,
  isCommitted: boolean,
  work: (tx: SqlSession) => Promise<OnceWithin>,
): Promise<OnceWithin> {
  const rolledBack = new Error("rolled back");
  let answer: OnceWithin | undefined;
  const over = session.transaction(async (tx) => {
    answer = await work(tx);
    if (!isCommitted) throw rolledBack;
  });
  await over.catch((error) => {
    if (error !== rolledBack) throw error;
  });
  return answer ?? assert.fail("It was answered");
}

function sqlHolder<Handle>(store: SqlIdempotencyStore<Handle>, session: SqlSession): Holder {
  const once = (message: ClaimedMessage, isCommitted: boolean): Promise<OnceWithin> =>
    within(session, isCommitted, (tx) => store.onceWithin(tx, message));
  return { store, once };
}

function inMemory(): Place {
  const clock = virtualClock();
  let store = memoryIdempotencyStore();
  return {
    retentionFrom: "confirmation",
    open: () => ({ store }),
    pass: (ms) => clock.advance(ms),
    empty: async () => void (store = memoryIdempotencyStore({ ...TIMES, clock: skewed(clock, 1) })),
    close: async () => {},
  };
}

async function inSqlite(layout: IdempotencyLayoutName): Promise<Place> {
  const file = sqliteFile();
  const clock = virtualClock();
  const bare = file.open();
  await sqliteIdempotencyStore(bare, { layout }).createSchemaIfAbsent();
  const handles = Array.from({ length: HOLDERS }, () => file.open());
  // No process is killed here, so nobody has to wait for the disk.
  for (const handle of [bare, ...handles]) handle.exec("PRAGMA synchronous = OFF");
  return {
    retentionFrom: layout === "dotnet" ? "claim" : "confirmation",
    open: (number) => {
      const handle = handles[number] ?? bare;
      // The clock stands still, so that chance alone would tell the tokens apart where a time is one.
      const random = (): number => number / HOLDERS;
      return sqlHolder(sqliteIdempotencyStore(handle, { ...TIMES, clock, random }), sqliteSession(handle));
    },
    pass: (ms) => clock.advance(ms),
    empty: async () => bare.exec("DELETE FROM acemq_idempotency"),
    close: async () => file.close(),
  };
}

async function inPostgres(layout: IdempotencyLayoutName): Promise<Place> {
  const place = await scratch();
  await postgresIdempotencyStore(place.sql, { layout }).createSchemaIfAbsent();
  const handles = [place.postgresJs({ max: 1 }), place.pool(), await place.client()];
  return {
    retentionFrom: layout === "dotnet" ? "claim" : "confirmation",
    open: (number) => {
      const handle = handles[number] ?? place.sql;
      const clock = skewed(systemClock(), number - 1);
      return sqlHolder(postgresIdempotencyStore(handle, { ...TIMES, clock }), postgresSession(handle));
    },
    pass: place.pass,
    empty: async () => void await place.sql.unsafe("TRUNCATE acemq_idempotency"),
    close: () => place.close(),
  };
}

describe("claims of several holders, with late ones and crashes among them", () => {
  it("are answered in memory as the contract's state machine answers them", async () => {
    await behavesAsTheModel(inMemory(), 500);
  });

  for (const layout of ["ruby", "python", "go", "dotnet"] as const) {
    it(`are answered in SQLite as the contract's state machine answers them, layout '${layout}'`, async () => {
      await behavesAsTheModel(await inSqlite(layout), 60);
    });
  }

  for (const layout of ["java", "python", "go", "dotnet"] as const) {
    const title = `are answered in PostgreSQL as the contract's state machine answers them, layout '${layout}'`;
    it(title, { skip }, async () => {
      await behavesAsTheModel(await inPostgres(layout), 12);
    });
  }
});
