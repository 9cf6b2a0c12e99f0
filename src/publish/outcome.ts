/**
 * What a receipt means to the caller and to the metrics (the table of contract core 7.1).
 *
 * @module
 */

import { ConnectionError, PublishError, type PublishErrorCode } from "../errors.ts";
import { type Outbound, outboundId } from "../message/outbound.ts";
import type { PublishReceipt } from "../ports/broker.ts";
import type { PublishOutcome } from "../telemetry/outcomes.ts";

/** A publish that went out. */
export interface PublishResult {
  /** The id the message went out under. */
  readonly messageId: string;
  /** `published` on a connection without confirms: written, and nobody said more. */
  readonly outcome: "confirmed" | "published";
  /** From the call to the broker's answer, milliseconds. */
  readonly latencyMs: number;
}

/** A receipt that is not a success. */
export type FailedReceipt = Exclude<PublishReceipt, { outcome: "confirmed" | "published" }>;

/** Whether the message is where it should be. */
export function isSuccess(receipt: PublishReceipt): receipt is Exclude<PublishReceipt, FailedReceipt> {
  return receipt.outcome === "confirmed" || receipt.outcome === "published";
}

/** The metric's word for a receipt. */
export function publishOutcome(receipt: PublishReceipt): PublishOutcome {
  switch (receipt.outcome) {
    case "confirmed":
    case "published":
    case "unroutable":
      return receipt.outcome;
    case "paused":
      return "refused";
    case "refused":
      return receipt.written ? "failed" : "refused";
    case "nacked":
    case "unknown":
      return "failed";
  }
}

const CODES: Readonly<Record<FailedReceipt["outcome"], PublishErrorCode>> = {
  unroutable: "ACEMQ_PUBLISH_UNROUTABLE",
  nacked: "ACEMQ_PUBLISH_NACKED",
  paused: "ACEMQ_PUBLISH_PAUSED",
  refused: "ACEMQ_PUBLISH_REFUSED",
  unknown: "ACEMQ_PUBLISH_UNKNOWN",
};

/** The error a caller gets for a receipt. */
export function publishError(
  outbound: Outbound,
  { outcome, reason }: Pick<FailedReceipt, "outcome" | "reason">,
): PublishError {
  const { exchange, routingKey } = outbound;
  return new PublishError({ code: CODES[outcome], exchange, routingKey, messageId: outboundId(outbound), reason });
}

/**
 * What a caller gets in its place once the connection is closed or closing: waiting, as after `ACEMQ_PUBLISH_PAUSED`, would never
 * help. Why this one was declined stands in the text and in the cause.
 */
export function closedError(outbound: Outbound, receipt: FailedReceipt): ConnectionError {
  const cause = publishError(outbound, receipt);
  return new ConnectionError("ACEMQ_CONNECTION_CLOSED", cause.message, { cause });
}
