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
  type IdempotencyStore,
  park,
  parkedQueueName,
  reject,
  rungName,
} from "@acemq/amqp";
import { type RetryPolicy, type Topology, topology } from "@acemq/amqp";
import type { Bookkeeper } from "./ledger.ts";
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

/** Handles each order once, and counts what was set aside by looking into the queues where it ends up. */
export async function startFlow(
  mq: Connection,
  names: FlowNames,
  { payments, book, seen }: {
    readonly payments: Payments;
    readonly book: Bookkeeper;
    readonly seen: IdempotencyStore;
  },
): Promise<void> {
  await mq.declare(flowTopology(names));
  await countSetAside(mq, names, book);
  await mq.consume(names.queue, async (message) => {
    const order = orderOf(message.payload);
    if (order.totalCents === 0) return reject("nothing to charge");
    if (order.status === "held") return park("the customer's account is on hold");
    await payments.charge(order.totalCents, { key: message.envelope.id, signal: message.signal });
    book.ended(message.envelope.id, "handled");
    return accept();
  }, { retry: LADDER, concurrency: 8, idempotency: seen });
}

async function countSetAside(mq: Connection, { queue }: FlowNames, book: Bookkeeper): Promise<void> {
  // A tool that reads a `.dlq` declares nothing beside it: `orders.new.dlq.dlq` is of no use to anybody.
  const asTool = { codec: "bytes", declare: false } as const;
  await mq.consume(deadLetterQueueName(queue), ({ envelope }) => {
    book.ended(envelope.id, "deadLettered", envelope.error);
  }, asTool);
  await mq.consume(parkedQueueName(queue), ({ envelope }) => {
    book.ended(envelope.id, "parked", envelope.error);
  }, asTool);
}
