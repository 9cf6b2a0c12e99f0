/**
 * SQLite: one file, no service. Over `node:sqlite`, which Deno, Bun and Node bring, or a handle with the same methods.
 *
 * @module
 */

export type { Clock } from "../../src/clock.ts";
export type { SqlResult, SqlRow, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
export type { SqliteDatabase, SqliteParam, SqliteStatement } from "./database.ts";
export { sqliteSession, type SqliteSessionOptions } from "./session.ts";
