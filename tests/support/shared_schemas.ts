/**
 * A registry of schemas that several processes share.
 *
 * @module
 */
import { postgresSchemaRegistry } from "../../adapters/postgres/mod.ts";
import { sqliteSchemaRegistry, type SqlSchemaRegistry } from "../../adapters/sqlite/mod.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import type { SchemaDefinition } from "../../src/schema/definition.ts";
import {
  type MadeDatabase,
  makeSharedDatabase,
  openSharedDatabase,
  type SharedDatabase,
  type SharedDatabaseKind,
} from "./shared_database.ts";

/** What a process has of it. */
export interface SharedSchemas {
  readonly database: SharedDatabase;
  readonly registry: SqlSchemaRegistry;
}

/** A registry that was made for a test; another process opens it by the address of the database. */
export interface MadeSchemas extends SharedSchemas {
  readonly database: MadeDatabase;
}

/** Makes it, empty; closing the database removes it. */
export async function makeSharedSchemas(kind: SharedDatabaseKind): Promise<MadeSchemas> {
  const database = await makeSharedDatabase(kind);
  const registry = registryIn(database, database.session);
  await registry.createSchemaIfAbsent();
  return { database, registry };
}

/** Opens what {@linkcode makeSharedSchemas} made, over a session that is made of the database's. */
export function openSharedSchemas(
  address: string,
  over: (session: SqlSession) => SqlSession = (session) => session,
): SharedSchemas {
  const database = openSharedDatabase(address);
  return { database, registry: registryIn(database, over(database.session)) };
}

function registryIn({ kind, table }: SharedDatabase, session: SqlSession): SqlSchemaRegistry {
  const make = kind === "SQLite" ? sqliteSchemaRegistry : postgresSchemaRegistry;
  return make(session, { table: table("acemq_schema_registry") });
}

/** A schema of a number; of a process's own, where it has one. */
export function numbered(number: number, owner = "all"): SchemaDefinition {
  return { format: "avro", definition: JSON.stringify({ type: "fixed", name: `Of${owner}`, size: number + 1 }) };
}

/** A session whose transactions are rolled back at the last moment, all of those that are told so. */
export function rolledBack(session: SqlSession, isTold: () => boolean): SqlSession {
  return {
    inTransaction: session.inTransaction,
    query: (text, params) => session.query(text, params),
    transaction: (work) =>
      session.transaction(async (tx) => {
        const result = await work(tx);
        if (isTold()) throw new Error("rolled back by the test");
        return result;
      }),
  };
}
