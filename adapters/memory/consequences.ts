/**
 * What follows from something that happens in the broker: done behind it and never in the middle of it, as between the processes of
 * RabbitMQ, whose messages to each other come in the order they were sent.
 *
 * @module
 */

/** Far beyond what leads anywhere. */
const MOST_STEPS = 10_000;

interface Consequence {
  readonly act: () => void;
  /** Which one it is of those that followed from each other. */
  readonly step: number;
}

/** Puts consequences in their order. */
export class Consequences {
  readonly #waiting: Consequence[] = [];
  /** Undefined while nothing happens. */
  #step: number | undefined;

  /**
   * Does something, and whatever follows from it.
   *
   * @throws {RangeError} one thing follows from another for ever, as it would on RabbitMQ
   */
  of<Result>(act: () => Result): Result {
    if (this.#step !== undefined) return act();
    this.#step = 0;
    try {
      const result = act();
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#step = next.step;
        next.act();
      }
      return result;
    } finally {
      this.#step = undefined;
      this.#waiting.length = 0;
    }
  }

  /** This follows from what goes on. */
  add(act: () => void): void {
    if (this.#step === undefined) return this.of(act);
    const step = this.#step + 1;
    if (step > MOST_STEPS) throw new RangeError("Cannot dead-letter: the message goes round for ever");
    this.#waiting.push({ act, step });
  }
}
