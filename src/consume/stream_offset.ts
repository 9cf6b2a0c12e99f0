/**
 * Where in a stream a reader begins, as the broker takes it.
 *
 * @module
 */

import { WireTimestamp } from "../message/wire_value.ts";

/** Years, months, days, hours, minutes and seconds, as RabbitMQ writes them. */
const INTERVAL = /^\d+[YMDhms]$/;

/**
 * Refuses an offset no broker reads: asked for one, RabbitMQ closes the whole connection (541), every other consumer on it included.
 *
 * @throws {TypeError} saying what was found and what is wanted
 */
export function assertStreamOffset(offset: unknown): void {
  if (isStreamOffset(offset)) return;
  throw new TypeError(
    `Cannot use argument 'x-stream-offset': it must be "first", "last", "next", an interval such as "1h", a whole number from 0 or ` +
      `a Date, found ${typeof offset === "string" ? JSON.stringify(offset) : String(offset)}`,
  );
}

function isStreamOffset(offset: unknown): boolean {
  if (typeof offset === "string") return ["first", "last", "next"].includes(offset) || INTERVAL.test(offset);
  if (typeof offset === "bigint") return offset >= 0n;
  if (typeof offset === "number") return Number.isSafeInteger(offset) && offset >= 0;
  return offset instanceof WireTimestamp || (offset instanceof Date && !Number.isNaN(offset.getTime()));
}
