/**
 * A bounded number of permits, given out in the order they were asked for.
 *
 * @module
 */

/** One waiting caller. */
interface Waiter {
  readonly grant: () => void;
}

/**
 * A counting semaphore.
 *
 * A permit that was given is the caller's to return exactly once; a caller that stops waiting (its signal aborted) takes none.
 */
export class Limiter {
  readonly #limit: number;
  readonly #waiting = new Set<Waiter>();
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Permits given out and not yet returned. */
  get taken(): number {
    return this.#taken;
  }

  /** Callers in the queue. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit if one is free and nobody waits for it. */
  tryTake(): boolean {
    if (this.#taken >= this.#limit || this.#waiting.size > 0) return false;
    this.#taken++;
    return true;
  }

  /** Takes a permit, waiting for one; rejects with the signal's reason when it aborts first. */
  take(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        grant: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Returns a permit; the caller who waited longest has it at once. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    next.grant();
  }
}
