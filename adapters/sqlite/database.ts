/**
 * The part of a SQLite handle used here. `DatabaseSync` of `node:sqlite` has it on Deno, Bun and Node; so have the handles of
 * `better-sqlite3` and `bun:sqlite`.
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import type { SqlResult, SqlValue } from "../../src/ports/sql_session.ts";
import type { SqlConnection } from "../sql/connection_session.ts";
import { hasMembers } from "../sql/given_session.ts";

/** A prepared statement. */
export interface SqliteStatement {
  /** Runs it and gives its rows. */
  all(...params: SqliteParam[]): unknown[];
  /** Runs it and says how many rows it changed. */
  run(...params: SqliteParam[]): { readonly changes: number | bigint };
  /** Of `node:sqlite`: whether a row is an array, which a database may have been opened for. */
  setReturnArrays?(isArray: boolean): void;
}

/** What a driver is handed. */
export type SqliteParam = string | number | bigint | null | Uint8Array;

/** An open database. */
export interface SqliteDatabase {
  /** Prepares one statement. */
  prepare(text: string): SqliteStatement;
  /** Whether a transaction is open, as `node:sqlite` calls it. */
  readonly isTransaction?: boolean;
  /** The same, as `better-sqlite3` and `bun:sqlite` call it. */
  readonly inTransaction?: boolean;
}

/** A statement, and how it is called. */
interface Prepared {
  readonly statement: SqliteStatement;
  readonly givesRows: boolean;
}

/** A statement that gives rows. Ours and those of the documents begin with one of these words, or say RETURNING. */
const GIVES_ROWS = /^\s*(?:select|with|pragma|values|explain)\b|\breturning\b/i;

/** A store has a dozen statements; whoever writes values into the text is not kept. */
const MOST_PREPARED = 100;

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** Throws a `TypeError` for what is no open handle: a path, for one. */
export function assertSqliteDatabase(database: unknown): asserts database is SqliteDatabase {
  if (hasMembers(database) && "prepare" in database && typeof database.prepare === "function") return;
  throw new TypeError(
    `Cannot use the database handle: an open one of SQLite is wanted, as of 'new DatabaseSync(path)', found ${
      describeKind(database)
    }`,
  );
}

/** The connection a handle is. */
export function sqliteConnection(database: SqliteDatabase): SqlConnection {
  assertSqliteDatabase(database);
  const prepared = new Map<string, Prepared>();
  const prepare = (text: string): Prepared => {
    const kept = prepared.get(text);
    if (kept !== undefined) return kept;
    const made = { statement: database.prepare(text), givesRows: GIVES_ROWS.test(text) };
    made.statement.setReturnArrays?.(false);
    if (prepared.size < MOST_PREPARED) prepared.set(text, made);
    return made;
  };
  const runNow = (text: string, params: readonly SqlValue[]): SqlResult => run(prepare(text), params);
  return {
    handle: database,
    // At once with the right to write: a transaction that begins by reading may find later that it cannot.
    begin: "BEGIN IMMEDIATE",
    isInTransaction: () => database.isTransaction ?? database.inTransaction,
    // In a microtask: a driver that throws rejects.
    run: async (text, params) => runNow(text, params),
    runNow,
    commit: async () => void runNow("COMMIT", []),
    isBusy,
  };
}

function run({ statement, givesRows }: Prepared, params: readonly SqlValue[]): SqlResult {
  if (!givesRows) return { rows: [], changes: Number(statement.run(...params).changes) };
  const rows = statement.all(...params) as SqlResult["rows"];
  return { rows, changes: rows.length };
}

/** The drivers tell it by a number, by a name, or only by the text. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === "number") return [SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff);
  if (typeof code === "string" && /^SQLITE_(?:BUSY|LOCKED)/.test(code)) return true;
  return /database (?:table )?is locked/.test(error.message);
}
