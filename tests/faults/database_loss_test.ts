/**
 * PostgreSQL goes away under consumers that claim in it, and comes back: nothing is handled without a claim, nothing is lost, and what
 * is done is done once.
 */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { postgresIdempotencyStore } from "../../adapters/postgres/mod.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { Message } from "../../src/message/message.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { missingOwnPostgres, OwnPostgres, type Stop } from "../support/own_postgres.ts";
import { patientSession } from "../support/patient_session.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { Complaints } from "../support/residue.ts";
import { until } from "../support/until.ts";

const skip = missingOwnPostgres();

const DRIVERS = ["postgres", "pg"] as const;

/** A claim of which nobody knows whether it was made stands in the way this long. */
const CLAIM_TIMEOUT_MS = 2_000;

/** Effects in the database go with the record of them; the others happen outside of it. */
const QUEUES = ["paid in the database", "sent outside of it"] as const;

/** Retries never run out, and come soon. */
const FOR_EVER = fixedRetry(100_000, { delayMs: 20 });

let cluster: Promise<OwnPostgres> | undefined;
after(async () => await (await cluster)?.close());

/** Consumers over a database that a test takes away. */
class Shop {
  readonly sink: RecordingSink = new RecordingSink();
  readonly database: OwnPostgres;
  readonly mq: Connection;
  readonly session: SqlSession;
  /** Ids that were published, of either queue. */
  readonly ids: string[] = [];
  /** Every handler that was begun. */
  readonly begun: Message["envelope"]["id"][] = [];
  /** Effects outside of the database. */
  readonly sent: string[] = [];
  running = 0;

  private constructor(database: OwnPostgres, mq: Connection, session: SqlSession, sink: RecordingSink) {
    this.database = database;
    this.mq = mq;
    this.session = session;
    this.sink = sink;
  }

  static async open(database: OwnPostgres, session: SqlSession): Promise<Shop> {
    await database.ask("DROP TABLE IF EXISTS acemq_idempotency, effects");
    await database.ask("CREATE TABLE effects (id text NOT NULL)");
    const store = postgresIdempotencyStore(session, { claimTimeoutMs: CLAIM_TIMEOUT_MS, inProgressDelayMs: 50 });
    await store.createSchemaIfAbsent();
    const sink = new RecordingSink();
    const mq = await openConnection(memoryBroker(), { telemetry: sink });
    const shop = new Shop(database, mq, session, sink);
    await mq.declare(QUEUES.reduce((all, queue) => all.queue(queue), topology()));
    const options = { retry: FOR_EVER, concurrency: 4, prefetch: 20 };
    const key = (queue: string) => ({ id }: { readonly id: string }) => `${queue}:${id}`;
    await mq.consume(
      QUEUES[0],
      shop.#handler((message) =>
        session.transaction(async (tx) => {
          await tx.query("INSERT INTO effects (id) VALUES ($1)", [message.envelope.id]);
          await store.onceWithin(tx, message);
        })
      ),
      { ...options, idempotency: { store, key: key("paid") } },
    );
    await mq.consume(QUEUES[1], shop.#handler(({ envelope }) => void shop.sent.push(envelope.id)), {
      ...options,
      idempotency: { store, key: key("sent") },
    });
    return shop;
  }

  #handler(work: (message: Message) => unknown): (message: Message) => Promise<void> {
    return async (message) => {
      assert.ok(message.claim !== undefined);
      this.begun.push(message.envelope.id);
      this.running++;
      try {
        await work(message);
      } finally {
        this.running--;
      }
    };
  }

  /** Puts so many messages into either queue. */
  async publish(count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, number) => `m-${String(this.ids.length + number).padStart(4, "0")}`);
    this.ids.push(...ids);
    for (const queue of QUEUES) {
      const publisher = this.mq.publisher("", queue);
      for (const id of ids) await publisher.send({ id }, { messageId: id });
    }
  }

  /** Claims that could not be made, each of which is tried again. */
  get failures(): number {
    return this.sink.count("acemq.consume.total", { outcome: "retried" });
  }

  async effects(): Promise<readonly string[]> {
    return (await this.database.ask("SELECT id FROM effects ORDER BY id")).map(({ id }) => String(id));
  }

  /** Waits until every message has had its effect, and nothing is left anywhere. */
  async isBalanced(): Promise<void> {
    await until("every effect", async () => {
      return this.sent.length >= this.ids.length && (await this.effects()).length >= this.ids.length;
    }, { timeoutMs: 100_000 });
    await this.mq.idle();
    assert.deepEqual(await this.effects(), this.ids, "Every effect in the database is there, and once");
    assert.deepEqual(this.sent.toSorted(), this.ids, "Every effect outside of it is there, and once");
    const outcomes = new Set(this.sink.metrics.map(({ labels }) => labels["outcome"]));
    for (const lost of ["dead_lettered", "rejected", "parked"]) assert.ok(!outcomes.has(lost), `None was ${lost}`);
  }
}

async function inShop(driver: typeof DRIVERS[number], play: (shop: Shop) => Promise<void>): Promise<void> {
  cluster ??= OwnPostgres.open();
  const database = await cluster;
  const complaints = new Complaints();
  const handle = patientSession(driver, database.url);
  const shop = await Shop.open(database, handle.session);
  try {
    await play(shop);
  } finally {
    await shop.mq.close({ signal: AbortSignal.timeout(10_000) }).catch(() => {});
    await handle.end();
    complaints.close();
  }
  assert.deepEqual(complaints.heard, []);
}

async function goesAway(shop: Shop, how: Stop): Promise<void> {
  await shop.publish(60);
  await until("under way", () => shop.sent.length > 20);
  await shop.database.stop(how);
  try {
    const before = shop.failures;
    await until("the last handler that had a claim to be through, and claims to fail", () => {
      return shop.running === 0 && shop.failures > before + 10;
    });
    const begun = shop.begun.length;
    await shop.publish(20);
    const since = shop.failures;
    await until("claims to fail", () => shop.failures > since + 40);
    assert.equal(shop.begun.length, begun, "Nobody handles what could not be claimed");
  } finally {
    await shop.database.start();
  }
  await shop.publish(20);
  await shop.isBalanced();
}

for (const driver of DRIVERS) {
  describe(`a PostgreSQL that goes away under consumers, over '${driver}'`, () => {
    for (const how of ["crash", "fast"] as const) {
      it(
        `and comes back (${how}): nothing is handled without a claim, nothing is lost, and every effect is there once`,
        { skip, timeout: 180_000 },
        () => inShop(driver, (shop) => goesAway(shop, how)),
      );
    }

    it(
      "for every connection, again and again: every effect is there once",
      { skip, timeout: 180_000 },
      () =>
        inShop(driver, async (shop) => {
          for (let round = 1; round <= 8; round++) {
            await shop.publish(15);
            await until("under way", () => shop.sent.length > 15 * (round - 1) + 5);
            await shop.database.terminateConnections();
          }
          await shop.isBalanced();
        }),
    );
  });
}
