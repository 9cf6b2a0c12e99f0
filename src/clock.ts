/**
 * Time, chance and identifiers: the only file of `src` that reads them from the platform.
 *
 * Everything else takes a {@linkcode Clock}, a {@linkcode Random} or a {@linkcode NewId}, so that a test decides all three.
 *
 * @module
 */

/** What the library knows about time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary moment; never goes back. Durations and deadlines are measured with it. */
  elapsed(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first, and leaves no timer behind. */
  delay(ms: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
}

/** A source of chance: a number in [0, 1). */
export type Random = () => number;

/** A source of message ids: each call gives one never given before. */
export type NewId = () => string;

/** The longest time one platform timer can hold; a longer delay is taken in several. */
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * The clock of the machine.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { systemClock } from "@acemq/amqp/core";
 *
 * const clock = systemClock();
 * const before = clock.elapsed();
 * await clock.delay(5);
 * assert.ok(clock.elapsed() > before);
 * ```
 */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    delay: async (ms, { signal } = {}) => {
      for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) await timer(Math.min(left, LONGEST_TIMER_MS), signal);
      signal?.throwIfAborted();
    },
  };
}

/**
 * The random generator of the platform; good enough for jitter, never for secrets.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { systemRandom } from "@acemq/amqp/core";
 *
 * const drawn = systemRandom();
 * assert.ok(drawn >= 0 && drawn < 1);
 * ```
 */
export function systemRandom(): number {
  return Math.random();
}

/**
 * A random UUID (version 4), lower case, 36 characters: the form every AceMQ library gives its message ids.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { randomUuid } from "@acemq/amqp/core";
 *
 * assert.match(randomUuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
 * ```
 */
export function randomUuid(): string {
  return crypto.randomUUID();
}

/** Bytes that nobody can guess. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(id);
      reject(signal?.reason);
    };
    const id = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
