/**
 * How much is under way: for somebody who waits until nothing is.
 *
 * @module
 */

/** Counts pieces of work. Whoever begins one ends it exactly once. */
export class Work {
  readonly #waiting = new Set<() => void>();
  #underWay = 0;
  #begun = 0;

  /** Whether nothing is under way. */
  get isDone(): boolean {
    return this.#underWay === 0;
  }

  /** Pieces begun so far: the same twice says that nothing happened in between. */
  get begun(): number {
    return this.#begun;
  }

  begin(): void {
    this.#underWay++;
    this.#begun++;
  }

  end(): void {
    this.#underWay--;
    if (this.#underWay > 0 || this.#waiting.size === 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Waits, within a piece of work, for what only time brings: meanwhile that piece is not under way. */
  async rest<Result>(wait: () => Promise<Result>): Promise<Result> {
    this.end();
    try {
      return await wait();
    } finally {
      this.begin();
    }
  }

  /** Resolves the next time the last piece ends. */
  ended(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
