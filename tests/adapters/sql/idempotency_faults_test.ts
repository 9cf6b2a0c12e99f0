/** A database that refuses, is locked, or has no table: an error or a wait, never a false duplicate, never a false claim. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresIdempotencyStore } from "../../../adapters/postgres/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { RetryableError } from "../../../src/errors.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { type SqliteFile, sqliteFile } from "../../support/sqlite_scratch.ts";

const skip = await missing("postgresql");
const message = (id: string) => ({ envelope: { id } });

async function onSqlite(body: (file: SqliteFile) => Promise<void>): Promise<void> {
  const file = sqliteFile();
  try {
    await body(file);
  } finally {
    file.close();
  }
}

async function onPostgres(body: (place: Scratch) => Promise<void>): Promise<void> {
  const place = await scratch();
  try {
    await body(place);
  } finally {
    await place.close();
  }
}

describe("a claim in SQLite", () => {
  it("that a trigger refuses is an error that is retried, no duplicate [IDM-03, IDM-18]", () =>
    onSqlite(async (file) => {
      const database = file.open();
      const store = sqliteIdempotencyStore(database);
      await store.createSchemaIfAbsent();
      database.exec(
        "CREATE TRIGGER no BEFORE INSERT ON acemq_idempotency BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: x'); END",
      );
      const error = await store.tryClaim("m").then(() => assert.fail(), (error) => error);
      assert.ok(error instanceof RetryableError);
      assert.equal((error as { code?: string }).code, "ACEMQ_STORE");
      assert.doesNotMatch(error.message, /UNIQUE/);
      assert.match(String((error.cause as Error).message), /UNIQUE/);
    }));

  it("is told from a unique violation on another constraint", () =>
    onSqlite(async (file) => {
      const database = file.open();
      const store = sqliteIdempotencyStore(database);
      await store.createSchemaIfAbsent();
      database.exec("CREATE UNIQUE INDEX one_state ON acemq_idempotency (state)");
      assert.equal((await store.tryClaim("a")).status, "claimed");
      // Nothing was inserted and no row of that id is there: neither claimed nor a duplicate.
      assert.equal((await store.tryClaim("b")).status, "in_progress");
      assert.equal(await store.isConfirmed("b"), false);
    }));

  it("waits for a file another process has locked", () =>
    onSqlite(async (file) => {
      const store = sqliteIdempotencyStore(file.open());
      await store.createSchemaIfAbsent();
      const other = file.open();
      other.exec("BEGIN IMMEDIATE");
      const waiting = store.tryClaim("m");
      other.exec("COMMIT");
      assert.equal((await waiting).status, "claimed");
      const impatient = sqliteIdempotencyStore(sqliteSession(file.open(), { busyTimeoutMs: 20 }));
      other.exec("BEGIN IMMEDIATE");
      await assert.rejects(impatient.tryClaim("n"), { code: "ACEMQ_STORE" });
      other.exec("COMMIT");
    }));

  it("names the DDL when the table is missing, and works once it is there", () =>
    onSqlite(async (file) => {
      const store = sqliteIdempotencyStore(file.open());
      await assert.rejects(store.check(), { code: "ACEMQ_TABLE_LAYOUT", message: /idempotencySchemaSql/ });
      await store.createSchemaIfAbsent();
      await store.createSchemaIfAbsent();
      await store.check();
    }));

  it("is answered at once inside the transaction of its own handle, also the first time", () =>
    onSqlite(async (file) => {
      const database = file.open();
      await sqliteIdempotencyStore(database).createSchemaIfAbsent();
      const session = sqliteSession(database, { busyTimeoutMs: 100 });
      const store = sqliteIdempotencyStore(session);
      assert.equal(await session.transaction((tx) => store.onceWithin(tx, message("m"))), "confirmed");
    }));

  it("keeps its key a text, whatever is handed in [IDM-07]", () =>
    onSqlite(async (file) => {
      const database = file.open();
      const store = sqliteIdempotencyStore(database);
      await store.createSchemaIfAbsent();
      await assert.rejects(store.tryClaim(new TextEncoder().encode("m") as unknown as string), { code: "ACEMQ_FATAL" });
      await store.tryClaim("m");
      assert.deepEqual({ ...database.prepare("SELECT typeof(message_id) AS t FROM acemq_idempotency").get() }, {
        t: "text",
      });
    }));

  it("of a table from before confirmations, whose rows were made confirmed, is a duplicate [IDM-13]", () =>
    onSqlite(async (file) => {
      const database = file.open();
      database.exec("CREATE TABLE acemq_idempotency (key VARCHAR(255) PRIMARY KEY, handled_at TIMESTAMP NOT NULL)");
      const insert = database.prepare("INSERT INTO acemq_idempotency VALUES (?, ?)");
      insert.run("old", new Date().toISOString().replace("T", " ").replace("Z", "+00:00"));
      const store = sqliteIdempotencyStore(database);
      await assert.rejects(store.check(), { code: "ACEMQ_TABLE_LAYOUT" });
      database.exec("ALTER TABLE acemq_idempotency ADD COLUMN confirmed BOOLEAN NOT NULL DEFAULT TRUE");
      assert.deepEqual(await store.tryClaim("old"), { status: "already_confirmed" });
    }));
});

describe("a claim in PostgreSQL", () => {
  it(
    "that a trigger or a lock refuses is an error that is retried, no duplicate [IDM-03]",
    { skip },
    () =>
      onPostgres(async (place) => {
        const store = postgresIdempotencyStore(place.postgresJs());
        await store.createSchemaIfAbsent();
        await place.sql.unsafe(
          "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '23502'; END $$",
        );
        await place.sql.unsafe(
          "CREATE TRIGGER no BEFORE INSERT ON acemq_idempotency FOR EACH ROW EXECUTE FUNCTION refuse()",
        );
        await assert.rejects(store.tryClaim("m"), { code: "ACEMQ_STORE" });
        await place.sql.unsafe("DROP TRIGGER no ON acemq_idempotency");
        const client = await place.client();
        await client.query("SET lock_timeout = '30ms'");
        await place.sql.begin(async (tx) => {
          await tx.unsafe("LOCK TABLE acemq_idempotency");
          await assert.rejects(postgresIdempotencyStore(client).tryClaim("m"), { code: "ACEMQ_STORE" });
        });
        assert.equal((await store.tryClaim("m")).status, "claimed");
      }),
  );

  it("does not poison the transaction it is made in [IDM-15]", { skip }, () =>
    onPostgres(async (place) => {
      const sql = place.postgresJs();
      const store = postgresIdempotencyStore(sql);
      await store.createSchemaIfAbsent();
      await sql.begin(async (tx) => {
        assert.equal(await store.onceWithin(tx, message("a")), "confirmed");
        assert.equal(await store.onceWithin(tx, message("a")), "already_confirmed");
        assert.equal(await store.onceWithin(tx, message("b")), "confirmed");
      });
      assert.deepEqual(await Promise.all(["a", "b"].map((id) => store.isConfirmed(id))), [true, true]);
    }));

  it("is confirmed by its token inside the handler's transaction, and rolls the work back when it is somebody else's", {
    skip,
  }, () =>
    onPostgres(async (place) => {
      const sql = place.postgresJs();
      const store = postgresIdempotencyStore(sql, { claimTimeoutMs: 1_000 });
      await store.createSchemaIfAbsent();
      await sql.unsafe("CREATE TABLE work (id text)");
      const claim = await store.tryClaim("m");
      assert.ok(claim.status === "claimed");
      const handle = (): Promise<unknown> =>
        sql.begin(async (tx) => {
          await tx.unsafe("INSERT INTO work VALUES ('m')");
          return await store.onceWithin(tx, { ...message("m"), claim: { id: "m", token: claim.token } });
        });
      await place.pass(1_000);
      const taken = await store.tryClaim("m");
      assert.ok(taken.status === "claimed");
      await assert.rejects(handle(), { name: "LeaseLostError", code: "ACEMQ_LEASE_LOST" });
      assert.deepEqual([...await sql.unsafe("SELECT * FROM work")], []);
      await store.release("m", taken.token);
    }));

  it(
    "that somebody else works on is no duplicate for a program without a consumer",
    { skip },
    () =>
      onPostgres(async (place) => {
        const sql = place.postgresJs();
        const store = postgresIdempotencyStore(sql, { claimTimeoutMs: 1_000 });
        await store.createSchemaIfAbsent();
        await store.tryClaim("m");
        await assert.rejects(sql.begin((tx) => store.onceWithin(tx, message("m"))), { code: "ACEMQ_RETRYABLE" });
        await place.pass(1_000);
        assert.equal(await sql.begin((tx) => store.onceWithin(tx, message("m"))), "confirmed");
        await assert.rejects(store.onceWithin(sql, message("n")), /no transaction is open on it/);
      }),
  );

  it("is answered alike whatever the driver gives its rows as [IDM-08]", { skip }, () =>
    onPostgres(async (place) => {
      const pool = place.pool();
      // A program may have told its driver to read every column as a text.
      const texts = {
        query: (text: string, values?: unknown[]) =>
          pool.query({ text, values: values ?? [], types: { getTypeParser: () => String } }),
      };
      const handle = { ...texts, connect: () => pool.connect(), totalCount: 1 };
      const store = postgresIdempotencyStore(handle as never);
      await store.createSchemaIfAbsent();
      const claim = await store.tryClaim("m");
      assert.ok(claim.status === "claimed");
      assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
      await store.confirm("m", claim.token);
      assert.deepEqual(await store.tryClaim("m"), { status: "already_confirmed" });
      assert.equal(await store.count(), 1);
    }));
});
