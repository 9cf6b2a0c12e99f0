/**
 * What a caller may say about never handling a message twice.
 *
 * @module
 */

import { assertFiniteNumber } from "../../internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../../internal/option_kinds.ts";
import type { Envelope } from "../../message/envelope.ts";
import type { IdempotencyStore, TwoAnswerStore } from "../../ports/idempotency_store.ts";
import type { Ladder } from "../../retry/ladder.ts";
import { delayAfter } from "../../retry/policy.ts";
import { readYesOrNo } from "./store_answers.ts";

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
  /** The store as it was given, where a message is claimed in it by its id alone. */
  readonly byId: object | undefined;
}

/** What a store has to have. */
const METHODS: readonly (keyof IdempotencyStore)[] = [
  "check",
  "tryClaim",
  "confirm",
  "release",
  "renew",
  "isConfirmed",
  "purgeExpired",
  "count",
];
const METHODS_OF_TWO_ANSWERS: readonly (keyof TwoAnswerStore)[] = ["claim", "isConfirmed", "confirm", "release"];

/** Reads the option in each of its forms. A store is told by what it can do: it may well have a member called `store`. */
export function claimSettings(given: IdempotencyStore | TwoAnswerStore | IdempotencyOptions): ClaimSettings {
  const options: IdempotencyOptions = isStore(given) ? { store: given } : given;
  assertOptions("'idempotency'", options, KINDS);
  const { store, key = ({ id }) => id, renewLease = false } = options;
  return { store: storeOf(store), key, renewLease, byId: options.key === undefined ? store : undefined };
}

function isStore(given: unknown): given is IdempotencyStore | TwoAnswerStore {
  return hasMethod(given, "tryClaim") || hasMethod(given, "claim");
}

function hasMethod(given: unknown, name: string): boolean {
  return typeof given === "object" && given !== null && typeof (given as Record<string, unknown>)[name] === "function";
}

function storeOf(store: unknown): IdempotencyStore {
  if (!isStore(store)) {
    throw new TypeError(
      `Cannot use option 'idempotency': it must be a store such as memoryIdempotencyStore(), or have one as 'store', found ${
        describeKind(store)
      }`,
    );
  }
  const isOfThree = "tryClaim" in store;
  for (const name of isOfThree ? METHODS : METHODS_OF_TWO_ANSWERS) {
    if (hasMethod(store, name)) continue;
    throw new TypeError(
      `Cannot use option 'idempotency': a store with the method '${
        isOfThree ? "tryClaim" : "claim"
      }' must have '${name}' too`,
    );
  }
  if (!isOfThree) return threeAnswers(store);
  assertTimes(store);
  return store;
}

/** A lease and a memory may be without an end; a wait may not. */
function assertTimes(store: IdempotencyStore): void {
  for (const name of ["claimTimeoutMs", "retentionMs"] as const) {
    if (store[name] !== Infinity) assertFiniteNumber(name, store[name], 1);
  }
  assertFiniteNumber("inProgressDelayMs", store.inProgressDelayMs, 0);
  if (store.purgeIntervalMs !== undefined) assertFiniteNumber("purgeIntervalMs", store.purgeIntervalMs, 1);
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
  let longestMs = 0;
  for (let attempt = 1; attempt < policy.maxAttempts && totalMs < Number.MAX_SAFE_INTEGER; attempt++) {
    const delayMs = delayAfter(policy, attempt);
    // Waits never shrink, so from here on they are all alike.
    const isLast = delayMs === delayAfter(policy, policy.maxAttempts - 1);
    const times = isLast ? policy.maxAttempts - attempt : 1;
    longestMs = Math.max(delayMs * (1 + policy.jitterFactor), longestRungMs);
    totalMs += times * longestMs;
    if (isLast) break;
  }
  // The age is looked at when an attempt has failed, and one more wait comes after that.
  const { maxMessageAgeMs } = policy;
  return maxMessageAgeMs > 0 ? Math.min(totalMs, maxMessageAgeMs + longestMs) : totalMs;
}

/** What cannot be claimed and is not confirmed is in progress; such a store says nothing of leases and forgets on its own. */
function threeAnswers(store: TwoAnswerStore): IdempotencyStore {
  return {
    claimTimeoutMs: Infinity,
    retentionMs: Infinity,
    inProgressDelayMs: 1_000,
    check: async () => {},
    tryClaim: async (id) => {
      if (readYesOrNo("claim", await store.claim(id))) return { status: "claimed", token: "", takenOver: false };
      const isConfirmed = readYesOrNo("isConfirmed", await store.isConfirmed(id));
      return { status: isConfirmed ? "already_confirmed" : "in_progress" };
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
