/**
 * What a caller may say about never handling a message twice.
 *
 * @module
 */

import { assertOptions, describeKind, type OptionKinds } from "../../internal/option_kinds.ts";
import type { Envelope } from "../../message/envelope.ts";
import type { IdempotencyStore, TwoAnswerStore } from "../../ports/idempotency_store.ts";
import type { Ladder } from "../../retry/ladder.ts";
import { delayAfter } from "../../retry/policy.ts";

/** A store of claims, and how a consumer uses it. */
export interface IdempotencyOptions {
  /** Where claims are kept. */
  readonly store: IdempotencyStore | TwoAnswerStore;
  /**
   * What is claimed of a message. Two queues that share one store need keys of their own for a message that comes to both.
   *
   * @default {(envelope) => envelope.id}
   */
  readonly key?: (envelope: Envelope) => string;
  /**
   * Renew the claim for as long as the handler runs: for handlers that may take longer than the store's `claimTimeoutMs`. The price is
   * a statement for every third of that time. Without it the handler's signal aborts when the lease ends, since somebody else may have
   * the message from then on.
   *
   * @default {false}
   */
  readonly renewLease?: boolean;
}

const KINDS: Readonly<OptionKinds<IdempotencyOptions>> = { store: "checked", key: "function", renewLease: "boolean" };

/** The options with their defaults. */
export interface ClaimSettings {
  readonly store: IdempotencyStore;
  readonly key: (envelope: Envelope) => string;
  readonly renewLease: boolean;
}

/** Reads the option in each of its forms. */
export function claimSettings(given: IdempotencyStore | TwoAnswerStore | IdempotencyOptions): ClaimSettings {
  const options: IdempotencyOptions = "store" in given ? given : { store: given };
  assertOptions("'idempotency'", options, KINDS);
  assertStore(options.store);
  const { store, key = ({ id }) => id, renewLease = false } = options;
  return { store: "tryClaim" in store ? store : threeAnswers(store), key, renewLease };
}

function assertStore(store: unknown): void {
  if (typeof store === "object" && store !== null && ("tryClaim" in store || "claim" in store)) return;
  throw new TypeError(
    `Cannot use option 'idempotency': it must be a store such as memoryIdempotencyStore(), or have one as 'store', found ${
      describeKind(store)
    }`,
  );
}

/**
 * Refuses a store that forgets before a retry can come: the last retry of a message that was handled would be no duplicate any more.
 *
 * @throws {RangeError} saying both times
 */
export function assertRetention(queue: string, { retentionMs }: IdempotencyStore, ladder: Ladder): void {
  const longestMs = longestWaits(ladder);
  if (longestMs < retentionMs) return;
  throw new RangeError(
    `Cannot consume from queue "${queue}": its retries may come for ${longestMs} ms, and the idempotency store forgets after ` +
      `${retentionMs} ms; raise 'retentionMs', or retry for a shorter time`,
  );
}

/** All the waits of a policy, jitter included; a handler may ask for the longest rung each time instead. */
function longestWaits({ policy, rungsMs }: Ladder): number {
  const longestRungMs = rungsMs.at(-1) ?? 0;
  let totalMs = 0;
  for (let attempt = 1; attempt < policy.maxAttempts && totalMs < Number.MAX_SAFE_INTEGER; attempt++) {
    const delayMs = delayAfter(policy, attempt);
    // Waits never shrink, so from here on they are all alike.
    const isLast = delayMs === delayAfter(policy, policy.maxAttempts - 1);
    const times = isLast ? policy.maxAttempts - attempt : 1;
    totalMs += times * Math.max(delayMs * (1 + policy.jitterFactor), longestRungMs);
    if (isLast) break;
  }
  const { maxMessageAgeMs } = policy;
  return maxMessageAgeMs > 0 ? Math.min(totalMs, maxMessageAgeMs) : totalMs;
}

/** What cannot be claimed and is not confirmed is in progress; such a store says nothing of leases and forgets on its own. */
function threeAnswers(store: TwoAnswerStore): IdempotencyStore {
  return {
    claimTimeoutMs: Infinity,
    retentionMs: Infinity,
    inProgressDelayMs: 1_000,
    check: async () => {},
    tryClaim: async (id) => {
      if (await store.claim(id)) return { status: "claimed", token: "", takenOver: false };
      return { status: await store.isConfirmed(id) ? "already_confirmed" : "in_progress" };
    },
    confirm: async (id) => {
      await store.confirm(id);
      return "held";
    },
    release: async (id) => {
      await store.release(id);
      return "held";
    },
    renew: async (_id, token) => ({ status: "held", token }),
    isConfirmed: async (id) => await store.isConfirmed(id),
    purgeExpired: async () => 0,
    count: async () => 0,
  };
}
