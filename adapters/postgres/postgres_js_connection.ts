/**
 * A transaction or a reserved connection of postgres.js as one connection.
 *
 * @module
 */

import type { SqlResult, SqlValue } from "../../src/ports/sql_session.ts";
import type { SqlConnection } from "../sql/connection_session.ts";
import type { PostgresJs } from "./drivers.ts";
import { assertCommitted } from "./pg_connection.ts";

/** The connection such a handle is. Of a reserved one the driver does not tell whether a transaction is open. */
export function postgresJsConnection(sql: PostgresJs): SqlConnection {
  return {
    handle: sql,
    begin: "BEGIN",
    isInTransaction: () => typeof sql.savepoint === "function" ? true : undefined,
    run: (text, params) => runPostgresJs(sql, text, params),
    commit: async () => {
      const { command } = await sql.unsafe("COMMIT");
      assertCommitted(command);
    },
    isBusy: () => false,
  };
}

/** Runs one statement, unprepared: it has to work behind a pooler that gives every transaction another connection. */
export async function runPostgresJs(sql: PostgresJs, text: string, params: readonly SqlValue[]): Promise<SqlResult> {
  // The driver takes all of these; its type names only those its options were set up for.
  const result = await sql.unsafe(text, [...params] as never[]);
  return { rows: [...result] as SqlResult["rows"], changes: result.count ?? 0 };
}
