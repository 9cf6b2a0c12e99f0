/**
 * A queue of values with a constant cost at both ends of its life: in at the back, out at the front.
 *
 * @module
 */

/** Always a power of two, so that a position wraps with a mask. */
const SMALLEST_RING = 16;

/** First in, first out, over a ring that grows as it fills and never moves a value otherwise. */
export class Deque<T> {
  #ring: (T | undefined)[] = new Array(SMALLEST_RING);
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts a value at the back. */
  push(value: T): void {
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#size) & (this.#ring.length - 1)] = value;
    this.#size++;
  }

  /** Takes the value at the front. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const value = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#size--;
    return value;
  }

  /** Looks at the value at the front. */
  peek(): T | undefined {
    return this.#size === 0 ? undefined : this.#ring[this.#head];
  }

  /** The values, front first, as a copy. */
  toArray(): T[] {
    return Array.from(
      { length: this.#size },
      (_, index) => this.#ring[(this.#head + index) & (this.#ring.length - 1)] as T,
    );
  }

  #grow(): void {
    const values: (T | undefined)[] = this.toArray();
    values.length = this.#ring.length * 2;
    this.#ring = values;
    this.#head = 0;
  }
}
