/**
 * Claims in memory: for tests, and for a process that is alone and may forget when it ends.
 *
 * @module
 */

import { type Clock, type NewId, randomUuid, systemClock } from "../../src/clock.ts";
import { assertWholeNumber } from "../../src/internal/assert_option.ts";
import { assertClaimKey } from "../../src/internal/claim_key.ts";
import { assertOptions, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import { assertPurgeOfClaims } from "../../src/internal/store_options.ts";
import type {
  ClaimAnswer,
  ClaimFate,
  IdempotencyStore,
  PurgeOptions,
  RenewAnswer,
  StoreCallOptions,
} from "../../src/ports/idempotency_store.ts";

/** How a store of claims in memory works. */
export interface MemoryIdempotencyOptions {
  /** How long a claim lasts unless it is confirmed, released or renewed; never longer than the retention. Milliseconds. @default {300_000} */
  readonly claimTimeoutMs?: number;
  /** How long a confirmation is remembered. Milliseconds. @default {86_400_000} */
  readonly retentionMs?: number;
  /** How long a consumer waits before it puts back what somebody else has claimed. Milliseconds. @default {1_000} */
  readonly inProgressDelayMs?: number;
  /**
   * How often a consumer with this store removes what has expired, a thousand rows at a time. Milliseconds.
   *
   * @default {undefined: call `purgeExpired` on a schedule of your own}
   */
  readonly purgeIntervalMs?: number;
  /** Messages remembered at most; beyond, the oldest is forgotten, and counted. @default {100_000} */
  readonly maxEntries?: number;
  /** Leases run by it. @default {systemClock()} */
  readonly clock?: Clock;
  /** Makes the tokens. @default {randomUuid} */
  readonly newId?: NewId;
}

const KINDS: Readonly<OptionKinds<MemoryIdempotencyOptions>> = {
  claimTimeoutMs: "checked",
  retentionMs: "checked",
  inProgressDelayMs: "checked",
  purgeIntervalMs: "checked",
  maxEntries: "checked",
  clock: "object",
  newId: "function",
};

interface Claimed {
  readonly token: string;
  readonly untilMs: number;
}

/** See {@linkcode memoryIdempotencyStore}. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  /** How long a claim lasts. */
  readonly claimTimeoutMs: number;
  /** How long a confirmation is remembered. */
  readonly retentionMs: number;
  /** How long a consumer waits before it puts a message back. */
  readonly inProgressDelayMs: number;
  /** How often a consumer purges. */
  readonly purgeIntervalMs: number | undefined;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #maxEntries: number;
  /** Both in the order they end: claims of one length, confirmations of one length. */
  readonly #claims = new Map<string, Claimed>();
  readonly #confirmed = new Map<string, number>();
  #evicted = 0;

  /** Use {@linkcode memoryIdempotencyStore}. */
  constructor(options: MemoryIdempotencyOptions = {}) {
    assertOptions("a store of claims in memory", options, KINDS);
    const { claimTimeoutMs = 300_000, retentionMs = 86_400_000, inProgressDelayMs = 1_000, maxEntries = 100_000 } =
      options;
    assertWholeNumber("claimTimeoutMs", claimTimeoutMs, 1);
    assertWholeNumber("retentionMs", retentionMs, 1);
    assertWholeNumber("inProgressDelayMs", inProgressDelayMs, 0);
    if (options.purgeIntervalMs !== undefined) assertWholeNumber("purgeIntervalMs", options.purgeIntervalMs, 1);
    assertWholeNumber("maxEntries", maxEntries, 1);
    const { clock = systemClock(), newId = randomUuid } = options;
    this.claimTimeoutMs = Math.min(claimTimeoutMs, retentionMs);
    this.retentionMs = retentionMs;
    this.inProgressDelayMs = inProgressDelayMs;
    this.purgeIntervalMs = options.purgeIntervalMs;
    this.#maxEntries = maxEntries;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** Messages that were forgotten before their time, for want of room: each may be handled twice. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Nothing can be wrong with a store in memory. */
  async check(options: StoreCallOptions = {}): Promise<void> {
    signalOf("check", options)?.throwIfAborted();
  }

  /** Claims a message, or says why not. */
  async tryClaim(id: string, options: StoreCallOptions = {}): Promise<ClaimAnswer> {
    assertClaimKey(id);
    signalOf("tryClaim", options)?.throwIfAborted();
    const now = this.#clock.elapsed();
    if (this.#isConfirmed(id, now)) return { status: "already_confirmed" };
    const held = this.#claims.get(id);
    if (held !== undefined && held.untilMs > now) return { status: "in_progress" };
    const token = this.#newId();
    this.#confirmed.delete(id);
    this.#hold(id, token, now);
    this.#makeRoom(now);
    return { status: "claimed", token, takenOver: held !== undefined };
  }

  /** Makes a claim a confirmation. */
  async confirm(id: string, token: string, options: StoreCallOptions = {}): Promise<ClaimFate> {
    signalOf("confirm", options)?.throwIfAborted();
    const now = this.#clock.elapsed();
    if (this.#claims.get(id)?.token !== token) return this.#isConfirmed(id, now) ? "held" : "lost";
    this.#claims.delete(id);
    this.#confirmed.delete(id);
    this.#confirmed.set(id, now + this.retentionMs);
    return "held";
  }

  /** Gives a claim back. */
  async release(id: string, token: string, options: StoreCallOptions = {}): Promise<ClaimFate> {
    signalOf("release", options)?.throwIfAborted();
    if (this.#claims.get(id)?.token !== token) return "lost";
    this.#claims.delete(id);
    return "held";
  }

  /** Begins the lease anew. */
  async renew(id: string, token: string, options: StoreCallOptions = {}): Promise<RenewAnswer> {
    signalOf("renew", options)?.throwIfAborted();
    if (this.#claims.get(id)?.token !== token) return { status: "lost" };
    this.#hold(id, token, this.#clock.elapsed());
    return { status: "held", token };
  }

  /** Whether the message is confirmed and remembered. */
  async isConfirmed(id: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("isConfirmed", options)?.throwIfAborted();
    return this.#isConfirmed(id, this.#clock.elapsed());
  }

  /** Removes what has expired. */
  async purgeExpired(options: PurgeOptions = {}): Promise<number> {
    assertPurgeOfClaims(options);
    options.signal?.throwIfAborted();
    return this.#purge(this.#clock.elapsed());
  }

  /** Messages that are remembered. */
  async count(options: StoreCallOptions = {}): Promise<number> {
    signalOf("count", options)?.throwIfAborted();
    return this.#size;
  }

  get #size(): number {
    return this.#claims.size + this.#confirmed.size;
  }

  #hold(id: string, token: string, now: number): void {
    this.#claims.delete(id);
    this.#claims.set(id, { token, untilMs: now + this.claimTimeoutMs });
  }

  #isConfirmed(id: string, now: number): boolean {
    return (this.#confirmed.get(id) ?? -Infinity) > now;
  }

  /** A confirmation is the lesser loss: a claim that is forgotten has a handler at work. */
  #makeRoom(now: number): void {
    if (this.#size <= this.#maxEntries) return;
    this.#purge(now);
    for (const entries of [this.#confirmed, this.#claims]) {
      for (const id of entries.keys()) {
        if (this.#size <= this.#maxEntries) return;
        entries.delete(id);
        this.#evicted++;
      }
    }
  }

  #purge(now: number): number {
    const before = this.#size;
    for (const [id, { untilMs }] of this.#claims) {
      if (untilMs > now) break;
      this.#claims.delete(id);
    }
    for (const [id, untilMs] of this.#confirmed) {
      if (untilMs > now) break;
      this.#confirmed.delete(id);
    }
    return before - this.#size;
  }
}

/**
 * A store of claims in memory. It is of this process alone: a second replica does not see it, and a restart forgets it.
 *
 * Price: about 200 bytes a message that is remembered.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { memoryIdempotencyStore, virtualClock } from "@acemq/amqp/memory";
 *
 * const clock = virtualClock();
 * const seen = memoryIdempotencyStore({ clock, claimTimeoutMs: 60_000 });
 * assert.equal((await seen.tryClaim("6f1d")).status, "claimed");
 * assert.equal((await seen.tryClaim("6f1d")).status, "in_progress");
 * await clock.advance(60_000);
 * assert.deepEqual({ ...await seen.tryClaim("6f1d"), token: "another" }, { status: "claimed", token: "another", takenOver: true });
 * ```
 */
export function memoryIdempotencyStore(options: MemoryIdempotencyOptions = {}): MemoryIdempotencyStore {
  return new MemoryIdempotencyStore(options);
}
