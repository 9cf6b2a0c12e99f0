/** Sessions over the handles of both PostgreSQL drivers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PostgresHandle, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { type SessionUnderTest, sqlSessionContract } from "../../contract/sql_session.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { deferred } from "../../support/until.ts";

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
  "postgres.js": (place) => place.postgresJs(),
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

  it(
    "rejects when its connection is lost, and what the work does about it harms nobody",
    { skip },
    inPlace(async (place) => {
      const session = postgresSession(place.postgresJs());
      for (const moment of ["in a statement", "between two"] as const) {
        const noticed = deferred();
        const over = session.transaction(async (tx) => {
          if (moment === "in a statement") await tx.query("SELECT pg_terminate_backend(pg_backend_pid())");
          const { rows: [row] } = await tx.query("SELECT pg_backend_pid() AS pid");
          await place.sql.unsafe(`SELECT pg_terminate_backend(${Number(row?.["pid"])})`);
          await noticed.promise;
          await tx.query("SELECT 1");
        });
        await assert.rejects(over, moment);
        noticed.resolve();
        assert.equal((await session.query("SELECT 1 AS one")).changes, 1);
      }
    }),
  );

  it("refuses what is no handle of the two drivers", () => {
    assert.throws(() => postgresSession({} as PostgresHandle), TypeError);
  });
});
