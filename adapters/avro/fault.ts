/**
 * What is wrong with a value or with bytes, and where: told by the schema's own names and by counting, never by what was found there.
 *
 * @module
 */

/** Thrown inside the adapter; a codec makes an error of its own of it. */
export class Fault extends Error {
  /** What leads to the place, innermost first. */
  readonly #path: string[] = [];

  /** Says which place within the one that was left is meant. */
  within(place: string): this {
    this.#path.push(place);
    return this;
  }

  /** The place, a colon and the reason. */
  describe(): string {
    return this.#path.length === 0 ? this.message : `${placeOf(this.#path)}: ${this.message}`;
  }
}

/** What was written cannot be read by the schema that is asked for: no fault of the bytes. */
export class ResolutionFault extends Fault {}

/** Says of a fault in which place it was met; leaves every other error as it is. */
export function within(error: unknown, place: string): unknown {
  return error instanceof Fault ? error.within(place) : error;
}

/** A recursive schema repeats itself: the outermost and the innermost places say enough. */
function placeOf(path: readonly string[]): string {
  const places = path.toReversed();
  const shown = places.length > 8 ? [...places.slice(0, 4), "…", ...places.slice(-3)] : places;
  return shown.join(" › ");
}
