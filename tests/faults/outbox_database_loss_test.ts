/**
 * PostgreSQL goes away under relays and under those who place orders, and comes back: every order there is gets announced, no other is,
 * nothing spends an attempt, and twice goes only what was in somebody's hands.
 */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import postgres from "postgres";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { type PostgresOutboxStore, postgresOutboxStore, postgresSession } from "../../adapters/postgres/mod.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { topology } from "../../src/topology/topology.ts";
import { outboundOf, QUEUE } from "../support/outbox_world.ts";
import { missingOwnPostgres, OwnPostgres } from "../support/own_postgres.ts";
import { PATIENT } from "../support/patient_session.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { Complaints } from "../support/residue.ts";
import { until } from "../support/until.ts";

const skip = missingOwnPostgres();

const LEASE_MS = 2_000;
const BATCH = 10;
/** Two relays with three batches each. */
const MOST_IN_HAND = 2 * 3 * BATCH;

let cluster: Promise<OwnPostgres> | undefined;
after(async () => await (await cluster)?.close());

/** Orders that are placed, and announced by two relays, each of them over another driver. */
class Shop {
  readonly database: OwnPostgres;
  readonly mq: Connection;
  readonly sink: RecordingSink;
  /** Every announcement. */
  readonly announced: string[] = [];
  readonly #session: SqlSession;
  readonly #store: PostgresOutboxStore;
  #isOpen = true;
  #placed = 0;

  constructor(database: OwnPostgres, mq: Connection, sink: RecordingSink, session: SqlSession) {
    this.database = database;
    this.mq = mq;
    this.sink = sink;
    this.#session = session;
    this.#store = postgresOutboxStore(session);
  }

  /** Orders that were asked for so far, whatever became of them. */
  get placed(): number {
    return this.#placed;
  }

  /** Places one order after the other until the shop closes; what fails is an order that may be there or not. */
  async keepPlacing(): Promise<void> {
    while (this.#isOpen) {
      const id = `order-${this.#placed++}`;
      const placing = this.#session.transaction(async (tx) => {
        await tx.query("INSERT INTO orders (id) VALUES ($1)", [id]);
        await this.#store.add(tx, outboundOf(id));
      });
      await placing.catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
    }
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Waits until every order is announced, and gives the ids of those that were twice. */
  async isBalanced(): Promise<readonly string[]> {
    const pending = async (): Promise<unknown> =>
      (await this.database.ask("SELECT count(*)::int AS n FROM acemq_outbox WHERE published_at IS NULL"))[0]?.["n"];
    await until("an empty outbox", async () => await pending() === 0, { timeoutMs: 60_000 });
    await this.mq.idle();
    const orders = (await this.database.ask("SELECT id FROM orders")).map(({ id }) => String(id));
    assert.deepEqual([...new Set(this.announced)].sort(), orders.sort());
    const attempts = await this.database.ask("SELECT count(*)::int AS n FROM acemq_outbox WHERE attempts > 0");
    assert.deepEqual(attempts, [{ n: 0 }], "A database that is away spends no attempt");
    const seen = new Set<string>();
    return this.announced.filter((id) => seen.size === seen.add(id).size);
  }
}

/**
 * On Deno, `postgres` writes to a socket that the server has ended, in a turn of its own, and the error goes past every promise. It is
 * the driver's; whatever else goes past the promises fails the test as before.
 */
function passOverWritesOfTheDriver(event: Event): void {
  const { error } = event as Event & { readonly error?: unknown };
  if (error instanceof Error && error.message === "This socket has been ended by the other party") {
    event.preventDefault();
  }
}

const PAGE = globalThis as Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">>;

async function inShop(play: (shop: Shop) => Promise<void>): Promise<void> {
  cluster ??= OwnPostgres.open();
  const database = await cluster;
  const complaints = new Complaints();
  PAGE.addEventListener?.("error", passOverWritesOfTheDriver);
  const sql = postgres(database.url, { ...PATIENT, max: 6 });
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  // A program that does not listen dies of the first connection that is lost.
  pool.on("error", () => {});
  const sink = new RecordingSink();
  const mq = await openConnection(memoryBroker(), { telemetry: sink });
  try {
    await database.ask("DROP TABLE IF EXISTS acemq_outbox, orders");
    await database.ask("CREATE TABLE orders (id text PRIMARY KEY)");
    await mq.declare(topology().queue(QUEUE));
    const session = postgresSession(sql);
    await postgresOutboxStore(session).createSchemaIfAbsent();
    const shop = new Shop(database, mq, sink, session);
    await mq.consume(QUEUE, ({ envelope }) => void shop.announced.push(envelope.id), { codec: "bytes" });
    const options = { leaseMs: LEASE_MS, batchSize: BATCH, pollIntervalMs: 100 };
    for (const store of [postgresOutboxStore(sql), postgresOutboxStore(pool)]) await mq.relay(store, options).start();
    const placing = [shop.keepPlacing(), shop.keepPlacing(), shop.keepPlacing()];
    try {
      await play(shop);
    } finally {
      shop.close();
      await Promise.all(placing);
    }
    const doubles = await shop.isBalanced();
    assert.ok(doubles.length <= 8 * MOST_IN_HAND, `${doubles.length} went twice`);
  } finally {
    await mq.close({ signal: AbortSignal.timeout(10_000) }).catch(() => {});
    await sql.end({ timeout: 5 });
    await pool.end();
    complaints.close();
    PAGE.removeEventListener?.("error", passOverWritesOfTheDriver);
  }
  assert.deepEqual(complaints.heard, []);
}

/** Waits until so many more orders were announced. */
async function isUnderWay(shop: Shop, more = 40): Promise<void> {
  const before = shop.announced.length;
  await until("announcements", () => shop.announced.length >= before + more, { timeoutMs: 60_000 });
}

describe("a PostgreSQL that goes away under an outbox and its relays", () => {
  for (const how of ["crash", "fast"] as const) {
    it(
      `and comes back (${how}): its rows are claimed again, and all goes on [OB-35]`,
      { skip, timeout: 180_000 },
      () =>
        inShop(async (shop) => {
          await isUnderWay(shop);
          await shop.database.stop(how);
          try {
            await until("both relays to know of it", () => shop.sink.events("acemq.outbox.store_away").length >= 2);
            const placed = shop.placed;
            await until("orders that fail", () => shop.placed > placed + 10);
          } finally {
            await shop.database.start();
          }
          await isUnderWay(shop);
        }),
    );
  }

  it(
    "for every connection, again and again: all goes on [OB-35]",
    { skip, timeout: 180_000 },
    () =>
      inShop(async (shop) => {
        for (let round = 0; round < 8; round++) {
          await isUnderWay(shop, 15);
          await shop.database.terminateConnections();
        }
        await isUnderWay(shop);
      }),
  );
});
