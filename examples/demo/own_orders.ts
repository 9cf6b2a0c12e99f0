/**
 * Orders this library publishes; some of them have it hard.
 *
 * @module
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Connection } from "@acemq/amqp";
import { type FlowNames, ORDER_PLACED } from "./flow.ts";
import type { Order } from "./order.ts";
import type { Source } from "./source.ts";

const ORDERS = 200;
const BATCH = 10;
const PAUSE_MS = 100;

/** Places orders a batch at a time, so that there is something to watch. */
export function ownOrders(mq: Connection, { exchange }: FlowNames): Source {
  const publisher = mq.publisher<Order>(exchange, ORDER_PLACED);
  return {
    async place({ count, feed, payments, signal }) {
      let copies = 0;
      for (let first = 1; first <= ORDERS; first += BATCH) {
        const numbers = Array.from({ length: BATCH }, (_, index) => first + index);
        const send = (number: number): Promise<unknown> => {
          const order = orderOfNumber(number);
          // The order's id is the message's: sent again after an unknown outcome, it is the same message.
          return publisher.send(order, { messageId: order.orderId, signal });
        };
        for (const number of numbers) payments.failNext(orderOfNumber(number).orderId, failuresOfNumber(number));
        await Promise.all(numbers.map(send));
        count(numbers.length);
        const again = numbers.filter(isSentAgain);
        await Promise.all(again.map(send));
        feed(again.length);
        copies += again.length;
        await wait(PAUSE_MS, undefined, { signal });
      }
      return `${ORDERS} by this library, ${copies} of them twice`;
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

/** As if nobody knew whether they had arrived. */
function isSentAgain(number: number): boolean {
  return number % 20 === 5;
}

/** For some the payment provider fails once or twice, for a few every time. */
function failuresOfNumber(number: number): number {
  if (number % 80 === 13) return Infinity;
  return number % 25 === 7 ? 1 + number % 2 : 0;
}
