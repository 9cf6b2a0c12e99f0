/**
 * Carries what the broker has to say to those outside: later than the call that caused it, in the order it happened.
 *
 * @module
 */

import { Deque } from "./deque.ts";

/** Something to say. */
export interface Letter {
  /** Says it; never throws. */
  arrive(): void;
}

/** One microtask carries everything that has been posted by the time it runs, and what is posted meanwhile. */
export class Postbox {
  readonly #letters = new Deque<Letter>();
  #isCarrying = false;

  post(letter: Letter): void {
    this.#letters.push(letter);
    if (this.#isCarrying) return;
    this.#isCarrying = true;
    queueMicrotask(() => this.#carry());
  }

  #carry(): void {
    for (let letter = this.#letters.shift(); letter !== undefined; letter = this.#letters.shift()) letter.arrive();
    this.#isCarrying = false;
  }
}
