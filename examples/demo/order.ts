/**
 * What the flow is about.
 *
 * @module
 */
import { FatalError } from "@acemq/amqp";

/** An order, as every language of the fleet writes it. */
export interface Order {
  readonly orderId: string;
  readonly totalCents: number;
  /** `held` orders wait for a person. */
  readonly status?: "held";
}

/** Reads a payload as an order. What is none will be none on the next attempt either, so the error is fatal. */
export function orderOf(payload: unknown): Order {
  if (isOrder(payload)) return payload;
  throw new FatalError("Cannot read the payload as an order: it must have 'orderId' and 'totalCents'");
}

function isOrder(payload: unknown): payload is Order {
  return typeof payload === "object" && payload !== null &&
    "orderId" in payload && typeof payload.orderId === "string" &&
    "totalCents" in payload && typeof payload.totalCents === "number";
}
