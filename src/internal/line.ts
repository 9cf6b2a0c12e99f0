/**
 * A line in which people wait: first come, first served, and anybody may leave from where they stand.
 *
 * A `Set` in its order of insertion would do the same, but what was taken from its front leaves holes that every later look steps
 * over; here each step takes the same time however long the line is.
 *
 * @module
 */

/** A place in a line. */
export interface Place<T> {
  readonly value: T;
  /** False once it was left. */
  isTaken: boolean;
  before: Place<T> | undefined;
  behind: Place<T> | undefined;
}

/** A line of values. */
export class Line<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #length = 0;

  /** Places that are taken. */
  get length(): number {
    return this.#length;
  }

  /** The place that was taken longest. */
  get first(): Place<T> | undefined {
    return this.#first;
  }

  /** Takes the place behind everybody. */
  join(value: T): Place<T> {
    const place: Place<T> = { value, isTaken: true, before: this.#last, behind: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.behind = place;
    this.#last = place;
    this.#length++;
    return place;
  }

  /** Leaves a place of this line; twice is once. */
  leave(place: Place<T>): void {
    if (!place.isTaken) return;
    const { before, behind } = place;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    place.isTaken = false;
    place.before = place.behind = undefined;
    this.#length--;
  }
}
