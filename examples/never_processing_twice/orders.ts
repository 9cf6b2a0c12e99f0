/**
 * What the service of steps 4 to 6 is told.
 *
 * @module
 */
import { type Topology, topology } from "@acemq/amqp/core";

/** Where a process can be killed. */
export type Point =
  | "after the order is saved"
  | "after the claim"
  | "after the charge"
  | "after the outbox row"
  | "after the commit"
  | "after the relay has claimed the row"
  | "after the publish";

/** What a service is told, as JSON. */
export interface ServiceOrders {
  /** `relay`: nothing new is done, only what was left. */
  readonly work: "save and publish" | "save with an outbox" | "fail with an outbox" | "take payments" | "relay";
  readonly databasePath: string;
  readonly queues: QueueNames;
  readonly killedAt?: Point | undefined;
  /** Undefined: the process that started this one has the broker. */
  readonly amqpUrl?: string | undefined;
}

/** The queues of one run. */
export interface QueueNames {
  readonly payments: string;
  readonly announced: string;
}

/** A message of the queue of payments. */
export interface Payment {
  readonly amountCents: number;
}

/** The id of the one payment there is. */
export const PAYMENT_ID = "P-19";

export function queuesOf({ payments, announced }: QueueNames): Topology {
  return topology().queue(payments, { deadLetter: true }).queue(announced);
}
