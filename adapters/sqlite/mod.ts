/**
 * SQLite: one file, no service. Over `node:sqlite`, which Deno, Bun and Node bring, or a handle with the same methods.
 *
 * @module
 */

export type { Clock } from "../../src/clock.ts";
export type { SqlResult, SqlRow, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
export type { SqliteDatabase, SqliteParam, SqliteStatement } from "./database.ts";
export { sqliteSession, type SqliteSessionOptions } from "./session.ts";
export { type SqliteIdempotencyStore, sqliteIdempotencyStore } from "./idempotency_store.ts";
export { type SqliteOutboxStore, sqliteOutboxStore } from "./outbox_store.ts";
export type {
  ClaimAnswer,
  ClaimedMessage,
  ClaimFate,
  HeldClaim,
  IdempotencyStore,
  OnceWithin,
  PurgeOptions,
  RenewAnswer,
  StoreCallOptions,
} from "../../src/ports/idempotency_store.ts";
export type { IdempotencyLayoutName } from "../sql/idempotency_layout.ts";
export type { SqlIdempotencyOptions } from "../sql/idempotency_options.ts";
export type { SqlIdempotencyStore, SqlIdempotencyTarget } from "../sql/idempotency_store.ts";
export type { NewId, Random } from "../../src/clock.ts";
export type { ColumnFacts, SqlDialect } from "../sql/dialect.ts";
export type { Fragment } from "../sql/fragment.ts";
export type {
  ClaimedFacts,
  ClaimedRow,
  OnRetired,
  OutboxAddOptions,
  OutboxClaim,
  OutboxClaimOptions,
  OutboxFailure,
  OutboxGiveBackOptions,
  OutboxListener,
  OutboxMode,
  OutboxNewsHooks,
  OutboxPurgeOptions,
  OutboxStats,
  OutboxStore,
  ReadableRow,
  RetiredRecord,
  UnreadableRow,
} from "../../src/ports/outbox_store.ts";
export type { Outbound } from "../../src/message/outbound.ts";
export type { OutboxLayoutName } from "../sql/outbox_layout.ts";
export type { SqlOutboxOptions } from "../sql/outbox_options.ts";
export type { OutboxNews, SqlOutboxStore, SqlOutboxTarget } from "../sql/outbox_store.ts";
export { sqliteSchemaRegistry } from "./schema_registry.ts";
export type {
  ImportedSchema,
  ImportOutcome,
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
  SchemaRegistry,
} from "../../src/ports/schema_registry.ts";
export type { CompatibilityMode } from "../../src/schema/compatibility.ts";
export type { SchemaDefinition, UnreadableParts } from "../../src/schema/definition.ts";
export type { RegistryLayoutName } from "../sql/registry_layout.ts";
export type { SqlSchemaRegistryOptions } from "../sql/registry_options.ts";
export type { SqlSchemaRegistry, SqlSchemaRegistryTarget } from "../sql/schema_registry.ts";
