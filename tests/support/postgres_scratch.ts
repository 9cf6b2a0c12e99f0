/**
 * Tables of one test on PostgreSQL, in a schema of its own that is removed at the end.
 *
 * @module
 */
import pg from "pg";
import postgres from "postgres";
import { randomUuid } from "../../src/clock.ts";
import { POSTGRES_URL } from "./services.ts";

/** The tables of one test. */
export interface Scratch {
  readonly schema: string;
  /** Handles whose statements find the tables of the schema; closed with it. */
  readonly postgresJs: (options?: { readonly max?: number }) => postgres.Sql;
  readonly pool: () => pg.Pool;
  readonly client: () => Promise<pg.Client>;
  /** Lets time pass for whoever asks for `statement_timestamp()` in the schema. */
  readonly pass: (ms: number) => Promise<void>;
  /** Stops that clock at an instant. */
  readonly freeze: (iso: string) => Promise<void>;
  /** Runs SQL in the schema, past everything that is tested. */
  readonly sql: postgres.Sql;
  readonly close: () => Promise<void>;
}

/** Makes a schema. */
export async function scratch(): Promise<Scratch> {
  const schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  // The schema comes before the database's own functions, so that its clock is asked.
  const path = `${schema},pg_catalog`;
  const ends: (() => Promise<unknown>)[] = [];
  // The database itself is not crashed, so no commit has to wait for the disk.
  const postgresJs = ({ max = 4 } = {}): postgres.Sql => {
    const connection = { search_path: path, synchronous_commit: "off" };
    const sql = postgres(POSTGRES_URL, { max, onnotice: () => {}, connection });
    ends.push(() => sql.end({ timeout: 5 }));
    return sql;
  };
  const settings = { connectionString: POSTGRES_URL, options: `-c search_path=${path} -c synchronous_commit=off` };
  const sql = postgresJs();
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  await sql.unsafe(`CREATE TABLE ${schema}.passed (ms float8, stopped timestamptz)`);
  await sql.unsafe(`INSERT INTO ${schema}.passed VALUES (0, NULL)`);
  await sql.unsafe(
    `CREATE FUNCTION ${schema}.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS
      $$ SELECT coalesce(stopped, pg_catalog.statement_timestamp()) + ms * interval '1 millisecond' FROM ${schema}.passed $$`,
  );
  return {
    schema,
    sql,
    pass: async (ms) => void await sql.unsafe(`UPDATE ${schema}.passed SET ms = ms + ${ms}`),
    freeze: async (iso) => void await sql.unsafe(`UPDATE ${schema}.passed SET stopped = '${iso}'`),
    postgresJs,
    pool: () => {
      const pool = new pg.Pool({ ...settings, max: 4 });
      ends.push(() => pool.ended ? Promise.resolve() : pool.end());
      return pool;
    },
    client: async () => {
      const client = new pg.Client(settings);
      await client.connect();
      ends.push(() => client.end());
      return client;
    },
    close: async () => {
      const [last, ...others] = ends;
      // First, since an open transaction keeps its tables.
      for (const end of others.reverse()) await end();
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      await last?.();
    },
  };
}
