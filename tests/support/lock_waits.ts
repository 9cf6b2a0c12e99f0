/**
 * Waiting until somebody in PostgreSQL waits for somebody else.
 *
 * @module
 */
import type { Scratch } from "./postgres_scratch.ts";
import { until } from "./until.ts";

/** Resolves when somebody who has the table in hand waits for a lock. */
export async function somebodyWaitsAt({ schema, sql }: Scratch, table: string): Promise<void> {
  await until("somebody waits for a lock", async () => {
    const rows = await sql.unsafe(
      `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid IN (
        SELECT pid FROM pg_locks WHERE relation = '${schema}.${table}'::regclass
        UNION SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = '${schema}.${table}'::regclass::oid)`,
    );
    return rows.length > 0;
  });
}
