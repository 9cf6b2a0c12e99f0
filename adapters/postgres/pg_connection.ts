/**
 * A client of `pg` as one connection.
 *
 * @module
 */

import { StoreError } from "../../src/errors.ts";
import type { SqlResult, SqlValue } from "../../src/ports/sql_session.ts";
import type { SqlConnection } from "../sql/connection_session.ts";
import type { PgClient, PgPool } from "./drivers.ts";

/** What a driver says of the end of a transaction. PostgreSQL answers the commit of a failed one with a rollback, and no error. */
export function assertCommitted(command: string): void {
  if (command === "COMMIT") return;
  throw new StoreError("Cannot commit the transaction: a statement in it had failed, so the database rolled it back");
}

/** The connection a client is. */
export function pgConnection(client: PgClient): SqlConnection {
  return {
    handle: client,
    begin: "BEGIN",
    isInTransaction: () => {
      const status = client.getTransactionStatus?.() ?? undefined;
      return status === undefined ? undefined : status !== "I";
    },
    run: (text, params) => runPg(client, text, params),
    commit: async () => assertCommitted((await client.query("COMMIT")).command),
    isBusy: () => false,
  };
}

/** Runs one statement on a pool or a client. */
export async function runPg(
  target: Pick<PgPool | PgClient, "query">,
  text: string,
  params: readonly SqlValue[],
): Promise<SqlResult> {
  const { rows, rowCount } = await target.query(text, [...params]);
  return { rows: rows as SqlResult["rows"], changes: rowCount ?? 0 };
}
