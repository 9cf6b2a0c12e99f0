/** The session over `node:sqlite`, on a file that other handles see as well. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { type SqliteDatabase, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { sqlSessionContract } from "../../contract/sql_session.ts";

interface Files {
  readonly database: DatabaseSync;
  readonly other: DatabaseSync;
  readonly close: () => void;
}

function files(): Files {
  const folder = mkdtempSync(join(tmpdir(), "acemq-sqlite-"));
  const path = join(folder, "a.sqlite");
  const database = new DatabaseSync(path, { timeout: 0 });
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE items (id INTEGER, body BLOB)");
  const other = new DatabaseSync(path, { timeout: 0 });
  const close = (): void => {
    database.close();
    other.close();
    rmSync(folder, { recursive: true });
  };
  return { database, other, close };
}

function countOf(database: DatabaseSync): number {
  return Number(database.prepare("SELECT count(*) AS n FROM items").get()?.["n"]);
}

async function withFiles(body: (files: Files) => Promise<void>): Promise<void> {
  const opened = files();
  try {
    await body(opened);
  } finally {
    opened.close();
  }
}

sqlSessionContract("node:sqlite", async () => {
  const { database, other, close } = files();
  return {
    session: sqliteSession(database),
    table: "items",
    placeholder: () => "?",
    committed: async () => countOf(other),
    close: async () => close(),
  };
});

describe("a session over a SQLite handle", () => {
  it("shares its turns with every session of the handle", () =>
    withFiles(async ({ database, other }) => {
      const [one, two] = [sqliteSession(database), sqliteSession(database)];
      const failing = one.transaction(async (tx) => {
        await tx.query("INSERT INTO items (id) VALUES (1)");
        throw new Error("rolled back");
      });
      const beside = two.query("INSERT INTO items (id) VALUES (2)");
      await assert.rejects(failing, /rolled back/);
      await beside;
      assert.equal(countOf(other), 1);
    }));

  it("lets a transaction write that has read, although another process wants to write as well", () =>
    withFiles(async ({ database, other }) => {
      const sessions = [sqliteSession(database), sqliteSession(other)];
      await Promise.all([...sessions, ...sessions].map((session) =>
        session.transaction(async (tx) => {
          const { rows: [row] } = await tx.query("SELECT count(*) AS n FROM items");
          await tx.query("INSERT INTO items (id) VALUES (?)", [Number(row?.["n"])]);
        })
      ));
      const ids = database.prepare("SELECT id FROM items ORDER BY id").all().map(({ id }) => id);
      assert.deepEqual(ids, [0, 1, 2, 3]);
    }));

  it("waits for a transaction that was begun by hand, and says so when it does not end", () =>
    withFiles(async ({ database }) => {
      const session = sqliteSession(database, { busyTimeoutMs: 50 });
      database.exec("BEGIN");
      await assert.rejects(session.query("INSERT INTO items (id) VALUES (1)"), {
        name: "StoreError",
        code: "ACEMQ_STORE",
        message: /a transaction that somebody began on the same handle is still open/,
      });
      const waiting = sqliteSession(database).query("INSERT INTO items (id) VALUES (2)");
      database.exec("ROLLBACK");
      assert.equal((await waiting).changes, 1);
      assert.equal(countOf(database), 1);
    }));

  it("does not wait for ever for the transaction it stands in itself", () =>
    withFiles(async ({ database }) => {
      const session = sqliteSession(database, { busyTimeoutMs: 50 });
      const work = session.transaction(async () => void await session.query("SELECT 1"));
      await assert.rejects(work, { code: "ACEMQ_STORE", message: /a transaction on the same handle is still open/ });
      assert.equal((await session.query("SELECT 1 AS one")).rows.length, 1);
    }));

  it("waits for a lock of another process without blocking the event loop, and rejects with the driver's error at its end", () =>
    withFiles(async ({ database, other }) => {
      const session = sqliteSession(database, { busyTimeoutMs: 60 });
      other.exec("BEGIN IMMEDIATE");
      let turns = 0;
      const timer = setInterval(() => turns++, 5);
      await assert.rejects(session.query("INSERT INTO items (id) VALUES (1)"), /database is locked/);
      clearInterval(timer);
      assert.ok(turns > 1, `${turns} turns`);
      const waiting = sqliteSession(database).transaction((tx) => tx.query("INSERT INTO items (id) VALUES (1)"));
      other.exec("COMMIT");
      assert.equal((await waiting).changes, 1);
    }));

  it("tells a lock by the number, the name or the text its driver has for it", async () => {
    const errors = [
      Object.assign(new Error("busy"), { errcode: 5 }),
      Object.assign(new Error("busy snapshot"), { errcode: 517 }),
      Object.assign(new Error("busy"), { code: "SQLITE_BUSY" }),
      new Error("database is locked"),
      new Error("database table is locked: items"),
    ];
    for (const error of errors) {
      let isLocked = true;
      const run = (): { changes: number } => {
        if (!isLocked) return { changes: 1 };
        isLocked = false;
        throw error;
      };
      const handle: SqliteDatabase = { isTransaction: false, prepare: () => ({ all: () => [], run }) };
      assert.equal((await sqliteSession(handle).query("DELETE FROM items")).changes, 1, error.message);
    }
  });

  it("refuses a time out of range", () => {
    const handle: SqliteDatabase = {
      isTransaction: false,
      prepare: () => ({ all: () => [], run: () => ({ changes: 0 }) }),
    };
    assert.throws(() => sqliteSession(handle, { busyTimeoutMs: -1 }), RangeError);
    assert.throws(() => sqliteSession(handle, { busyTimeoutMs: NaN }), RangeError);
  });
});
