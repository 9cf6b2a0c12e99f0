/**
 * A session over a database that a test takes away: both drivers come back to it, and no program dies of it.
 *
 * @module
 */
import pg from "pg";
import postgres from "postgres";
import { postgresSession } from "../../adapters/postgres/mod.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";

/** A session, and the end of what is under it. */
export interface PatientSession {
  readonly session: SqlSession;
  end(): Promise<void>;
}

type PatientOptions = Pick<postgres.Options<never>, "onnotice" | "connect_timeout" | "fetch_types"> & {
  readonly backoff: () => number;
};

/** How postgres.js stays with a database that goes away. */
export const PATIENT: PatientOptions = {
  onnotice: () => {},
  // By itself it waits longer and longer before it connects again, up to 20 seconds.
  backoff: () => 0.02,
  connect_timeout: 3,
  // A connection that is lost while the driver asks for the types of arrays rejects a promise that nobody has.
  fetch_types: false,
};

/** Opens one. */
export function patientSession(driver: "postgres" | "pg", url: string): PatientSession {
  if (driver === "pg") {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    // A program that does not listen dies of the first connection that is lost.
    pool.on("error", () => {});
    return { session: postgresSession(pool), end: () => pool.end() };
  }
  const sql = postgres(url, { ...PATIENT, max: 4 });
  return { session: postgresSession(sql), end: () => sql.end({ timeout: 5 }) };
}
