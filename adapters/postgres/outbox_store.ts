/**
 * An outbox in PostgreSQL.
 *
 * @module
 */

import { randomUuid, systemClock, systemRandom } from "../../src/clock.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { assertInTransaction, isSqlSession } from "../sql/given_session.ts";
import { type OutboxNews, SqlOutboxStore } from "../sql/outbox_store.ts";
import { isPgPool, isPostgresJs, isPostgresJsListener, type PostgresHandle } from "./drivers.ts";
import type { OpenLine } from "./notifications.ts";
import { listenToOutbox } from "./outbox_listener.ts";
import { OutboxNotifier } from "./outbox_notifier.ts";
import { assertPostgresOutboxOptions, type PostgresOutboxOptions } from "./outbox_options.ts";
import { pgLines } from "./pg_line.ts";
import { postgresJsLines } from "./postgres_js_line.ts";
import { postgresSession } from "./session.ts";

/** An outbox in PostgreSQL. */
export type PostgresOutboxStore = SqlOutboxStore<PostgresHandle>;

/**
 * An outbox in PostgreSQL: a message is written in the transaction of the work it tells of, and a relay publishes it later. Any number of
 * replicas share the table. Leases run by the database's clock.
 *
 * `add` takes what the driver calls a transaction, or the session of one; of a connection reserved from `postgres` the driver does not
 * tell whether a transaction is open, so it takes `postgresSession(reserved, { inTransaction: true })`. The store's own statements, which
 * are the relay's, run on the handle given here: a root or a pool, not a connection somebody's transaction is open on.
 *
 * When what was added is there, the relays of other processes are told by `NOTIFY`, on that handle and outside of the transaction, at
 * most fifty times a second. A relay listens on a connection of its own: `postgres` makes one for the root and keeps it until the root
 * is ended, of `pg` it is a client of the pool.
 *
 * Price: a row more in the transaction, and as much of the table as the message is long, until it is purged; a small statement or two
 * beside it.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 * @throws {TypeError} the handle is neither of `postgres` nor of `pg`
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresOutboxStore } from "@acemq/amqp/postgres";
 *
 * // Any object with the methods of the driver; in a program: `postgres("postgres://…")`.
 * const sql = { unsafe: () => Promise.reject(new Error("the database is away")), begin: () => Promise.reject() };
 * const outbox = postgresOutboxStore(sql);
 * await assert.rejects(outbox.stats(), { code: "ACEMQ_STORE" });
 * ```
 */
export function postgresOutboxStore(
  handle: PostgresHandle | SqlSession,
  options: PostgresOutboxOptions = {},
): PostgresOutboxStore {
  assertPostgresOutboxOptions(options);
  const { clock } = options;
  const session = isSqlSession(handle) ? handle : postgresSession(handle, clock === undefined ? {} : { clock });
  const sessionOf = (tx: PostgresHandle | SqlSession, { outside }: { readonly outside: boolean }): SqlSession => {
    const given = isSqlSession(tx) ? tx : postgresSession(tx);
    return outside ? given : assertInTransaction(given);
  };
  const news = newsOf(session, linesOf(handle, options), options);
  return new SqlOutboxStore({ session, dialect: postgresDialect(), sessionOf, ...(news && { news }) }, options);
}

/** How lines are opened; undefined where the handle is one connection, or a session that does not say. */
function linesOf(handle: PostgresHandle | SqlSession, { listenOn }: PostgresOutboxOptions): OpenLine | undefined {
  const on = listenOn ?? (isSqlSession(handle) ? undefined : handle);
  if (on === undefined) return undefined;
  if (isPostgresJs(on) && isPostgresJsListener(on)) return postgresJsLines(on);
  return isPgPool(on) ? pgLines(on) : undefined;
}

function newsOf(
  session: SqlSession,
  open: OpenLine | undefined,
  { table = "acemq_outbox", news = true, clock = systemClock(), newId = randomUuid, random = systemRandom }:
    PostgresOutboxOptions,
): OutboxNews | undefined {
  if (!news) return undefined;
  const notifier = new OutboxNotifier({ session, table, clock });
  return {
    added: (ids, facts) => notifier.added(ids, facts),
    taken: (ids) => notifier.taken(ids),
    ...(open && {
      listen: (hooks, options) => listenToOutbox({ session, table, open, clock, newId, random }, hooks, options),
    }),
  };
}
