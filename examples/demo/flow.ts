/**
 * The order flow: one queue, what comes with it, and who consumes from it.
 *
 * @module
 */
import {
  accept,
  type Connection,
  deadLetterQueueName,
  exponentialRetry,
  park,
  parkedQueueName,
  reject,
  rungName,
} from "@acemq/amqp";
import { type RetryPolicy, type Topology, topology } from "@acemq/amqp";
import type { Account } from "./account.ts";
import type { DemoDatabase } from "./database.ts";
import type { Bookkeeper, Ending } from "./ledger.ts";
import { orderOf } from "./order.ts";
import type { Payments } from "./payments.ts";

/** The names of one run; runs that share a broker differ in their prefix. */
export interface FlowNames {
  readonly exchange: string;
  readonly queue: string;
}

/** The key orders are published under. */
export const ORDER_PLACED = "order.placed";

/**
 * Four attempts: after a quarter and half a second in the consumer, after one second on a rung of the broker.
 *
 * A service would wait minutes, and leave the threshold at its 30 seconds; a demonstration has no minutes.
 */
export const LADDER: RetryPolicy = exponentialRetry(4, {
  initialDelayMs: 250,
  maxDelayMs: 1_000,
  brokerWaitThresholdMs: 1_000,
});

const RUNG_MS = 1_000;

export function flowNames(prefix: string): FlowNames {
  return { exchange: `${prefix}orders`, queue: `${prefix}orders.new` };
}

export function flowTopology({ exchange, queue }: FlowNames): Topology {
  return topology()
    .exchange(exchange, "topic")
    .queue(queue, { deadLetter: true, retry: LADDER })
    .bind(queue, { exchange, routingKey: ORDER_PLACED });
}

/** Every queue of the flow: what a run leaves behind if nobody deletes it. */
export function flowQueues({ queue }: FlowNames): readonly string[] {
  return [queue, deadLetterQueueName(queue), parkedQueueName(queue), rungName(queue, RUNG_MS)];
}

/** What the flow works with. */
export interface FlowParts {
  readonly payments: Payments;
  readonly book: Bookkeeper;
  readonly account: Account;
  readonly database: DemoDatabase;
}

/** A service would leave it at a minute: what a killed run had in hand waits for its end. */
const ROW_LEASE_MS = 3_000;

/** Relays what is placed, handles each order once, and counts what was set aside by looking into the queues where it ends up. */
export async function startFlow(mq: Connection, names: FlowNames, parts: FlowParts): Promise<void> {
  const { payments, book, account, database: { session, outbox, seen } } = parts;
  await mq.declare(flowTopology(names));
  await countSetAside(mq, names, parts);
  await mq.consume(names.queue, async (message) => {
    const order = orderOf(message.payload);
    if (order.totalCents === 0) return reject("nothing to charge");
    if (order.status === "held") return park("the customer's account is on hold");
    const { id } = message.envelope;
    await payments.approve(message.envelope, message.signal);
    // The record of the message, the money and the account in one commit: a kill leaves all of them, or none.
    await session.transaction(async (tx) => {
      await seen.onceWithin(tx, message);
      await account.charge(tx, id, order.totalCents);
      await account.end({ id, ending: "handled", reason: undefined }, tx);
    });
    book.ended(id, "handled");
    return accept();
  }, { retry: LADDER, concurrency: 8, idempotency: seen });
  await mq.relay(outbox, { leaseMs: ROW_LEASE_MS }).start();
}

async function countSetAside(mq: Connection, { queue }: FlowNames, { account, book }: FlowParts): Promise<void> {
  // A tool that reads a `.dlq` declares nothing beside it: `orders.new.dlq.dlq` is of no use to anybody.
  const asTool = { codec: "bytes", declare: false } as const;
  const count = (from: string, ending: Ending): Promise<unknown> =>
    mq.consume(from, async ({ envelope: { id, error: reason } }) => {
      await account.end({ id, ending, reason });
      book.ended(id, ending, reason);
    }, asTool);
  await count(deadLetterQueueName(queue), "deadLettered");
  await count(parkedQueueName(queue), "parked");
}
