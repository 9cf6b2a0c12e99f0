/**
 * A payment that is taken once and an order that is announced, whatever fails and whoever dies: the tutorial "Never processing twice"
 * as a program.
 *
 * It runs on the broker in memory; what was handled, and what is to be announced, stands in a SQLite file. In steps 4 to 6 the service
 * is a process of its own that is killed: the broker stays behind in this one, or is RabbitMQ with `--amqp`. Every count is asserted, so
 * that the exit code is 1 when a payment is taken twice, or an order lost where none may be.
 *
 *     deno run --allow-read --allow-write --allow-env --allow-run examples/never_processing_twice.ts
 *
 * @module
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import {
  type Broker,
  connect,
  type Connection,
  fixedRetry,
  type Handler,
  systemClock,
  topology,
} from "@acemq/amqp/core";
import { type MemoryBroker, memoryBroker, memoryIdempotencyStore } from "@acemq/amqp/memory";
import { type SqliteIdempotencyStore, sqliteIdempotencyStore } from "@acemq/amqp/sqlite";
import { dualWrite, orderOfOperations, outboxAfterKill, outboxAfterRollback } from "./never_processing_twice/killed.ts";
import { losesFirstAcknowledgement } from "./never_processing_twice/lossy_broker.ts";

interface Payment {
  readonly amountCents: number;
}

const QUEUE = "payments.new";
const PAYMENT: Payment = { amountCents: 1_250 };
/** A service would wait seconds. */
const RETRY = fixedRetry(3, { delayMs: 20 });

/** The money that has moved. */
class Ledger {
  total = 0;

  charge(): void {
    console.log(`charged, total ${++this.total}`);
  }
}

async function service(broker: Broker): Promise<Connection> {
  const mq = await connect(broker);
  await mq.declare(topology().queue(QUEUE, { deadLetter: true }));
  return mq;
}

/** Waits until every message has ended: nothing waits in the queue, and nobody has one in hand. */
async function ended(broker: MemoryBroker): Promise<void> {
  const isBusy = (): boolean => {
    const { waiting, unsettled } = broker.inspect(QUEUE) ?? { waiting: [], unsettled: 0 };
    return waiting.length > 0 || unsettled > 0;
  };
  while (isBusy()) await systemClock().delay(5);
}

function receiptFails(): never {
  throw new Error("the receipt email service is down");
}

async function seeTheDuplicate(): Promise<void> {
  const ledger = new Ledger();
  const broker = memoryBroker();
  const mq = await service(broker);
  await mq.consume<Payment>(QUEUE, () => {
    ledger.charge();
    receiptFails();
  }, { retry: RETRY });
  await mq.publisher<Payment>("", QUEUE).send(PAYMENT);
  await ended(broker);
  await mq.close();
  assert.equal(ledger.total, 3);
}

/** The email fails after the money has moved, and the handler has said so in between. */
async function confirmInTheHandler(): Promise<void> {
  const ledger = new Ledger();
  const broker = memoryBroker();
  const mq = await service(broker);
  const charge: Handler<Payment> = async (message) => {
    ledger.charge();
    await message.confirm(); // from here on a retry is a duplicate
    receiptFails();
  };
  await mq.consume(QUEUE, charge, { retry: RETRY, idempotency: memoryIdempotencyStore() });
  await mq.publisher<Payment>("", QUEUE).send(PAYMENT);
  await ended(broker);
  await mq.close();
  assert.equal(ledger.total, 1);
}

/** Nothing fails but the network: the broker never hears that the payment was handled, and hands it out again. */
async function loseAnAcknowledgement(): Promise<void> {
  const ledger = new Ledger();
  const broker = memoryBroker();
  const seen = memoryIdempotencyStore();
  const charge: Handler<Payment> = () => ledger.charge();
  const first = await service(losesFirstAcknowledgement(broker));
  await first.consume(QUEUE, charge, { idempotency: seen });
  await first.publisher<Payment>("", QUEUE).send(PAYMENT);
  await first.idle();
  assert.equal(broker.inspect(QUEUE)?.unsettled, 1);
  await first.close();
  const second = await service(broker);
  await second.consume(QUEUE, charge, { idempotency: seen });
  await ended(broker);
  await second.close();
  assert.equal(ledger.total, 1);
}

/** A process of the service: its own handle on the file, and a store over it. */
async function openStore(path: string): Promise<{ readonly seen: SqliteIdempotencyStore; readonly close: () => void }> {
  const database = new DatabaseSync(path);
  const seen = sqliteIdempotencyStore(database, { inProgressDelayMs: 20 });
  await seen.createSchemaIfAbsent(); // development only
  return { seen, close: () => database.close() };
}

/** The process ends after each delivery of the same payment, and begins anew. */
async function restart(path: string): Promise<void> {
  const ledger = new Ledger();
  for (let run = 0; run < 2; run++) {
    const { seen, close } = await openStore(path);
    const broker = memoryBroker();
    const mq = await service(broker);
    await mq.consume<Payment>(QUEUE, () => ledger.charge(), { idempotency: seen });
    await mq.publisher<Payment>("", QUEUE).send(PAYMENT, { messageId: "restart-1" });
    await ended(broker);
    await mq.close();
    close();
  }
  assert.equal(ledger.total, 1);
}

/** Two replicas take from one queue, into which every payment came twice. */
async function twoReplicas(path: string): Promise<void> {
  const ledger = new Ledger();
  const broker = memoryBroker();
  const replicas = await Promise.all([openStore(path), openStore(path)]);
  const connections: Connection[] = [];
  for (const { seen } of replicas) {
    const mq = await service(broker);
    connections.push(mq);
    await mq.consume<Payment>(QUEUE, () => ledger.charge(), { idempotency: seen, prefetch: 1 });
  }
  const payments = connections[0]?.publisher<Payment>("", QUEUE);
  for (const messageId of ["A-1", "A-2", "A-3", "A-1", "A-2", "A-3"]) await payments?.send(PAYMENT, { messageId });
  await ended(broker);
  for (const mq of connections) await mq.close();
  for (const { close } of replicas) close();
  assert.equal(ledger.total, 3);
}

const { values: { amqp: amqpUrl } } = parseArgs({ options: { amqp: { type: "string" } } });

console.log("Step 1. A retry after the charge charges again:");
await seeTheDuplicate();
console.log("Step 2. With a store, and a handler that confirms once the money has moved:");
await confirmInTheHandler();
console.log("Step 2. With a store, and an acknowledgement that is lost:");
await loseAnAcknowledgement();
const folder = mkdtempSync(join(tmpdir(), "acemq-never-twice-"));
try {
  console.log("Step 3. With a SQLite file, and a restart before the payment comes again:");
  await restart(join(folder, "payments.sqlite"));
  console.log("Step 3. With two replicas on one file, and three payments that come twice:");
  await twoReplicas(join(folder, "payments.sqlite"));
  console.log("Step 4. An order is saved and then published, and the process is killed in between:");
  await dualWrite({ folder, amqpUrl });
  console.log("Step 5. With an outbox, and the process killed when the order is committed:");
  await outboxAfterKill({ folder, amqpUrl });
  console.log("Step 5. With an outbox, and a transaction that fails:");
  await outboxAfterRollback({ folder, amqpUrl });
  console.log("Step 6. A payment is taken, by a process that is killed and started again:");
  await orderOfOperations({ folder, amqpUrl });
} finally {
  rmSync(folder, { recursive: true });
}
