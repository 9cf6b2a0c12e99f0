/** Sessions over the open transactions of Kysely, Drizzle and Knex: the real libraries, on PostgreSQL. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drizzle as drizzleOnPg } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import knex from "knex";
import { Kysely, PostgresDialect } from "kysely";
import type { Pool } from "pg";
import { postgresOutboxStore } from "../../../adapters/postgres/mod.ts";
import { drizzleSession, knexSession, kyselySession } from "../../../adapters/sql/mod.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing, POSTGRES_URL } from "../../support/services.ts";

const skip = await missing("postgresql");

/** Opens the builder, and runs work in a transaction of it. */
type InTransaction = (work: (session: SqlSession) => Promise<void>) => Promise<unknown>;

interface Builder {
  readonly inTransaction: InTransaction;
  /** Makes a session of what is no transaction. */
  readonly misused: () => SqlSession;
  readonly close: () => Promise<void>;
}

const BUILDERS: Readonly<Record<string, (place: Scratch) => Builder>> = {
  Kysely: (place) => {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: place.pool() as Pool }) });
    return {
      inTransaction: (work) => db.transaction().execute((trx) => work(kyselySession(trx))),
      misused: () => kyselySession(db),
      close: async () => {},
    };
  },
  "Drizzle on postgres.js": (place) => {
    const db = drizzleOnPostgresJs(place.postgresJs());
    return {
      inTransaction: (work) => db.transaction((tx) => work(drizzleSession(tx))),
      misused: () => drizzleSession(db as never),
      close: async () => {},
    };
  },
  "Drizzle on pg": (place) => {
    const db = drizzleOnPg(place.pool());
    return {
      inTransaction: (work) => db.transaction((tx) => work(drizzleSession(tx))),
      misused: () => drizzleSession(db as never),
      close: async () => {},
    };
  },
  Knex: (place) => {
    const connection = { connectionString: POSTGRES_URL, options: `-c search_path=${place.schema}` };
    const db = knex({ client: "pg", connection });
    return {
      inTransaction: (work) => db.transaction((trx) => work(knexSession(trx))),
      misused: () => knexSession(db as never),
      close: () => db.destroy(),
    };
  },
};

async function withBuilder(
  open: (place: Scratch) => Builder,
  body: (builder: Builder, place: Scratch) => Promise<void>,
) {
  const place = await scratch();
  await place.sql.unsafe("CREATE TABLE items (id INTEGER, body BYTEA, said TEXT)");
  const builder = open(place);
  try {
    await body(builder, place);
  } finally {
    await builder.close();
    await place.close();
  }
}

async function committed({ sql }: Scratch): Promise<number> {
  const [row] = await sql.unsafe("SELECT count(*)::int AS n FROM items");
  return Number(row?.["n"]);
}

const INSERT = "INSERT INTO items (id, body, said) VALUES ($1, $2, $3)";

for (const [name, open] of Object.entries(BUILDERS)) {
  describe(`a session over a transaction of ${name}`, () => {
    it("is committed with it", { skip }, () =>
      withBuilder(open, async ({ inTransaction }, place) => {
        await inTransaction(async (session) => {
          assert.equal(session.inTransaction, true);
          assert.equal((await session.query(INSERT, [1, new Uint8Array([0, 255]), "what? $1 \\?"])).changes, 1);
          const { rows } = await session.query("SELECT body, said, id::bigint AS big FROM items WHERE id = $1", [1]);
          assert.deepEqual([...new Uint8Array(rows[0]?.["body"] as Uint8Array)], [0, 255]);
          assert.equal(rows[0]?.["said"], "what? $1 \\?");
          assert.equal(Number(rows[0]?.["big"]), 1);
          assert.equal(await committed(place), 0);
        });
        assert.equal(await committed(place), 1);
      }));

    it(
      "is rolled back with it, what was begun inside of it included",
      { skip },
      () =>
        withBuilder(open, async ({ inTransaction }, place) => {
          const work = inTransaction(async (session) => {
            await session.transaction((tx) => tx.query(INSERT, [1, null, null]));
            throw new Error("rolled back");
          });
          await assert.rejects(work, /rolled back/);
          assert.equal(await committed(place), 0);
        }),
    );

    it(
      "counts what a statement changed, and rejects with the driver's error",
      { skip },
      () =>
        withBuilder(open, async ({ inTransaction }) => {
          const work = inTransaction(async (session) => {
            await session.query("INSERT INTO items (id) VALUES (1), (2)");
            assert.equal((await session.query("UPDATE items SET said = $1 WHERE id < $2", ["x", 3])).changes, 2);
            assert.equal((await session.query("DELETE FROM items WHERE id = $1", [9])).changes, 0);
            await session.query("SELECT nothing FROM nowhere");
          });
          await assert.rejects(work, /nowhere/);
        }),
    );

    it(
      "takes messages for the outbox, which are there when it is [OBX-01]",
      { skip },
      () =>
        withBuilder(open, async ({ inTransaction }, place) => {
          const outbox = postgresOutboxStore(place.postgresJs());
          await outbox.createSchemaIfAbsent();
          const message = (id: string): Outbound => ({
            exchange: "",
            routingKey: "orders.new",
            body: new Uint8Array([0, 255]),
            messageId: id,
            headers: { "x-acemq-id": id, said: "what? $1 \\?" },
            persistent: true,
            mandatory: true,
          });
          await inTransaction((session) => outbox.addAll(session, [message("a"), message("b")], { orderingKey: "k?" }));
          const undone = inTransaction(async (session) => {
            await outbox.add(session, message("c"));
            throw new Error("rolled back");
          });
          await assert.rejects(undone, /rolled back/);
          const { rows } = await outbox.claim({ limit: 9, leaseMs: 60_000, mode: "in_order", onRetired: "release" });
          assert.deepEqual(
            rows.map((row) => "outbound" in row && [row.outbound, row.orderingKey]),
            [message("a"), message("b")].map((outbound) => [{ ...outbound, contentType: undefined }, "k?"]),
          );
        }),
    );

    it("is refused outside of one", { skip }, () =>
      withBuilder(open, async ({ misused }) => {
        assert.throws(misused, TypeError);
      }));
  });
}
