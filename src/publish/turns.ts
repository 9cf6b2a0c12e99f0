/**
 * Handing over in the order of the calls what takes unequally long to make: a slow interceptor, an encryption.
 *
 * @module
 */

import { orAborted } from "../internal/abort.ts";

/** The queue of one publisher. What is in it is made at the same time; only the handing over waits its turn. */
export class Turns {
  #last: Promise<unknown> | undefined;

  /** Whether everything that queued up has had its turn. */
  get isFree(): boolean {
    return this.#last === undefined;
  }

  /**
   * Calls `act` when the thing is made and everything before it has had its turn. A thing that cannot be made gives its turn up, and
   * so does one whose signal aborts: `act` is not called then, and the error or the signal's reason is the outcome at once.
   */
  take<Made, Result>(
    making: Promise<Made>,
    act: (made: Made) => Result | Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const before = this.#last;
    // In an object, since what `act` begins is not for the next in turn to wait for.
    const acted = orAborted(Promise.all([making, before]), signal).then(([made]) => ({ outcome: act(made) }));
    const passed: Promise<void> = Promise.allSettled([acted, before]).then(() => {
      if (this.#last === passed) this.#last = undefined;
    });
    this.#last = passed;
    return acted.then(({ outcome }) => outcome);
  }
}
