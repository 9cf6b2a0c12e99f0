/**
 * Who may publish now: so many at once, or one alone. First come, first served.
 *
 * @module
 */

import { Line } from "../../internal/line.ts";

interface Waiter {
  readonly isAlone: boolean;
  readonly enter: () => void;
}

/** See the module. Whoever entered leaves once. */
export class Turnstile {
  readonly #room: number;
  readonly #line = new Line<Waiter>();
  #inside = 0;
  #isAlone = false;

  constructor(room: number) {
    this.#room = room;
  }

  /** Enters at once, where that takes no wait. */
  tryEnter(): boolean {
    if (this.#isAlone || this.#line.length > 0 || this.#inside >= this.#room) return false;
    this.#inside++;
    return true;
  }

  /** Resolves when it is the caller's turn; alone, when nobody else is inside. */
  enter(isAlone: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#line.join({ isAlone, enter: resolve });
      this.#admit();
    });
  }

  leave(): void {
    this.#inside--;
    this.#isAlone = false;
    this.#admit();
  }

  #admit(): void {
    for (let first = this.#line.first; first !== undefined; first = this.#line.first) {
      const { isAlone, enter } = first.value;
      if (this.#isAlone || this.#inside >= (isAlone ? 1 : this.#room)) return;
      this.#line.leave(first);
      this.#inside++;
      this.#isAlone = isAlone;
      enter();
    }
  }
}
