/**
 * Waiting for a condition of the outside world: a broker's queue, another process.
 *
 * @module
 */

/** How long a condition is waited for. */
export interface UntilOptions {
  /** @default {15_000} */
  readonly timeoutMs?: number;
}

/** Looks until `probe` gives a value that is neither `undefined` nor `false`; fails with `what` in words when it never does. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 15_000 }: UntilOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > end) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A promise and the way to settle it. */
export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** A promise settled by hand. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
