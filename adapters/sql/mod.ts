/**
 * What the SQL adapters share, and sessions over other people's transactions: Kysely, Drizzle, Knex.
 *
 * @module
 */

export type { SqlResult, SqlRow, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
export { drizzleSession, type DrizzleTransaction } from "./drizzle_session.ts";
export { knexSession, type KnexTransaction } from "./knex_session.ts";
export { kyselySession, type KyselyTransaction } from "./kysely_session.ts";
export { type IdempotencySchemaOptions, idempotencySchemaSql } from "./idempotency_schema.ts";
export type { IdempotencyLayoutName } from "./idempotency_layout.ts";
export type { ColumnFacts, SqlDialect } from "./dialect.ts";
export type { Fragment } from "./fragment.ts";
export { outboxOrderingSql, type OutboxSchemaOptions, outboxSchemaSql } from "./outbox_schema.ts";
export type { OutboxLayoutName } from "./outbox_layout.ts";
export { type RegistrySchemaOptions, registrySchemaSql } from "./registry_schema.ts";
export type { RegistryLayoutName } from "./registry_layout.ts";
