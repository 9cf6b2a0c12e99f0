/** Sessions over the handles of both PostgreSQL drivers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PostgresHandle, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { type SessionUnderTest, sqlSessionContract } from "../../contract/sql_session.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { until } from "../../support/until.ts";

const skip = await missing("postgresql");

async function items(): Promise<Scratch> {
  const place = await scratch();
  await place.sql.unsafe("CREATE TABLE items (id INTEGER, body BYTEA)");
  return place;
}

async function committed({ sql }: Scratch): Promise<number> {
  const [row] = await sql.unsafe("SELECT count(*)::int AS n FROM items");
  return Number(row?.["n"]);
}

function under(place: Scratch, session: SqlSession): SessionUnderTest {
  return {
    session,
    table: "items",
    placeholder: (number) => `$${number}`,
    committed: () => committed(place),
    close: () => place.close(),
  };
}

const HANDLES: Readonly<Record<string, (place: Scratch) => PostgresHandle | Promise<PostgresHandle>>> = {
  "postgres.js": (place) => place.postgresJs({ max: 1 }),
  "a pool of pg": (place) => place.pool(),
  "a client of pg": (place) => place.client(),
};

for (const [name, open] of Object.entries(HANDLES)) {
  sqlSessionContract(name, async () => {
    const place = await items();
    return under(place, postgresSession(await open(place)));
  }, { skip });
}

describe("a session over a transaction that is open", () => {
  const inPlace = (body: (place: Scratch) => Promise<void>) => async (): Promise<void> => {
    const place = await items();
    try {
      await body(place);
    } finally {
      await place.close();
    }
  };

  it(
    "of postgres.js belongs to it",
    { skip },
    inPlace(async (place) => {
      const work = place.postgresJs().begin(async (tx) => {
        const session = postgresSession(tx);
        assert.equal(session.inTransaction, true);
        await session.query("INSERT INTO items (id) VALUES ($1)", [1]);
        await session.transaction((inner) => inner.query("INSERT INTO items (id) VALUES (2)"));
        throw new Error("rolled back");
      });
      await assert.rejects(work, /rolled back/);
      assert.equal(await committed(place), 0);
    }),
  );

  it(
    "of pg belongs to it, which the driver tells",
    { skip },
    inPlace(async (place) => {
      const client = await place.client();
      assert.equal(postgresSession(client).inTransaction, false);
      await client.query("BEGIN");
      const session = postgresSession(client);
      assert.equal(session.inTransaction, true);
      await session.query("INSERT INTO items (id) VALUES ($1)", [1]);
      await client.query("ROLLBACK");
      assert.equal(await committed(place), 0);
    }),
  );

  it(
    "on a connection reserved from postgres.js is told by the caller",
    { skip },
    inPlace(async (place) => {
      const reserved = await place.postgresJs().reserve();
      assert.equal(postgresSession(reserved).inTransaction, undefined);
      await reserved.unsafe("BEGIN");
      const session = postgresSession(reserved, { inTransaction: true });
      await session.query("INSERT INTO items (id) VALUES ($1)", [1]);
      await reserved.unsafe("ROLLBACK");
      assert.equal(await committed(place), 0);
      await postgresSession(reserved).transaction((tx) => tx.query("INSERT INTO items (id) VALUES (2)"));
      assert.equal(await committed(place), 1);
      reserved.release();
    }),
  );

  it("refuses what is no handle of the two drivers", () => {
    assert.throws(() => postgresSession({} as PostgresHandle), TypeError);
  });
});

/** A transaction that is open, and what becomes of it. */
interface Doomed {
  readonly place: Scratch;
  readonly tx: SqlSession;
  /** The number of its connection. */
  readonly pid: number;
  /** Resolves when the driver has noticed. Not before, since postgres.js does not survive a statement in just that moment. */
  readonly noticed: Promise<unknown>;
}

/** What the work of a transaction does when its connection is ended. */
const LOSSES: Readonly<Record<string, (doomed: Doomed) => Promise<unknown>>> = {
  "in a statement that ends it": ({ tx, pid }) => tx.query(`SELECT pg_terminate_backend(${pid})`),
  "in a statement that waits": async ({ tx, pid, place }) => {
    const waiting = tx.query("SELECT pg_sleep(60)");
    const isAsleep = async (): Promise<boolean> => (await stateOf(place, pid)) === "active";
    await Promise.all([waiting, until("it to wait", isAsleep).then(() => terminate(place, pid))]);
  },
  "between two statements": async ({ tx, pid, place, noticed }) => {
    await terminate(place, pid);
    await noticed;
    await tx.query("SELECT 1");
  },
  "in its commit": ({ tx }) => tx.query("INSERT INTO items (id) VALUES (-1)"),
  "in a statement whose error nobody minds": async ({ tx, pid }) => {
    await tx.query(`SELECT pg_terminate_backend(${pid})`).catch(() => {});
    for (let statement = 0; statement < 3; statement++) await tx.query("SELECT 1").catch(() => {});
  },
};

/** Ends the connection that commits a row with a negative number. */
const DEATH_AT_COMMIT = [
  `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`,
  `CREATE CONSTRAINT TRIGGER death AFTER INSERT ON items DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION die()`,
];

async function stateOf({ sql }: Scratch, pid: number): Promise<unknown> {
  const [row] = await sql.unsafe(`SELECT state FROM pg_stat_activity WHERE pid = ${pid}`);
  return row?.["state"];
}

async function terminate(place: Scratch, pid: number): Promise<void> {
  await place.sql.unsafe(`SELECT pg_terminate_backend(${pid})`);
  await until("the connection to be gone", async () => await stateOf(place, pid) === undefined);
}

/** How a transaction ends. Where a driver loses its connection for good, it does only with the handle. */
async function endOf(transaction: Promise<unknown>): Promise<"committed" | "rejected"> {
  let end: "committed" | "rejected" | undefined;
  void transaction.then(() => end = "committed", () => end = "rejected");
  return await until("the transaction to end", () => end);
}

describe("a transaction whose connection is lost", () => {
  for (const [name, open] of Object.entries({ "postgres.js": HANDLES["postgres.js"], "pg": HANDLES["a pool of pg"] })) {
    for (const [moment, lose] of Object.entries(LOSSES)) {
      it(
        `${moment} rejects over '${name}', harms nobody, and the next one has another connection`,
        { skip, timeout: 30_000 },
        async () => {
          const place = await items();
          const handle = await open?.(place) ?? assert.fail("It is there");
          if ("on" in handle && typeof handle.on === "function") {
            handle.on("error", () => {/* as pg's own documents say */});
          }
          const session = postgresSession(handle);
          try {
            for (const text of DEATH_AT_COMMIT) await place.sql.unsafe(text);
            for (let round = 0; round < 5; round++) {
              const over: Promise<unknown> = session.transaction(async (tx) => {
                await tx.query("INSERT INTO items (id) VALUES (1)");
                const { rows: [row] } = await tx.query("SELECT pg_backend_pid() AS pid");
                const noticed = name === "pg" ? Promise.resolve() : over.catch(() => {});
                await lose({ place, tx, pid: Number(row?.["pid"]), noticed });
              });
              assert.equal(await endOf(over), "rejected");
              // postgres.js tells what ended a connection once more, to whoever has the next one.
              const next = (): Promise<unknown> =>
                session.transaction((tx) => tx.query("INSERT INTO items (id) VALUES (2)"));
              await until("a connection that works", async () => await endOf(next()) === "committed");
            }
            assert.deepEqual([...await place.sql.unsafe("SELECT id, count(*)::int AS n FROM items GROUP BY id")], [{
              id: 2,
              n: 5,
            }]);
          } finally {
            await place.close();
          }
        },
      );
    }
  }
});
