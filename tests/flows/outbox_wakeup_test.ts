/** A relay that polls once an hour, and another process that adds: PostgreSQL tells it, also after its connection was cut. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import postgres from "postgres";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { type PgPool, type PostgresJs, postgresOutboxStore } from "../../adapters/postgres/mod.ts";
import { randomUuid } from "../../src/clock.ts";
import { textCodec } from "../../src/codec/text.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { topology } from "../../src/topology/topology.ts";
import { QUEUE } from "../support/outbox_world.ts";
import { missing, PGBOUNCER_URL, POSTGRES_URL } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("postgresql");
const skipPooler = skip || await missing("pgbouncer");

const HOUR_MS = 3_600_000;

/** A handle of a driver, and its end. */
interface Handle {
  readonly handle: PostgresJs | PgPool;
  readonly end: () => Promise<unknown>;
}

const DRIVERS: Readonly<Record<string, (url: string) => Handle>> = {
  "postgres": (url) => {
    const sql = postgres(url, { max: 2, onnotice: () => {}, backoff: () => 0.02 });
    return { handle: sql, end: () => sql.end({ timeout: 5 }) };
  },
  "pg": (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 3 });
    pool.on("error", () => {});
    return { handle: pool, end: () => pool.end() };
  },
};

/** The other process: `programs/add_to_outbox.ts`. */
class Adder {
  readonly #child;
  readonly #over: Promise<unknown>;
  readonly #lines: string[] = [];

  constructor(table: string) {
    const script = fileURLToPath(new URL("../support/programs/add_to_outbox.ts", import.meta.url));
    const run = "Deno" in globalThis ? ["run", "--no-check", "-A"] : [];
    this.#child = spawn(process.execPath, [...run, script, table], { stdio: ["pipe", "pipe", "inherit"] });
    this.#over = once(this.#child, "close");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#lines.push(line));
  }

  async said(line: string): Promise<void> {
    await until(`the other process to say "${line}"`, () => this.#lines.includes(line), { timeoutMs: 60_000 });
  }

  /** Resolves when it is committed. */
  async add(id: string): Promise<void> {
    this.#child.stdin.write(`${id}\n`);
    await this.said(id);
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#over;
  }
}

interface Scene {
  readonly mq: Connection;
  readonly admin: postgres.Sql;
  readonly table: string;
  readonly adder: Adder;
  /** Waits until what is in the queue are these. */
  readonly arrived: (...ids: readonly string[]) => Promise<void>;
}

/** Tables, a broker, and another process that adds. */
async function within(play: (scene: Scene) => Promise<void>): Promise<void> {
  const admin = postgres(POSTGRES_URL, { max: 1, onnotice: () => {} });
  const schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  const table = `${schema}.acemq_outbox`;
  await admin.unsafe(`CREATE SCHEMA ${schema}`);
  await postgresOutboxStore(admin, { table, news: false }).createSchemaIfAbsent();
  const adder = new Adder(table);
  const mq = await openConnection(memoryBroker());
  await mq.declare(topology().queue(QUEUE));
  const seen: string[] = [];
  await mq.consume(QUEUE, ({ envelope }) => void seen.push(envelope.id), { codec: textCodec() });
  try {
    await adder.said("ready");
    const arrived = (...ids: readonly string[]): Promise<unknown> =>
      until(`${ids} to arrive`, () => seen.length >= ids.length, { timeoutMs: 5_000 }).then(() =>
        assert.deepEqual(seen, ids)
      );
    await play({ mq, admin, table, adder, arrived: async (...ids) => void await arrived(...ids) });
  } finally {
    await adder.end();
    await mq.close();
    await admin.unsafe(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end({ timeout: 5 });
  }
}

/** Ends whatever listens for the table. */
async function cut({ admin, table }: Scene): Promise<void> {
  await until("the connection that listens", async () => {
    const cut = await admin.unsafe(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query ILIKE 'listen "acemq_outbox_' || to_regclass($1)::oid || '"%' AND pid <> pg_backend_pid()`,
      [table],
    );
    return cut.length === 1;
  });
}

for (const [driver, open] of Object.entries(DRIVERS)) {
  describe(`a relay that polls once an hour, over '${driver}'`, () => {
    it(
      "sends at once what another process adds, also after its line to the database was cut",
      { skip },
      () =>
        within(async (scene) => {
          const { mq, table, adder, arrived } = scene;
          const { handle, end } = open(POSTGRES_URL);
          const running = await mq.relay(postgresOutboxStore(handle, { table }), { pollIntervalMs: HOUR_MS }).start();
          try {
            await adder.add("a");
            await arrived("a");
            await cut(scene);
            await adder.add("b");
            await arrived("a", "b");
            await adder.add("c");
            await arrived("a", "b", "c");
            await until("health", async () => (await mq.health()).status === "up");
          } finally {
            await running.close();
            await end();
          }
        }),
    );

    it(
      "says in its health that a pooler swallows LISTEN, and polls",
      { skip: skipPooler, timeout: 60_000 },
      () =>
        within(async ({ mq, table, adder, arrived }) => {
          const { handle, end } = open(PGBOUNCER_URL);
          const running = await mq.relay(postgresOutboxStore(handle, { table }), { pollIntervalMs: 250 }).start();
          try {
            await until("health to say it", async () => {
              const { status, parts: { outbox } = {} } = await mq.health();
              const detail = typeof outbox === "object" ? outbox?.detail ?? "" : "";
              return status === "degraded" && /a pooler in transaction mode, which swallows LISTEN/.test(detail);
            });
            await adder.add("a");
            await arrived("a");
          } finally {
            await running.close();
            await end();
          }
        }),
    );
  });
}
