/**
 * What a session over a database handle must do: `node:test` cases to run against an adapter.
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
import { contractOptions } from "./options.ts";

/** A session and what the cases need beside it. */
export interface SessionUnderTest {
  /** On which transactions can be begun. */
  readonly session: SqlSession;
  /** An empty table `items (id INTEGER, body …)`, whose second column takes bytes. */
  readonly table: string;
  /** The placeholder of the parameter with this number, from 1. */
  readonly placeholder: (number: number) => string;
  /** Rows of the table as another handle sees them: what is committed. */
  readonly committed: () => Promise<number>;
  /** Removes the table and closes the handles. */
  readonly close: () => Promise<void>;
}

/** Options of {@linkcode sqlSessionContract}. */
export interface SqlSessionContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/**
 * Registers the cases for a session on which transactions can be begun.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { sqlSessionContract } from "@acemq/amqp/contracts";
 * import { sqliteSession } from "@acemq/amqp/sqlite";
 *
 * sqlSessionContract("node:sqlite", async () => {
 *   const database = new DatabaseSync(":memory:");
 *   database.exec("CREATE TABLE items (id INTEGER, body BLOB)");
 *   const count = () => Number(database.prepare("SELECT count(*) AS n FROM items").get()?.n);
 *   return {
 *     session: sqliteSession(database),
 *     table: "items",
 *     placeholder: () => "?",
 *     committed: async () => database.isTransaction ? 0 : count(),
 *     close: async () => database.close(),
 *   };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function sqlSessionContract(
  name: string,
  open: () => Promise<SessionUnderTest>,
  options: SqlSessionContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The session contract on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 30_000 }, () => runCase(open, body));
  });
}

type Case = (under: SessionUnderTest) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  "says how many rows a statement changed": async ({ session, table }) => {
    assert.equal((await insert(session, table, "(1, NULL), (2, NULL)")).changes, 2);
    assert.equal((await session.query(`UPDATE ${table} SET id = 3 WHERE id = 1`)).changes, 1);
    assert.equal((await session.query(`DELETE FROM ${table} WHERE id = 99`)).changes, 0);
  },

  "gives rows by the names of their columns, also those a statement returns that changes them": async (under) => {
    const { session, table } = under;
    const { rows, changes } = await session.query(`INSERT INTO ${table} (id) VALUES (7) RETURNING id AS "theId"`);
    assert.deepEqual(rows.map(({ theId }) => Number(theId)), [7]);
    assert.equal(changes, 1);
    assert.deepEqual((await session.query(`SELECT id FROM ${table} WHERE id = 8`)).rows, []);
  },

  "binds texts, numbers, big integers, null and bytes, and nothing else": async (under) => {
    const { session, table, placeholder } = under;
    const text = `INSERT INTO ${table} (id, body) VALUES (${placeholder(1)}, ${placeholder(2)})`;
    const view = new Uint8Array([9, 1, 2, 255, 9]).subarray(1, 4);
    await session.query(text, [1, view]);
    await session.query(text, [2n, null]);
    const { rows } = await session.query(`SELECT body FROM ${table} ORDER BY id`);
    assert.deepEqual([...new Uint8Array(rows[0]?.["body"] as Uint8Array)], [1, 2, 255]);
    assert.equal(rows[1]?.["body"], null);
    for (const value of [new Date(0), true, undefined, NaN, Infinity, {}, new ArrayBuffer(2)]) {
      await assert.rejects(session.query(text, [3, value as SqlValue]), /Cannot bind parameter 2/);
    }
    assert.equal(await under.committed(), 2);
  },

  "does not take a text for SQL": async ({ session, placeholder }) => {
    const text = `it's "quoted" \\ %s ? $1 -- größe 😀`;
    const { rows } = await session.query(`SELECT CAST(${placeholder(1)} AS TEXT) AS said`, [text]);
    assert.equal(rows[0]?.["said"], text);
  },

  "commits what a transaction's session did, and gives back what the work gave": async (under) => {
    const { session, table } = under;
    assert.equal(session.inTransaction, false);
    const result = await session.transaction(async (tx) => {
      assert.equal(tx.inTransaction, true);
      await insert(tx, table, "(1, NULL)");
      assert.equal(await under.committed(), 0);
      return "done";
    });
    assert.equal(result, "done");
    assert.equal(await under.committed(), 1);
    assert.equal(session.inTransaction, false);
  },

  "rolls back when the work rejects, with the work's own error": async (under) => {
    const error = new Error("no");
    const work = under.session.transaction(async (tx) => {
      await insert(tx, under.table, "(1, NULL)");
      throw error;
    });
    await assert.rejects(work, (caught) => caught === error);
    assert.equal(await under.committed(), 0);
    await insert(under.session, under.table, "(2, NULL)");
    assert.equal(await under.committed(), 1);
  },

  "does not call committed what the database rolled back": async (under) => {
    const work = under.session.transaction(async (tx) => {
      await insert(tx, under.table, "(1, NULL)");
      // A statement that fails, and work that goes on as if it had not.
      await tx.query("SELECT nothing FROM nowhere").catch(() => {});
    });
    const outcome = await work.then(() => "committed", () => "rolled back");
    assert.equal(await under.committed(), outcome === "committed" ? 1 : 0);
  },

  "joins a transaction that is begun inside of one": async (under) => {
    const { session, table } = under;
    const work = session.transaction(async (tx) => {
      await tx.transaction((inner) => insert(inner, table, "(1, NULL)"));
      throw new Error("outer");
    });
    await assert.rejects(work, /outer/);
    assert.equal(await under.committed(), 0);
  },

  "refuses a statement on the session of a transaction that has ended": async ({ session, table }) => {
    const kept = await session.transaction(async (tx) => tx);
    assert.equal(kept.inTransaction, false);
    await assert.rejects(insert(kept, table, "(1, NULL)"), /the transaction has ended/);
  },

  "lets no statement of another task into an open transaction": async (under) => {
    const { session, table } = under;
    const [begun, open] = [deferred(), deferred()];
    const failing = session.transaction(async (tx) => {
      await insert(tx, table, "(1, NULL)");
      begun.resolve();
      await open.promise;
      throw new Error("rolled back");
    });
    await begun.promise;
    const other = insert(session, table, "(2, NULL)");
    const third = session.transaction((tx) => insert(tx, table, "(3, NULL)"));
    open.resolve();
    await assert.rejects(failing, /rolled back/);
    await Promise.all([other, third]);
    const { rows } = await session.query(`SELECT id FROM ${table} ORDER BY id`);
    assert.deepEqual(rows.map(({ id }) => Number(id)), [2, 3]);
  },

  "keeps fifty transactions at once apart": async (under) => {
    const { session, table } = under;
    const works = Array.from({ length: 50 }, (_, id) =>
      session.transaction(async (tx) => {
        await insert(tx, table, `(${id}, NULL)`);
        await insert(tx, table, `(${id}, NULL)`);
        if (id % 2 === 1) throw new Error("odd");
      }));
    await Promise.allSettled(works);
    assert.equal(await under.committed(), 50);
    const { rows } = await session.query(`SELECT count(*) AS n FROM ${table} WHERE id % 2 = 1`);
    assert.equal(Number(rows[0]?.["n"]), 0);
  },

  "rejects with the driver's error, and goes on": async ({ session, table }) => {
    await assert.rejects(session.query("SELECT nothing FROM nowhere"), Error);
    assert.equal((await insert(session, table, "(1, NULL)")).changes, 1);
  },
};

function insert(session: SqlSession, table: string, values: string): ReturnType<SqlSession["query"]> {
  return session.query(`INSERT INTO ${table} (id, body) VALUES ${values}`);
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => resolve = done);
  return { promise, resolve };
}

async function runCase(open: () => Promise<SessionUnderTest>, body: Case): Promise<void> {
  const under = await open();
  try {
    await body(under);
  } finally {
    await under.close();
  }
}
