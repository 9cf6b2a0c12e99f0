/**
 * Claims in a SQLite file.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { isSqlSession } from "../sql/given_session.ts";
import { assertIdempotencyOptions, type SqlIdempotencyOptions } from "../sql/idempotency_options.ts";
import { SqlIdempotencyStore } from "../sql/idempotency_store.ts";
import type { SqliteDatabase } from "./database.ts";
import { sqliteSession } from "./session.ts";
import { sqliteTransaction } from "./transaction.ts";

/** A store of claims in SQLite. */
export type SqliteIdempotencyStore = SqlIdempotencyStore<SqliteDatabase>;

/**
 * A store of claims in a SQLite file: any number of processes of one machine share it.
 *
 * Price: a claim and a confirmation are two small transactions, and each waits for the disk as the file's `synchronous` says; with WAL
 * and `NORMAL`, some ten thousand a second.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DatabaseSync } from "node:sqlite";
 * import { sqliteIdempotencyStore } from "@acemq/amqp/sqlite";
 *
 * const seen = sqliteIdempotencyStore(new DatabaseSync(":memory:"));
 * await seen.createSchemaIfAbsent();
 * const claim = await seen.tryClaim("6f1d");
 * assert.equal(claim.status, "claimed");
 * assert.equal((await seen.tryClaim("6f1d")).status, "in_progress");
 * if (claim.status === "claimed") await seen.confirm("6f1d", claim.token);
 * assert.equal((await seen.tryClaim("6f1d")).status, "already_confirmed");
 * ```
 */
export function sqliteIdempotencyStore(
  database: SqliteDatabase | SqlSession,
  options: SqlIdempotencyOptions = {},
): SqliteIdempotencyStore {
  assertIdempotencyOptions(options);
  const { clock } = options;
  const session = isSqlSession(database) ? database : sqliteSession(database, clock === undefined ? {} : { clock });
  return new SqlIdempotencyStore({ session, dialect: sqliteDialect(), sessionOf: sqliteTransaction }, options);
}
