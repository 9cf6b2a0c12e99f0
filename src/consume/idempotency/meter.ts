/**
 * What is counted and logged about claims (contract core 7.1).
 *
 * @module
 */

import { describeError } from "../../errors.ts";
import type { IdempotencyStore } from "../../ports/idempotency_store.ts";
import type { Recorder } from "../../telemetry/recorder.ts";

/** The rows are counted at most this often. */
const ROWS_EVERY_MS = 60_000;

/** What became of a claim that was not to be. */
export type ClaimFault =
  | "confirm_failed"
  | "release_failed"
  | "renew_failed"
  | "lease_lost"
  | "lease_outlived"
  | "purge_failed";

/** Counts and logs the claims of one queue. */
export class ClaimMeter {
  readonly #recorder: Recorder;
  readonly #queue: string;
  #rowsCountedMs = -Infinity;

  constructor(recorder: Recorder, queue: string) {
    this.#recorder = recorder;
    this.#queue = queue;
  }

  /** A claim was answered, or was lost. */
  claim(outcome: "claimed" | "already_confirmed" | "in_progress" | "lost" | "unconfirmed"): void {
    this.#recorder.metric("acemq.idempotency.claims.total", 1, { queue: this.#queue, outcome });
  }

  /** Somebody else's lease had ended. */
  takeover(): void {
    this.#recorder.metric("acemq.idempotency.takeovers.total", 1, { queue: this.#queue });
  }

  /** Something about a claim went wrong; the message is dealt with as it would have been. */
  fault(fault: ClaimFault, fields: { readonly id?: string; readonly error?: unknown } = {}): void {
    const { id, error } = fields;
    this.#recorder.log("warn", `acemq.idempotency.${fault}`, {
      queue: this.#queue,
      ...(id === undefined ? {} : { id }),
      ...(error === undefined ? {} : { error: describeError(error) }),
    });
  }

  /** Another queue of the connection claims in the same store, by the same ids. */
  shared(other: string): void {
    this.#recorder.log("warn", "acemq.idempotency.store_shared", {
      queue: this.#queue,
      other,
      remedy: "a table for each queue, or a 'key' of its own",
    });
  }

  /** Asks the store for its rows once in a while; nothing waits for it. */
  rows(store: IdempotencyStore, elapsedMs: number): void {
    if (!this.#recorder.measures || elapsedMs - this.#rowsCountedMs < ROWS_EVERY_MS) return;
    this.#rowsCountedMs = elapsedMs;
    void this.#recordRows(store);
  }

  async #recordRows(store: IdempotencyStore): Promise<void> {
    try {
      this.#recorder.metric("acemq.idempotency.rows", await store.count(), {});
    } catch {
      // The next one.
    }
  }
}
