/** PgBouncer in transaction mode, where every transaction may get another connection: sessions and claims over both drivers. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import postgres from "postgres";
import {
  type PostgresHandle,
  postgresIdempotencyStore,
  postgresOutboxStore,
  postgresSchemaRegistry,
  postgresSession,
} from "../../../adapters/postgres/mod.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { randomUuid } from "../../../src/clock.ts";
import { CLAIM_TIMEOUT_MS, idempotencyStoreContract, RETENTION_MS } from "../../contract/idempotency_store.ts";
import { MAX_ATTEMPTS, outboxStoreContract } from "../../contract/outbox_store.ts";
import { schemaRegistryContract } from "../../contract/schema_registry.ts";
import { sqlSessionContract } from "../../contract/sql_session.ts";
import { missing, PGBOUNCER_URL, POSTGRES_URL } from "../../support/services.ts";

const skip = await missing("postgresql") || await missing("pgbouncer");

const TIMES = { claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };

/** More than the pooler has to the database. */
const CONNECTIONS = 12;

/** A schema of its own. Through the pooler its tables are found by their full names: it keeps no search path. */
class Place {
  readonly schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  /** Past the pooler. */
  readonly direct = postgres(POSTGRES_URL, { max: 1, onnotice: () => {} });
  readonly #ends: (() => Promise<unknown>)[] = [];

  static async open(): Promise<Place> {
    const place = new Place();
    await place.direct.unsafe(`CREATE SCHEMA ${place.schema}`);
    await place.direct.unsafe(`CREATE TABLE ${place.schema}.items (id INTEGER, body BYTEA)`);
    return place;
  }

  /** A root of `postgres`, with nothing set for a pooler. */
  postgresJs(): PostgresHandle {
    const sql = postgres(PGBOUNCER_URL, { max: CONNECTIONS, onnotice: () => {} });
    this.#ends.push(() => sql.end({ timeout: 5 }));
    return sql;
  }

  /** A pool of `pg`. */
  pool(): PostgresHandle {
    const pool = new pg.Pool({ connectionString: PGBOUNCER_URL, max: CONNECTIONS });
    this.#ends.push(() => pool.end());
    return pool;
  }

  table(name: string): string {
    return `${this.schema}.${name}`;
  }

  async count(name: string): Promise<number> {
    const [row] = await this.direct.unsafe(`SELECT count(*)::int AS n FROM ${this.table(name)}`);
    return Number(row?.["n"]);
  }

  /** Lets time pass for every claim: what has happened, and what is to come, moves into the past. */
  async pass(ms: number, table = "acemq_idempotency", times = ["recorded_at", "expires_at"]): Promise<void> {
    const past = times.map((name) => `${name} = ${name} - ${ms} * interval '1 millisecond'`);
    await this.direct.unsafe(`UPDATE ${this.table(table)} SET ${past.join(", ")}`);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.direct.unsafe(`DROP SCHEMA ${this.schema} CASCADE`);
    await this.direct.end({ timeout: 5 });
  }
}

const DRIVERS: Readonly<Record<string, (place: Place) => PostgresHandle>> = {
  "postgres.js": (place) => place.postgresJs(),
  "pg": (place) => place.pool(),
};

/** One place for all cases: making one takes longer than most of them. */
async function openOutbox(open: (place: Place) => PostgresHandle) {
  const place = await Place.open();
  const session = postgresSession(open(place));
  const settings = { maxAttempts: MAX_ATTEMPTS, table: place.table("acemq_outbox") };
  const store = postgresOutboxStore(session, settings);
  await store.createSchemaIfAbsent();
  return {
    place,
    store,
    other: postgresOutboxStore(open(place), settings),
    transaction: (work: (tx: SqlSession) => Promise<void>) => session.transaction(work),
    outside: session,
    // The database's own clock tells moments apart by itself.
    pass: async (ms: number) =>
      ms > 1 ? await place.pass(ms, "acemq_outbox", ["created_at", "published_at", "locked_until"]) : undefined,
    close: async () => void await place.direct.unsafe(`TRUNCATE ${place.table("acemq_outbox")}`),
  };
}

for (const [driver, open] of Object.entries(DRIVERS)) {
  sqlSessionContract(`${driver} through PgBouncer`, async () => {
    const place = await Place.open();
    return {
      session: postgresSession(open(place)),
      table: place.table("items"),
      placeholder: (number) => `$${number}`,
      committed: () => place.count("items"),
      close: () => place.close(),
    };
  }, { skip });

  idempotencyStoreContract(`${driver} through PgBouncer`, async () => {
    const place = await Place.open();
    const table = place.table("acemq_idempotency");
    const store = postgresIdempotencyStore(open(place), { ...TIMES, table });
    await store.createSchemaIfAbsent();
    const other = postgresIdempotencyStore(open(place), { ...TIMES, table });
    return { store, other, pass: (ms) => place.pass(ms), close: () => place.close() };
  }, { skip });

  schemaRegistryContract(`${driver} through PgBouncer`, async () => {
    const place = await Place.open();
    const table = place.table("acemq_schema_registry");
    const registry = postgresSchemaRegistry(open(place), { table });
    await registry.createSchemaIfAbsent();
    return { registry, other: postgresSchemaRegistry(open(place), { table }), close: () => place.close() };
  }, { skip });

  describe(`an outbox with ${driver} through PgBouncer`, () => {
    let opened: ReturnType<typeof openOutbox> | undefined;
    after(async () => await (await opened)?.place.close());
    outboxStoreContract(`${driver} through PgBouncer [OB-38]`, () => opened ??= openOutbox(open), { skip });
  });

  describe(`many at once with ${driver} through PgBouncer`, () => {
    it("commit the work with the record of it, or neither: each message once [OB-38]", { skip }, async () => {
      const place = await Place.open();
      try {
        const handle = open(place);
        const session = postgresSession(handle);
        const store = postgresIdempotencyStore(session, { ...TIMES, table: place.table("acemq_idempotency") });
        await store.createSchemaIfAbsent();
        const handleOnce = (id: number): Promise<string> =>
          session.transaction(async (tx) => {
            const answer = await store.onceWithin(tx, { envelope: { id: `m-${id}` } });
            if (answer === "already_confirmed") return answer;
            await tx.query(`INSERT INTO ${place.table("items")} (id) VALUES ($1)`, [id]);
            if (id % 10 === 0) throw new Error("rolled back");
            return answer;
          });
        // Every message comes twice, the two of them at once; those that can be divided by ten never come through.
        const ids = Array.from({ length: 400 }, (_, turn) => turn >> 1);
        const ends = await Promise.all(ids.map((id) => handleOnce(id).catch((error: Error) => error.message)));
        const ended = (how: string): number => ends.filter((end) => end === how).length;
        assert.deepEqual(
          [ended("confirmed"), ended("already_confirmed"), ended("rolled back"), await place.count("items")],
          [180, 180, 40, 180],
        );
        const [row] = await place.direct.unsafe(`SELECT count(DISTINCT id)::int AS n FROM ${place.table("items")}`);
        assert.equal(row?.["n"], 180);
      } finally {
        await place.close();
      }
    });
  });
}
