/**
 * Batches: as many at once as the connection allows, every message tried and awaited, every result with its index (contract core
 * 2.6).
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

/**
 * Sends payload after payload in order, `window` of them in flight: a batch of any size is encoded and buffered only as fast as the
 * broker takes it. Throws a {@linkcode PublishBatchError} when one failed.
 */
export async function sendBatch<T>(
  payloads: readonly T[],
  window: number,
  send: (payload: T) => Promise<PublishResult>,
): Promise<BatchResult[]> {
  const settled: PromiseSettledResult<PublishResult>[] = [];
  const left = payloads.entries();
  const oneAfterTheOther = async (): Promise<void> => {
    for (const [index, payload] of left) [settled[index]] = await Promise.allSettled([send(payload)]);
  };
  await Promise.all(Array.from({ length: Math.min(window, payloads.length) }, oneAfterTheOther));
  if (settled.some((one) => one.status === "rejected")) throw new PublishBatchError(settled.map(itemOf));
  return settled.flatMap((one, index) => one.status === "fulfilled" ? [{ ...one.value, index }] : []);
}

function itemOf(settled: PromiseSettledResult<PublishResult>, index: number): BatchItem {
  return settled.status === "fulfilled"
    ? { index, status: "sent", messageId: settled.value.messageId }
    : { index, status: "failed", error: settled.reason };
}
