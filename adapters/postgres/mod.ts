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
