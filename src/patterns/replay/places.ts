/**
 * Where set-aside messages lie, and where they go back to (contract core 1.8, 4.3, 6).
 *
 * @module
 */

import { assertName, assertShortText } from "../../internal/assert_option.ts";
import { DEAD_LETTER_EXCHANGE, deadLetterQueueName, parkedQueueName } from "../../naming/queue_names.ts";

/** The queues that a failure side consists of. */
export type SetAsideQueue = "dlq" | "parked";

/** Where a copy is published to. */
export interface ReplayTarget {
  /** Empty for the default exchange, whose routing key is a queue's name. */
  readonly exchange: string;
  /** What the exchange routes by. */
  readonly routingKey: string;
}

/** A queue of set-aside messages, and the queue they were set aside from. */
export interface Places {
  /** Where they lie. */
  readonly source: string;
  /** Where they come from. */
  readonly home: string;
}

/** What the name of a queue of set-aside messages ends with; .NET once wrote the last. */
const SUFFIXES: readonly string[] = [".dlq", ".parked", ".dead"];

/**
 * The places that a queue's name stands for. A name that ends as one of a failure side does is that side's, unless the caller says
 * which side of the named queue is meant.
 *
 * @throws {TypeError} no name, or a side that there is not
 */
export function placesOf(queue: string, from: SetAsideQueue | "queue" | undefined): Places {
  assertName("the name of a queue", queue);
  switch (from) {
    case "dlq":
      return { source: deadLetterQueueName(queue), home: queue };
    case "parked":
      return { source: parkedQueueName(queue), home: queue };
    case "queue":
      return { source: queue, home: queue };
    case undefined:
      return placesByName(queue);
    default:
      throw new TypeError(
        `Cannot read beside queue "${queue}": option 'from' must be dlq, parked or queue, found ${String(from)}`,
      );
  }
}

/**
 * Where replayed messages go: home, or where the caller says.
 *
 * @throws {RangeError} into the queue they are read from, which they would never leave
 */
export function targetOf({ source, home }: Places, into: string | ReplayTarget = home): ReplayTarget {
  const target = typeof into === "string" ? { exchange: "", routingKey: into } : into;
  if (typeof target?.exchange !== "string" || typeof target.routingKey !== "string") {
    throw new TypeError("Cannot replay: option 'into' must be a queue's name, or an exchange and a routing key");
  }
  if (target.exchange === "") assertName("the name of a queue", target.routingKey);
  assertShortText("an exchange name", target.exchange);
  assertShortText("a routing key", target.routingKey);
  // The library's own dead-letter exchange leads to such a queue under its name.
  const leadsBack = target.exchange === "" || target.exchange === DEAD_LETTER_EXCHANGE;
  if (!leadsBack || target.routingKey !== source) return target;
  throw new RangeError(`Cannot replay queue "${source}" into itself: every message would come back for ever`);
}

function placesByName(queue: string): Places {
  const suffix = SUFFIXES.find((one) => queue.length > one.length && queue.endsWith(one));
  if (suffix === undefined) return { source: deadLetterQueueName(queue), home: queue };
  return { source: queue, home: queue.slice(0, -suffix.length) };
}
