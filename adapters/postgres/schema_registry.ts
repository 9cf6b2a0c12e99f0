/**
 * Schemas in PostgreSQL.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { isSqlSession } from "../sql/given_session.ts";
import { assertRegistryOptions, type SqlSchemaRegistryOptions } from "../sql/registry_options.ts";
import { SqlSchemaRegistry } from "../sql/schema_registry.ts";
import type { PostgresHandle } from "./drivers.ts";
import { postgresSession } from "./session.ts";

/**
 * A registry of schemas in PostgreSQL: any number of services share it. The table may be one that Ruby's, Python's or Go's library has
 * made; one of Java's or .NET's is read, and nothing is registered there.
 *
 * Price: a schema is asked for once and kept for ever; a registration is one transaction, and registrations wait for one another.
 *
 * @throws {RangeError} a table name that is none
 * @throws {TypeError} the handle is neither of `postgres` nor of `pg`, or has a transaction open; an option that there is not, or of
 *   another type
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { postgresSchemaRegistry } from "@acemq/amqp/postgres";
 *
 * // Any object with the methods of the driver; in a program: `postgres("postgres://…")`.
 * const sql = { unsafe: () => Promise.reject(new Error("the database is away")), begin: () => Promise.reject() };
 * const registry = postgresSchemaRegistry(sql);
 * await assert.rejects(registry.byId(7), { code: "ACEMQ_STORE" });
 * ```
 */
export function postgresSchemaRegistry(
  handle: PostgresHandle | SqlSession,
  options: SqlSchemaRegistryOptions = {},
): SqlSchemaRegistry {
  assertRegistryOptions(options);
  const { clock } = options;
  const session = isSqlSession(handle) ? handle : postgresSession(handle, clock === undefined ? {} : { clock });
  return new SqlSchemaRegistry({ session, dialect: postgresDialect() }, options);
}
