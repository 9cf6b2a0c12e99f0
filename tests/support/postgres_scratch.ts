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
  /** Runs SQL in the schema, past everything that is tested. */
  readonly sql: postgres.Sql;
  readonly close: () => Promise<void>;
}

/** Makes a schema. */
export async function scratch(): Promise<Scratch> {
  const schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  const ends: (() => Promise<unknown>)[] = [];
  const postgresJs = ({ max = 4 } = {}): postgres.Sql => {
    const sql = postgres(POSTGRES_URL, { max, onnotice: () => {}, connection: { search_path: schema } });
    ends.push(() => sql.end({ timeout: 5 }));
    return sql;
  };
  const settings = { connectionString: POSTGRES_URL, options: `-c search_path=${schema}` };
  const sql = postgresJs();
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  return {
    schema,
    sql,
    postgresJs,
    pool: () => {
      const pool = new pg.Pool({ ...settings, max: 4 });
      ends.push(() => pool.end());
      return pool;
    },
    client: async () => {
      const client = new pg.Client(settings);
      await client.connect();
      ends.push(() => client.end());
      return client;
    },
    close: async () => {
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      for (const end of ends.reverse()) await end();
    },
  };
}
