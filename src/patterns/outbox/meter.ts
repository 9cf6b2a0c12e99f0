/**
 * What is counted and logged about an outbox (contract core 7.1).
 *
 * @module
 */

import { describeError } from "../../errors.ts";
import type { ClaimedRow, OutboxStats } from "../../ports/outbox_store.ts";
import type { Recorder } from "../../telemetry/recorder.ts";
import type { Fate } from "./fate.ts";

/** What can be said of the store. */
export type StoreEvent = "store_away" | "store_back" | "deaf" | "hearing" | "purge_failed";

const LEVELS: Readonly<Record<StoreEvent, "info" | "warn">> = {
  store_away: "warn",
  store_back: "info",
  deaf: "warn",
  hearing: "info",
  purge_failed: "warn",
};

/** Counts and logs for one relay. */
export class RelayMeter {
  readonly #recorder: Recorder;
  readonly #maxAttempts: number;

  constructor(recorder: Recorder, maxAttempts: number) {
    this.#recorder = recorder;
    this.#maxAttempts = maxAttempts;
  }

  /** Whether anybody wants figures. */
  get measures(): boolean {
    return this.#recorder.measures;
  }

  /** A row is published, or the broker has refused it; so long after it was added. */
  ended(row: ClaimedRow, fate: Fate, lagMs: number): void {
    if (fate.is === "given_back") return;
    const { exchange, routingKey } = "outbound" in row ? row.outbound : row;
    const labels = { exchange, "routing.key": routingKey, outcome: fate.is };
    this.#recorder.metric("acemq.outbox.total", 1, labels);
    this.#recorder.metric("acemq.outbox.lag", Math.max(lagMs, 0) / 1_000, labels);
    if (fate.is === "published") return;
    const { reason, attempts, retryDelayMs } = fate;
    const facts = { id: row.id, exchange, routingKey, attempts, reason };
    if (attempts >= this.#maxAttempts) this.#recorder.log("error", "acemq.outbox.retired", facts);
    else this.#recorder.log("warn", "acemq.outbox.publish_failed", { ...facts, retryDelayMs });
  }

  /** Rows of one claim go back without an answer of the broker. */
  givenBack(count: number, reason: string): void {
    this.#recorder.log("warn", "acemq.outbox.given_back", { count, reason });
  }

  /** Somebody else has rows by now that were to be marked: those that were published go out again, under the same ids. */
  leaseLost(as: Fate["is"], count: number): void {
    this.#recorder.log("warn", "acemq.outbox.lease_lost", { count, as });
  }

  /** The store did not take a mark while the lease ran: what was published goes out again, under the same id. */
  notMarked(as: Fate["is"], count: number, error: unknown): void {
    this.#recorder.log("error", "acemq.outbox.mark_failed", { count, as, error: describeError(error) });
  }

  /** A batch has ended as none may: what is not marked comes back when its lease ends. */
  broken(error: unknown): void {
    this.#recorder.log("error", "acemq.outbox.broken", { error: describeError(error) });
  }

  /** Something about the store. */
  store(event: StoreEvent, reason?: string): void {
    this.#recorder.log(LEVELS[event], `acemq.outbox.${event}`, reason === undefined ? {} : { reason });
  }

  /** The figures of the table. */
  stats({ pending, retired, oldestAgeMs = 0 }: OutboxStats): void {
    this.#recorder.metric("acemq.outbox.pending", pending, {});
    this.#recorder.metric("acemq.outbox.retired", retired, {});
    this.#recorder.metric("acemq.outbox.oldest.age", oldestAgeMs / 1_000, {});
  }
}
