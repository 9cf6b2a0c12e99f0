/**
 * The plan of a topology: what a broker said of every object in it, as a value that can be read, kept and printed.
 *
 * @module
 */

/**
 * What a broker said of one object.
 *
 * - `would_create`: it is not there. Whether the broker would let it be created is not asked, since that would create it.
 * - `present`: it is there as wanted; declaring it changes nothing.
 * - `differs`: it is there otherwise. Declaring it is refused.
 * - `unknown`: nobody can say, and the reason why.
 */
export type PlanStatus = "would_create" | "present" | "differs" | "unknown";

/** One object of a plan. */
export interface PlanItem {
  /** What it is. */
  readonly kind: "exchange" | "queue" | "binding";
  /** Its name; of a binding its ends and its key, as `orders.new from orders, key order.placed`. */
  readonly name: string;
  /** What the broker said of it. */
  readonly status: PlanStatus;
  /** The broker's own words, or why it cannot be asked; undefined when the object is present. */
  readonly reason?: string;
}

/**
 * What a broker said of every object of a topology: exchanges, then queues, then bindings.
 *
 * The plan of a moment: nothing keeps what it says true. `String(plan)` is for people, and its wording may change.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, topology } from "@acemq/amqp/core";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * const mq = await connect(memoryBroker());
 * const plan = await mq.plan(topology().queue("orders.new"));
 * assert.equal(
 *   String(plan),
 *   `would_create  queue "orders.new": NOT_FOUND - no queue 'orders.new' in vhost '/'\n` +
 *     "1 would_create, 0 present, 0 differs, 0 unknown",
 * );
 * await mq.close();
 * ```
 */
export class TopologyPlan {
  /** Every object, in the order it is declared. */
  readonly items: readonly PlanItem[];

  /** What `mq.plan(…)` returns. */
  constructor(items: readonly PlanItem[]) {
    this.items = items;
  }

  /** A line for each object, and a last one that counts them. */
  toString(): string {
    return [...this.items.map(lineOf), STATUSES.map((status) => `${this.#count(status)} ${status}`).join(", ")].join(
      "\n",
    );
  }

  #count(status: PlanStatus): number {
    return this.items.filter((item) => item.status === status).length;
  }
}

/** An object in words: `queue "orders.new"`. */
export function describeItem({ kind, name }: PlanItem): string {
  return `${kind} ${JSON.stringify(name)}`;
}

const STATUSES: readonly PlanStatus[] = ["would_create", "present", "differs", "unknown"];

/** As wide as the longest status. */
const STATUS_WIDTH = 12;

function lineOf(item: PlanItem): string {
  const { status, reason } = item;
  const what = `${status.padEnd(STATUS_WIDTH)}  ${describeItem(item)}`;
  return visible(reason === undefined ? what : `${what}: ${reason}`);
}

/** Names are anybody's, and a broker repeats them: none of them begins a line, moves the cursor or turns the text round. */
function visible(line: string): string {
  return line.replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
