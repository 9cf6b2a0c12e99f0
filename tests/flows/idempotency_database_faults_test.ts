/** Databases that are slow, read only, exhausted or without their table, under a consumer: a wait or an error, never a false claim. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pg from "pg";
import { memoryBroker, type VirtualClock, virtualClock } from "../../adapters/memory/mod.ts";
import { type PostgresHandle, postgresIdempotencyStore, postgresSession } from "../../adapters/postgres/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { ConsumeOptions } from "../../src/consume/options.ts";
import type { Message } from "../../src/message/message.ts";
import type { Broker } from "../../src/ports/broker.ts";
import type { IdempotencyStore } from "../../src/ports/idempotency_store.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { type Scratch, scratch } from "../support/postgres_scratch.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { missing, POSTGRES_URL } from "../support/services.ts";
import { type SqliteFile, sqliteFile } from "../support/sqlite_scratch.ts";
import { until } from "../support/until.ts";

const skip = await missing("postgresql");

const QUEUE = "payments.new";

/** Retries never run out, and come soon. */
const FOR_EVER = { retry: fixedRetry(100_000, { delayMs: 20 }) };

/** A queue with a consumer that claims, on a broker in memory. */
class Till {
  readonly sink: RecordingSink = new RecordingSink();
  readonly handled: string[] = [];
  readonly mq: Connection;

  private constructor(mq: Connection, sink: RecordingSink) {
    this.mq = mq;
    this.sink = sink;
  }

  static async open(broker: Broker): Promise<Till> {
    const sink = new RecordingSink();
    const mq = await openConnection(broker, { telemetry: sink });
    await mq.declare(topology().queue(QUEUE));
    return new Till(mq, sink);
  }

  async consume(
    store: IdempotencyStore,
    handler: (message: Message) => unknown = () => {},
    options: ConsumeOptions = FOR_EVER,
  ): Promise<void> {
    await this.mq.consume(QUEUE, async (message) => {
      this.handled.push(message.envelope.id);
      await handler(message);
    }, { ...options, idempotency: store });
  }

  async pay(...ids: readonly string[]): Promise<void> {
    const publisher = this.mq.publisher("", QUEUE);
    for (const id of ids) await publisher.send({}, { messageId: id });
  }

  count(outcome: string): number {
    return this.sink.count("acemq.consume.total", { queue: QUEUE, outcome });
  }

  /** Waits until so many ended so. */
  async ended(outcome: string, times: number): Promise<void> {
    await until(`${times} ${outcome}`, () => this.count(outcome) >= times);
  }

  /** Why attempts failed, in the consumer's own words. */
  get reasons(): readonly string[] {
    return this.sink.logs.map(({ fields }) => String(fields["error"] ?? fields["reason"] ?? ""));
  }
}

/** On a clock that the test moves, if it is given one. */
async function atTill(body: (till: Till) => Promise<void>, clock?: VirtualClock): Promise<void> {
  const till = await Till.open(memoryBroker(clock === undefined ? {} : { clock }));
  try {
    await body(till);
  } finally {
    const closed = till.mq.close();
    await clock?.advance(60_000);
    await closed;
  }
}

async function onPostgres(body: (place: Scratch, till: Till) => Promise<void>): Promise<void> {
  const place = await scratch();
  try {
    await atTill((till) => body(place, till));
  } finally {
    await place.close();
  }
}

async function onSqlite(body: (file: SqliteFile, till: Till) => Promise<void>, clock?: VirtualClock): Promise<void> {
  const file = sqliteFile();
  try {
    await atTill((till) => body(file, till), clock);
  } finally {
    file.close();
  }
}

/** Every insertion or change of a claim takes as long as the table `slow` says. */
async function slowDown(place: Scratch, event: "INSERT" | "UPDATE"): Promise<(seconds: number) => Promise<void>> {
  await place.sql.unsafe("CREATE TABLE slow (seconds float8)");
  await place.sql.unsafe("INSERT INTO slow VALUES (0)");
  await place.sql.unsafe(
    "CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(seconds) FROM slow; RETURN NEW; END $$",
  );
  await place.sql.unsafe(
    `CREATE TRIGGER be_slow BEFORE ${event} ON acemq_idempotency FOR EACH ROW EXECUTE FUNCTION be_slow()`,
  );
  return async (seconds) => void await place.sql.unsafe(`UPDATE slow SET seconds = ${seconds}`);
}

describe("a database whose statements take longer than a lease", () => {
  it(
    "has no message handled on a claim that has ended, and each is handled when it is quick again",
    { skip },
    () =>
      onPostgres(async (place, till) => {
        const store = postgresIdempotencyStore(place.postgresJs(), { claimTimeoutMs: 200, inProgressDelayMs: 20 });
        await store.createSchemaIfAbsent();
        const take = await slowDown(place, "INSERT");
        await take(0.4);
        await till.consume(store);
        await till.pay("a");
        await till.ended("retried", 2);
        assert.deepEqual(till.handled, []);
        await take(0);
        await till.ended("acked", 1);
        assert.deepEqual(till.handled, ["a"]);
        assert.equal(await store.isConfirmed("a"), true);
      }),
  );

  it(
    "keeps no handler that confirms beyond its lease, and what it does in the end still counts",
    { skip },
    () =>
      onPostgres(async (place, till) => {
        const store = postgresIdempotencyStore(place.postgresJs(), { claimTimeoutMs: 300 });
        await store.createSchemaIfAbsent();
        const take = await slowDown(place, "UPDATE");
        await take(1.5);
        const errors: unknown[] = [];
        await till.consume(store, async (message) => {
          await message.confirm().catch((error: unknown) => {
            errors.push((error as { code: string }).code);
            throw error;
          });
        });
        await till.pay("a");
        await till.ended("rejected", 1);
        assert.deepEqual(errors, ["ACEMQ_CLAIM_UNCONFIRMED"]);
        assert.equal(await store.isConfirmed("a"), false, "The statement is still on its way");
        await until("the statement to be through", () => store.isConfirmed("a"));
        await till.pay("a");
        await till.ended("acked", 1);
        assert.deepEqual(till.handled, ["a"]);
      }),
  );

  it("because a SQLite file is locked that long: the claim is given back, and made again", () => {
    const clock = virtualClock();
    return onSqlite(async (file, till) => {
      const session = sqliteSession(file.open(), { clock, busyTimeoutMs: 60_000 });
      const store = sqliteIdempotencyStore(session, { clock, claimTimeoutMs: 1_000 });
      await store.createSchemaIfAbsent();
      await till.consume(store);
      const other = file.open();
      other.exec("BEGIN IMMEDIATE");
      await till.pay("a");
      await clock.advance(1_500);
      other.exec("COMMIT");
      await clock.advance(1_500);
      assert.equal(till.count("retried"), 1);
      assert.deepEqual([till.handled, await store.isConfirmed("a")], [["a"], true]);
    }, clock);
  });
});

describe("a database that takes no writes", () => {
  it("as a SQLite file that was opened so: an error for every claim, and the message is where a person finds it", () =>
    onSqlite(async (file, till) => {
      const writable = sqliteIdempotencyStore(file.open());
      await writable.createSchemaIfAbsent();
      const claim = await writable.tryClaim("old");
      assert.ok(claim.status === "claimed");
      await writable.confirm("old", claim.token);
      const database = new DatabaseSync(file.path, { readOnly: true });
      try {
        const store = sqliteIdempotencyStore(database);
        await assert.rejects(store.tryClaim("new"), { code: "ACEMQ_STORE" });
        await assert.rejects(store.confirm("old", claim.token), { code: "ACEMQ_STORE" });
        await assert.rejects(store.purgeExpired(), { code: "ACEMQ_STORE" });
        assert.deepEqual([await store.isConfirmed("old"), await store.isConfirmed("new")], [true, false]);
        await till.consume(store, () => {}, { retry: fixedRetry(2, { delayMs: 1 }) });
        await till.pay("new");
        await till.ended("dead_lettered", 1);
        assert.deepEqual([till.handled, till.count("acked")], [[], 0]);
      } finally {
        database.close();
      }
    }));

  it(
    "as PostgreSQL with read-only transactions by default: an error, and messages are handled when it takes writes again",
    {
      skip,
    },
    () =>
      onPostgres(async (place, till) => {
        await postgresIdempotencyStore(place.sql).createSchemaIfAbsent();
        const client = await place.client();
        await client.query("SET default_transaction_read_only = on");
        const store = postgresIdempotencyStore(client);
        await store.check();
        await assert.rejects(store.tryClaim("a"), { code: "ACEMQ_STORE" });
        await client.query("BEGIN");
        await assert.rejects(store.onceWithin(client, { envelope: { id: "a" } }), { code: "ACEMQ_STORE" });
        await client.query("ROLLBACK");
        assert.equal(await store.isConfirmed("a"), false);
        await till.consume(store);
        await till.pay("a");
        await till.ended("retried", 3);
        assert.deepEqual([till.handled, till.count("acked")], [[], 0]);
        await client.query("SET default_transaction_read_only = off");
        await till.ended("acked", 1);
        assert.deepEqual(till.handled, ["a"]);
      }),
  );
});

/** A pool with one connection, and transactions on it, of either driver. */
interface NarrowPool {
  readonly handle: PostgresHandle;
  readonly session: SqlSession;
}

async function inNarrowPool(
  driver: "postgres" | "pg",
  body: (pool: NarrowPool, till: Till) => Promise<void>,
): Promise<void> {
  await onPostgres(async (place, till) => {
    if (driver === "postgres") {
      const handle = place.postgresJs({ max: 1 });
      return await body({ handle, session: postgresSession(handle) }, till);
    }
    const pool = new pg.Pool({
      connectionString: POSTGRES_URL,
      max: 1,
      options: `-c search_path=${place.schema},pg_catalog`,
    });
    try {
      await body({ handle: pool, session: postgresSession(pool) }, till);
    } finally {
      await pool.end();
    }
  });
}

for (const driver of ["postgres", "pg"] as const) {
  describe(`a pool of '${driver}' whose only connection a handler holds`, () => {
    it(
      "is enough for work and record in one commit, and makes other messages wait",
      { skip },
      () =>
        inNarrowPool(driver, async ({ handle, session }, till) => {
          const store = postgresIdempotencyStore(handle);
          await store.createSchemaIfAbsent();
          await till.consume(
            store,
            (message) => session.transaction(async (tx) => void await store.onceWithin(tx, message)),
            { ...FOR_EVER, concurrency: 4, prefetch: 10 },
          );
          await till.pay("a", "b", "c", "a", "d", "b");
          await till.ended("acked", 6);
          assert.deepEqual(till.handled.toSorted(), ["a", "b", "c", "d"]);
        }),
    );

    it("is waited for by a confirmation beside the transaction until the lease ends, and no longer: an error says so", {
      skip,
    }, () =>
      inNarrowPool(driver, async ({ handle, session }, till) => {
        const store = postgresIdempotencyStore(handle, { claimTimeoutMs: 300 });
        await store.createSchemaIfAbsent();
        const errors: Error[] = [];
        await till.consume(store, (message) =>
          session.transaction(async () =>
            await message.confirm().catch((error: Error) => {
              errors.push(error);
              throw error;
            })
          ));
        await till.pay("a");
        await till.ended("rejected", 1);
        assert.deepEqual(
          errors.map(({ name }) =>
            name
          ),
          ["ClaimUnconfirmedError"],
        );
        assert.match(String(errors[0]?.cause), /StoreError: The store gave no answer while the lease of the claim ran/);
        assert.equal((await store.tryClaim("b")).status, "claimed", "The pool is in use again");
      }));

    it(
      "is waited for by a renewal, and the handler hears all the same that its lease has ended",
      { skip },
      () =>
        inNarrowPool(driver, async ({ handle, session }, till) => {
          const store = postgresIdempotencyStore(handle, { claimTimeoutMs: 300 });
          await store.createSchemaIfAbsent();
          const reasons: string[] = [];
          const handler = ({ signal }: Message): Promise<void> =>
            session.transaction(() =>
              new Promise((resolve) => {
                signal.addEventListener("abort", () => {
                  reasons.push((signal.reason as Error).name);
                  resolve();
                });
              })
            );
          await till.mq.consume(QUEUE, handler, { idempotency: { store, renewLease: true } });
          await till.pay("a");
          await till.ended("acked", 1);
          assert.deepEqual(reasons, ["LeaseLostError"]);
          assert.equal(await store.isConfirmed("a"), true, "Nobody else had it");
        }),
    );
  });
}

describe("a SQLite handle with a transaction open on it", () => {
  it("is waited for by a confirmation beside the transaction until the lease ends, and no longer: an error says so", () => {
    const clock = virtualClock();
    return onSqlite(async (file, till) => {
      const session = sqliteSession(file.open(), { clock });
      const store = sqliteIdempotencyStore(session, { clock, claimTimeoutMs: 20_000 });
      await store.createSchemaIfAbsent();
      await till.consume(store, (message) => session.transaction(async () => await message.confirm()));
      await till.pay("a");
      await clock.advance(19_999);
      assert.equal(till.count("rejected"), 0);
      await clock.advance(1);
      assert.deepEqual([till.count("rejected"), till.handled], [1, ["a"]]);
      assert.equal((await store.tryClaim("b")).status, "claimed", "The handle is in use again");
    }, clock);
  });
});

describe("a table of claims that is dropped while a consumer runs", () => {
  const DROPPED = /LayoutError: Cannot use the table "acemq_idempotency": it is not there; create it with the DDL/;

  it("keeps every message in SQLite's consumer, names the DDL, and is used again when it is back", () =>
    onSqlite(async (file, till) => {
      const database = file.open();
      const store = sqliteIdempotencyStore(database);
      await store.createSchemaIfAbsent();
      await till.consume(store);
      await till.pay("a");
      await till.ended("acked", 1);
      database.exec("DROP TABLE acemq_idempotency");
      await till.pay("b");
      await till.ended("retried", 3);
      assert.deepEqual(till.handled, ["a"]);
      assert.ok(till.reasons.some((reason) => DROPPED.test(reason)), till.reasons.join("\n"));
      // Another layout than it had: it is looked at again.
      await sqliteIdempotencyStore(file.open(), { layout: "go" }).createSchemaIfAbsent();
      await till.ended("acked", 2);
      assert.deepEqual(till.handled, ["a", "b"]);
    }));

  it(
    "keeps every message in PostgreSQL's consumer, names the DDL, and is used again when it is back",
    { skip },
    () =>
      onPostgres(async (place, till) => {
        const store = postgresIdempotencyStore(place.postgresJs());
        await store.createSchemaIfAbsent();
        await till.consume(store);
        await till.pay("a");
        await till.ended("acked", 1);
        await place.sql.unsafe("DROP TABLE acemq_idempotency");
        await till.pay("b");
        await till.ended("retried", 3);
        assert.deepEqual(till.handled, ["a"]);
        assert.ok(till.reasons.some((reason) => DROPPED.test(reason)), till.reasons.join("\n"));
        await postgresIdempotencyStore(place.sql, { layout: "go" }).createSchemaIfAbsent();
        await till.ended("acked", 2);
        assert.deepEqual(till.handled, ["a", "b"]);
      }),
  );
});
