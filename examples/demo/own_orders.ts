/**
 * Orders this library publishes; some of them have it hard.
 *
 * @module
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Connection } from "@acemq/amqp";
import type { DemoDatabase } from "./database.ts";
import { type FlowNames, ORDER_PLACED } from "./flow.ts";
import type { Order } from "./order.ts";
import type { Source } from "./source.ts";

const ORDERS = 200;
const NUMBERS: readonly number[] = Array.from({ length: ORDERS }, (_, index) => index + 1);
const BATCH = 10;
const PAUSE_MS = 100;

/** Places orders a batch at a time, so that there is something to watch: each batch and its messages in one transaction. */
export function ownOrders(mq: Connection, { exchange }: FlowNames, { session, outbox }: DemoDatabase): Source {
  const publisher = mq.publisher<Order>(exchange, ORDER_PLACED);
  return {
    outages: new Map(NUMBERS.map((number) => [orderOfNumber(number).orderId, failuresOfNumber(number)])),
    async place({ account, isPlaced, count, feed, signal }) {
      let copies = 0;
      for (let first = 0; first < ORDERS; first += BATCH) {
        const numbers = NUMBERS.slice(first, first + BATCH);
        const orders = numbers.map(orderOfNumber);
        if (orders.every(({ orderId }) => isPlaced(orderId))) continue;
        // The order's id is the message's: whenever it is sent again, it is the same message.
        const prepared = orders.map((order) => publisher.prepare(order, { messageId: order.orderId }));
        await session.transaction(async (tx) => {
          await account.place(orders.map(({ orderId }) => orderId), tx);
          await outbox.addAll(tx, prepared);
        });
        count(numbers.length);
        const again = numbers.filter(isSentAgain).map(orderOfNumber);
        await Promise.all(again.map((order) => publisher.send(order, { messageId: order.orderId, signal })));
        feed(again.length);
        copies += again.length;
        await wait(PAUSE_MS, undefined, { signal });
      }
      return `${ORDERS} by this library, each in one commit with its message, ${copies} of them sent twice`;
    },
  };
}

/** Some cost nothing, which the flow rejects; some are held, which it parks. */
function orderOfNumber(number: number): Order {
  const orderId = `D-${String(number).padStart(4, "0")}`;
  if (number % 50 === 21) return { orderId, totalCents: 0 };
  if (number % 60 === 33) return { orderId, totalCents: 1_250, status: "held" };
  return { orderId, totalCents: 1_250 };
}

/** Whether an id is of an order placed here. */
export function isOwnOrder(id: string): boolean {
  return /^D-\d{4}$/.test(id);
}

/** As if nobody knew whether they had arrived. */
function isSentAgain(number: number): boolean {
  return number % 20 === 5;
}

/** For some the payment provider fails once or twice, for a few every time. */
function failuresOfNumber(number: number): number {
  if (number % 80 === 13) return Infinity;
  return number % 25 === 7 ? 1 + number % 2 : 0;
}
