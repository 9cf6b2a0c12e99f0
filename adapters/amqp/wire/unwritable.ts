/**
 * What makes a message impossible to write.
 *
 * @module
 */

/** Thrown inside the encoders only, and caught where the encoding began: the publish is refused and nothing was written. */
export class Unwritable extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "Unwritable";
  }
}
