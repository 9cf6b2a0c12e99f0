/**
 * Batches: everything is written first, everything is awaited, every result has its index (contract core 2.6).
 *
 * @module
 */

import { type BatchItem, PublishBatchError } from "../errors.ts";
import type { PublishResult } from "./outcome.ts";

/** One message of a batch that went out. */
export interface BatchResult extends PublishResult {
  /** Its place in the batch. */
  readonly index: number;
}

/** Waits for every publish of a batch. Throws a {@linkcode PublishBatchError} when one failed. */
export async function settleBatch(sends: readonly Promise<PublishResult>[]): Promise<BatchResult[]> {
  const settled = await Promise.allSettled(sends);
  if (settled.some((one) => one.status === "rejected")) throw new PublishBatchError(settled.map(itemOf));
  return settled.flatMap((one, index) => one.status === "fulfilled" ? [{ ...one.value, index }] : []);
}

function itemOf(settled: PromiseSettledResult<PublishResult>, index: number): BatchItem {
  return settled.status === "fulfilled"
    ? { index, status: "sent", messageId: settled.value.messageId }
    : { index, status: "failed", error: settled.reason };
}
