/**
 * PostgreSQL, over `postgres` (postgres.js) or `pg`; the handle is handed in, and neither is imported here.
 *
 * @module
 */

export type { Clock } from "../../src/clock.ts";
export type { SqlResult, SqlRow, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";
export type {
  PgClient,
  PgPool,
  PgPoolClient,
  PgResult,
  PostgresHandle,
  PostgresJs,
  PostgresJsResult,
} from "./drivers.ts";
export { postgresSession, type PostgresSessionOptions } from "./session.ts";
export { type PostgresIdempotencyStore, postgresIdempotencyStore } from "./idempotency_store.ts";
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
export type { SqlIdempotencyOptions, SqlIdempotencyStore, SqlIdempotencyTarget } from "../sql/idempotency_store.ts";
export type { NewId, Random } from "../../src/clock.ts";
export type { ColumnFacts, SqlDialect } from "../sql/dialect.ts";
export type { Fragment } from "../sql/fragment.ts";
