/**
 * Schemas in a SQLite file.
 *
 * @module
 */

import type { SqlSession } from "../../src/ports/sql_session.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { isSqlSession } from "../sql/given_session.ts";
import { assertRegistryOptions, type SqlSchemaRegistryOptions } from "../sql/registry_options.ts";
import { SqlSchemaRegistry } from "../sql/schema_registry.ts";
import type { SqliteDatabase } from "./database.ts";
import { sqliteSession } from "./session.ts";

/**
 * A registry of schemas in a SQLite file: any number of processes of one machine share it. The table may be one that Python's, Ruby's or
 * Go's library has made; one of Java's or .NET's is read, and nothing is registered there.
 *
 * Price: a schema is asked for once and kept for ever; a registration is one transaction.
 *
 * @throws {TypeError} an option that there is not, or of another type; a handle that is none; a session with a transaction open
 * @throws {RangeError} a table name that is none
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DatabaseSync } from "node:sqlite";
 * import { sqliteSchemaRegistry } from "@acemq/amqp/sqlite";
 *
 * const registry = sqliteSchemaRegistry(new DatabaseSync(":memory:"));
 * await registry.createSchemaIfAbsent();
 * const text = { format: "avro", definition: '"string"' };
 * const { id, version } = await registry.register("note.taken", text);
 * assert.deepEqual([id, version], [1, 1]);
 * assert.equal((await registry.register("note.taken", text)).id, 1);
 * assert.equal((await registry.byId(1)).definition, '"string"');
 * ```
 */
export function sqliteSchemaRegistry(
  database: SqliteDatabase | SqlSession,
  options: SqlSchemaRegistryOptions = {},
): SqlSchemaRegistry {
  assertRegistryOptions(options);
  const { clock } = options;
  const session = isSqlSession(database) ? database : sqliteSession(database, clock === undefined ? {} : { clock });
  return new SqlSchemaRegistry({ session, dialect: sqliteDialect() }, options);
}
