/**
 * An outbox in a SQLite file.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { isSqlSession } from "../sql/given_session.ts";
import { assertOutboxOptions, type SqlOutboxOptions } from "../sql/outbox_options.ts";
import { SqlOutboxStore } from "../sql/outbox_store.ts";
import type { SqliteDatabase } from "./database.ts";
import { sqliteSession } from "./session.ts";
import { sqliteTransaction } from "./transaction.ts";

/** An outbox in SQLite. */
export type SqliteOutboxStore = SqlOutboxStore<SqliteDatabase>;

/**
 * An outbox in a SQLite file: a message is written in the transaction of the work it tells of, and a relay publishes it later. Any number
 * of processes of one machine share the file.
 *
 * `add` takes the handle a transaction is open on, or the session of one. The store's own statements, which are the relay's, run on
 * the handle given here: give it one that nobody's transaction is open on.
 *
 * Price: a row more in the transaction, and as much of the file as the message is long, until it is purged.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DatabaseSync } from "node:sqlite";
 * import { connect } from "@acemq/amqp";
 * import { memoryBroker } from "@acemq/amqp/memory";
 * import { sqliteOutboxStore, sqliteSession } from "@acemq/amqp/sqlite";
 *
 * const database = new DatabaseSync(":memory:");
 * database.exec("CREATE TABLE orders (id TEXT)");
 * const outbox = sqliteOutboxStore(database);
 * await outbox.createSchemaIfAbsent();
 *
 * const mq = await connect(memoryBroker());
 * const placed = mq.publisher("orders", "order.placed");
 * await sqliteSession(database).transaction(async (tx) => {
 *   await tx.query("INSERT INTO orders VALUES (?)", ["A-19"]);
 *   await outbox.add(tx, placed.prepare({ id: "A-19" }));
 * });
 * assert.equal((await outbox.stats()).pending, 1);
 * await mq.close();
 * ```
 */
export function sqliteOutboxStore(
  database: SqliteDatabase | SqlSession,
  options: SqlOutboxOptions = {},
): SqliteOutboxStore {
  assertOutboxOptions(options);
  const { clock } = options;
  const settings = clock === undefined ? {} : { clock };
  const session = isSqlSession(database) ? database : sqliteSession(database, settings);
  const sessionOf = (tx: SqliteDatabase | SqlSession, { outside }: { readonly outside: boolean }): SqlSession => {
    if (!outside) return sqliteTransaction(tx);
    return isSqlSession(tx) ? tx : sqliteSession(tx, settings);
  };
  return new SqlOutboxStore({ session, dialect: sqliteDialect(), sessionOf }, options);
}
