/** Handlers that confirm inside a transaction of their own, and go on when it has committed, or has not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker, type VirtualClock, virtualClock } from "../../adapters/memory/mod.ts";
import { postgresIdempotencyStore, postgresSession } from "../../adapters/postgres/mod.ts";
import type { IdempotencyLayoutName } from "../../adapters/sql/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { openConnection } from "../../src/connection.ts";
import { LeaseLostError } from "../../src/errors.ts";
import type { Message } from "../../src/message/message.ts";
import type { ClaimedMessage, IdempotencyStore, OnceWithin } from "../../src/ports/idempotency_store.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";
import { type Deferred, deferred, until } from "../support/until.ts";

const noPostgres = await missing("postgresql");

const QUEUE = "payments.new";
const LEASE_MS = 9_000;

/** A store that confirms within transactions, as those of databases do. */
interface WithinStore extends IdempotencyStore {
  onceWithin(tx: SqlSession, message: ClaimedMessage): Promise<OnceWithin>;
}

/** A store, its database, and a second store on the same table. */
interface Place {
  readonly store: WithinStore;
  readonly other: WithinStore;
  /** A store on another table. */
  readonly elsewhere: WithinStore;
  readonly session: SqlSession;
  /** Lets time pass in the database. */
  readonly pass: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

type Open = (clock: VirtualClock) => Promise<Place>;

const onSqlite: Open = async (clock) => {
  const file = sqliteFile();
  const handle = file.open();
  const options = { claimTimeoutMs: LEASE_MS, clock };
  const store = sqliteIdempotencyStore(handle, options);
  await store.createSchemaIfAbsent();
  const other = sqliteIdempotencyStore(file.open(), options);
  const elsewhere = sqliteIdempotencyStore(handle, { ...options, table: "elsewhere" });
  await elsewhere.createSchemaIfAbsent();
  const session = sqliteSession(handle);
  return { store, other, elsewhere, session, pass: async () => {}, close: async () => file.close() };
};

function onPostgres(driver: "postgres" | "pg", layout: IdempotencyLayoutName = "java"): Open {
  return async () => {
    const place = await scratch();
    const handle = driver === "pg" ? place.pool() : place.postgresJs();
    const options = { claimTimeoutMs: LEASE_MS, layout };
    const store = postgresIdempotencyStore(handle, options);
    await store.createSchemaIfAbsent();
    const other = postgresIdempotencyStore(place.postgresJs(), options);
    const elsewhere = postgresIdempotencyStore(handle, { ...options, table: "elsewhere" });
    await elsewhere.createSchemaIfAbsent();
    // The time that a connection takes to open is none the test lets pass.
    await Promise.all(Array.from({ length: 4 }, () => store.isConfirmed("nobody's")));
    return { store, other, elsewhere, session: postgresSession(handle), pass: place.pass, close: place.close };
  };
}

/** A consumer whose time the test moves, with its database's. */
class Till {
  readonly sink: RecordingSink = new RecordingSink();
  readonly clock: VirtualClock = virtualClock();
  readonly told: unknown[] = [];
  /** What handlers wait for before they end; at the end of the test, however it ends. */
  readonly rest: Deferred = deferred();
  handled = 0;

  async at(
    open: Open,
    handler: (message: Message, place: Place) => Promise<void>,
    { renewLease, body }: { readonly renewLease: boolean; readonly body: (place: Place) => Promise<void> },
  ): Promise<void> {
    const place = await open(this.clock);
    const mq = await openConnection(memoryBroker({ clock: this.clock }), { telemetry: this.sink });
    try {
      await mq.declare(topology().queue(QUEUE));
      const options = { idempotency: { store: place.store, renewLease }, retry: fixedRetry(3, { delayMs: 10 }) };
      await mq.consume(QUEUE, async (message) => {
        this.handled++;
        message.signal.addEventListener("abort", () => this.told.push(message.signal.reason));
        await handler(message, place);
      }, options);
      await mq.publisher("", QUEUE).send({}, { messageId: "a" });
      await body(place);
    } finally {
      this.rest.resolve();
      const closed = mq.close();
      await this.clock.advance(60_000);
      await closed;
      await place.close();
    }
  }

  /** Lets the time of so many leases pass, in steps, and the database answer in between. */
  async pass(leases: number, { pass, store }: Place): Promise<void> {
    const stepMs = LEASE_MS / 3;
    const looks = Array.from({ length: 20 }, () => "nobody's");
    for (let step = 0; step < 3 * leases; step++) {
      await pass(stepMs);
      await this.clock.advance(stepMs);
      for (const id of looks) await store.isConfirmed(id);
      await this.clock.advance(0);
    }
  }

  count(outcome: string): number {
    return this.sink.count("acemq.consume.total", { queue: QUEUE, outcome });
  }

  /** Deliveries whose message was confirmed before. */
  get duplicates(): number {
    return this.sink.count("acemq.idempotency.claims.total", { queue: QUEUE, outcome: "already_confirmed" });
  }

  /** Waits until a delivery was acknowledged. */
  async ended(): Promise<void> {
    await until("acked", async () => {
      await this.clock.advance(10);
      return this.count("acked") > 0;
    });
  }

  /** What was logged of claims that are no longer held. */
  get losses(): readonly string[] {
    return this.sink.logs.map(({ event }) => event).filter((event) => /lease_|lost/.test(event));
  }
}

/** Confirms in a transaction of its own. */
async function confirmWithin(message: Message, { store, session }: Place): Promise<void> {
  await session.transaction(async (tx) => void await store.onceWithin(tx, message));
}

const ENGINES: readonly { readonly name: string; readonly open: Open; readonly skip: string | false }[] = [
  { name: "SQLite", open: onSqlite, skip: false },
  { name: "PostgreSQL by postgres", open: onPostgres("postgres"), skip: noPostgres },
  { name: "PostgreSQL by pg", open: onPostgres("pg"), skip: noPostgres },
  { name: "PostgreSQL in Go's layout", open: onPostgres("postgres", "go"), skip: noPostgres },
  { name: "PostgreSQL in .NET's layout", open: onPostgres("pg", "dotnet"), skip: noPostgres },
];

for (const { name, open, skip } of ENGINES) {
  describe(`a handler that has committed with its confirmation in ${name}`, { skip }, () => {
    for (const renewLease of [false, true]) {
      it(`has all the time it wants from then on, ${renewLease ? "with" : "without"} renewals`, async () => {
        const till = new Till();
        const committed = deferred();
        const { rest } = till;
        await till.at(open, async (message, place) => {
          await confirmWithin(message, place);
          committed.resolve();
          await rest.promise;
        }, {
          renewLease,
          body: async (place) => {
            await committed.promise;
            await till.pass(3, place);
            assert.deepEqual([till.told, till.losses], [[], []]);
            rest.resolve();
            await till.ended();
            assert.deepEqual([till.handled, till.count("acked"), till.duplicates], [1, 1, 0]);
            assert.equal(await place.other.isConfirmed("a"), true);
          },
        });
      });
    }

    it("is retried as a duplicate when it throws after its lease would have ended", async () => {
      const till = new Till();
      const committed = deferred();
      const { rest } = till;
      await till.at(open, async (message, place) => {
        await confirmWithin(message, place);
        committed.resolve();
        await rest.promise;
        throw new Error("the receipt email service is down");
      }, {
        renewLease: false,
        body: async (place) => {
          await committed.promise;
          await till.pass(2, place);
          rest.resolve();
          await till.ended();
          assert.deepEqual([till.handled, till.count("retried"), till.duplicates, till.told], [1, 1, 1, []]);
        },
      });
    });
  });

  describe(`a handler whose transaction has rolled back in ${name}`, { skip }, () => {
    const rollBack = async (message: Message, { store, session }: Place): Promise<void> => {
      const rolling = session.transaction(async (tx) => {
        await store.onceWithin(tx, message);
        throw new Error("no money");
      });
      await assert.rejects(rolling, /no money/);
    };

    for (const renewLease of [false, true]) {
      it(`${renewLease ? "has its lease renewed" : "is told when its lease ends"}`, async () => {
        const till = new Till();
        const rolled = deferred();
        const { rest } = till;
        await till.at(open, async (message, place) => {
          await rollBack(message, place);
          rolled.resolve();
          await rest.promise;
        }, {
          renewLease,
          body: async (place) => {
            await rolled.promise;
            await till.pass(2, place);
            if (renewLease) assert.deepEqual([till.told, till.losses], [[], []]);
            else assert.ok(till.told[0] instanceof LeaseLostError, String(till.told[0]));
            rest.resolve();
            await till.ended();
            assert.equal(till.handled, 1);
          },
        });
      });
    }
  });

  describe(`confirming twice in ${name}`, { skip }, () => {
    it("is one confirmation, within one transaction and in the next", async () => {
      const till = new Till();
      const answers: OnceWithin[] = [];
      await till.at(open, async (message, { store, session }) => {
        await session.transaction(async (tx) => {
          answers.push(await store.onceWithin(tx, message), await store.onceWithin(tx, message));
        });
        await session.transaction(async (tx) => void answers.push(await store.onceWithin(tx, message)));
      }, {
        renewLease: false,
        body: async () => {
          await till.ended();
          assert.deepEqual(answers, ["confirmed", "already_confirmed", "already_confirmed"]);
        },
      });
    });

    it("in a store that has not claimed the message says that", async () => {
      const till = new Till();
      const errors: unknown[] = [];
      await till.at(open, async (message, { elsewhere, session }) => {
        const confirming = session.transaction(async (tx) => void await elsewhere.onceWithin(tx, message));
        await confirming.catch((error: unknown) => void errors.push(error));
      }, {
        renewLease: false,
        body: async () => {
          await till.ended();
          const [error] = errors;
          assert.ok(error instanceof TypeError, String(error));
          assert.match(error.message, /^Cannot confirm message "a": its consumer has claimed it in another store/);
        },
      });
    });
  });
}

for (const { name, open, skip } of ENGINES.filter(({ name }) => name !== "SQLite")) {
  describe(`a transaction that is open for longer than the lease in ${name}`, { skip }, () => {
    it("ends as it would have, since whoever wants the claim waits for it", async () => {
      const till = new Till();
      const begun = deferred();
      const { rest } = till;
      await till.at(open, async (message, { store, session }) => {
        await session.transaction(async (tx) => {
          await store.onceWithin(tx, message);
          begun.resolve();
          await rest.promise;
        });
      }, {
        renewLease: true,
        body: async (place) => {
          await begun.promise;
          await till.pass(3, place);
          assert.deepEqual([till.told, till.losses], [[], []]);
          const claimed = place.other.tryClaim("a");
          rest.resolve();
          assert.notEqual((await claimed).status, "claimed");
          await till.ended();
          assert.deepEqual([till.handled, await place.other.isConfirmed("a")], [1, true]);
        },
      });
    });
  });
}
