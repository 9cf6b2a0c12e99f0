/**
 * What is called when a signal aborts, where many wait for one signal at once.
 *
 * A platform keeps listeners in a list that it walks for each one that is added or removed; here both take the same time however many
 * there are.
 *
 * @module
 */

interface Calls {
  readonly waiting: Set<() => void>;
  readonly onAbort: () => void;
}

/** Calls of any number of signals. A signal that nobody waits for any more is not listened to. */
export class AbortCalls {
  readonly #bySignal = new WeakMap<AbortSignal, Calls>();

  /** Has `call` called when the signal aborts: once, unless it is removed before. */
  add(signal: AbortSignal, call: () => void): void {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return void known.waiting.add(call);
    const waiting = new Set([call]);
    const onAbort = (): void => {
      for (const each of waiting) each();
      this.#bySignal.delete(signal);
    };
    this.#bySignal.set(signal, { waiting, onAbort });
    signal.addEventListener("abort", onAbort, { once: true });
  }

  /** Takes a call back; one that is not there is none. */
  remove(signal: AbortSignal, call: () => void): void {
    const known = this.#bySignal.get(signal);
    if (known === undefined || !known.waiting.delete(call) || known.waiting.size > 0) return;
    this.#bySignal.delete(signal);
    signal.removeEventListener("abort", known.onAbort);
  }
}
