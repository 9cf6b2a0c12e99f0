/**
 * The service of steps 4 to 6, a process of its own: it is told what to do, and at which point it is killed.
 *
 * @module
 */
import assert from "node:assert/strict";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { type Broker, connect, type Connection, type RelayStore, systemClock } from "@acemq/amqp/core";
import {
  sqliteIdempotencyStore,
  type SqliteOutboxStore,
  sqliteOutboxStore,
  sqliteSession,
  type SqlSession,
} from "@acemq/amqp/sqlite";
import { type Payment, PAYMENT_ID, type Point, queuesOf, type ServiceOrders } from "./orders.ts";
import { parentBroker } from "./parent_broker.ts";

/** What a killed process had in hand waits for the end of its lease. A service would leave both at their defaults, which are minutes. */
const CLAIM_TIMEOUT_MS = 1_000;
const ROW_LEASE_MS = 3_000;

const orders = JSON.parse(process.argv[2] ?? "") as ServiceOrders;
const { databasePath, queues } = orders;

/** SIGKILL: nothing can be caught, flushed or tidied up. */
function reach(point: Point): void {
  if (point === orders.killedAt) process.kill(process.pid, "SIGKILL");
}

function openFile(): DatabaseSync {
  const database = new DatabaseSync(databasePath);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  return database;
}

const database = openFile();
const session = sqliteSession(database);
// The relay's statements and the claims' stay out of the transactions of the work.
const outbox = sqliteOutboxStore(openFile());
const seen = sqliteIdempotencyStore(openFile(), { claimTimeoutMs: CLAIM_TIMEOUT_MS, inProgressDelayMs: 20 });

async function saveAndPublish(mq: Connection): Promise<void> {
  await session.query("INSERT INTO work VALUES (?)", ["A-19"]);
  reach("after the order is saved");
  await mq.publisher("", queues.announced).send({ id: "A-19" });
}

async function saveWithOutbox(mq: Connection): Promise<void> {
  await session.transaction(async (tx) => {
    await tx.query("INSERT INTO work VALUES (?)", ["A-19"]);
    await announce(mq, tx, { id: "A-19" });
    if (orders.work === "fail with an outbox") throw new Error("no such product");
  });
  reach("after the commit");
}

async function announce(mq: Connection, tx: SqlSession, payload: unknown): Promise<void> {
  await outbox.add(tx, mq.publisher("", queues.announced).prepare(payload));
}

async function takePayments(mq: Connection): Promise<void> {
  await mq.consume<Payment>(queues.payments, async (message) => {
    reach("after the claim");
    await session.transaction(async (tx) => {
      await tx.query("INSERT INTO work VALUES (?)", [message.envelope.id]); // the money moves
      reach("after the charge");
      await announce(mq, tx, message.payload);
      reach("after the outbox row");
      await seen.onceWithin(tx, message); // the claim is confirmed with the commit
    });
    reach("after the commit");
  }, { idempotency: seen });
}

/** A store that a relay can be killed at. */
function fatal(store: SqliteOutboxStore): RelayStore {
  return {
    maxAttempts: store.maxAttempts,
    claim: async (options) => {
      const claim = await store.claim(options);
      if (claim.rows.length > 0) reach("after the relay has claimed the row");
      return claim;
    },
    markPublished: (token, ids) => {
      reach("after the publish");
      return store.markPublished(token, ids);
    },
    markFailed: (token, failures) => store.markFailed(token, failures),
    giveBack: (token, ids, options) => store.giveBack(token, ids, options),
    stats: (options) => store.stats(options),
    onAdded: (listener) => store.onAdded(listener),
  };
}

/** Until every payment has ended, and everything that was committed is announced. */
async function untilDone(mq: Connection): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const { pending } = await outbox.stats();
    return pending === 0 && (orders.work !== "take payments" || await seen.isConfirmed(PAYMENT_ID));
  };
  do {
    await mq.idle();
    await systemClock().delay(20);
  } while (!await isDone());
}

async function main(mq: Connection): Promise<void> {
  await outbox.createSchemaIfAbsent(); // development only
  await seen.createSchemaIfAbsent();
  await session.query("CREATE TABLE IF NOT EXISTS work (id TEXT)");
  await mq.declare(queuesOf(queues));
  await mq.relay(fatal(outbox), { leaseMs: ROW_LEASE_MS, pollIntervalMs: 50 }).start();
  if (orders.work === "save and publish") await saveAndPublish(mq);
  if (orders.work === "save with an outbox") await saveWithOutbox(mq);
  if (orders.work === "fail with an outbox") await assert.rejects(saveWithOutbox(mq), /no such product/);
  if (orders.work === "take payments") await takePayments(mq);
  await untilDone(mq);
  await mq.close();
}

async function brokerOf(url: string | undefined): Promise<{ readonly broker: Broker; readonly leave?: () => void }> {
  if (url === undefined) return parentBroker();
  const { amqpBroker } = await import("@acemq/amqp");
  return { broker: amqpBroker(url) };
}

const { broker, leave } = await brokerOf(orders.amqpUrl);
await main(await connect(broker, { name: "never-twice" }));
leave?.();
