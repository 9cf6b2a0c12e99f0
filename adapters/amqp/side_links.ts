/**
 * Links of their own for questions that have taken a link down: whatever becomes of them, the connection stands.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { Link } from "./link.ts";
import { inTime } from "./patience.ts";

/** Opens one. */
export type Dial = (signal: AbortSignal) => Promise<Link>;

/** Opens links and closes them, one after another. */
export class SideLinks {
  readonly #dial: Dial;
  readonly #clock: Clock;
  /** Ends when the next one may be opened. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #open = new Set<Promise<unknown>>();

  constructor(dial: Dial, clock: Clock) {
    this.#dial = dial;
    this.#clock = clock;
  }

  /**
   * Does something with a link of its own, and closes it; rejects like what it does, and when no link can be had.
   *
   * Many may be suspected where one is guilty, so they are tried one by one; only one that gets no answer is not waited for.
   */
  run<T>(signal: AbortSignal, act: (link: Link) => Promise<T>): Promise<T> {
    const result = this.#turn.then(() => this.#run(signal, act));
    const over = result.catch(() => {});
    this.#turn = inTime(over, { clock: this.#clock });
    this.#open.add(over);
    void over.then(() => this.#open.delete(over));
    return result;
  }

  /** Resolves when none is open; whoever had one open has ended it by its signal. */
  async closed(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #run<T>(signal: AbortSignal, act: (link: Link) => Promise<T>): Promise<T> {
    const link = await this.#dial(signal);
    // No goodbye: the broker would wait for what it is doing.
    const onAbort = (): void => link.client.abort({ kind: "hung_up" });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      return await act(link);
    } finally {
      signal.removeEventListener("abort", onAbort);
      await link.close();
    }
  }
}
