/**
 * What makes a frame from the broker unreadable.
 *
 * @module
 */

/** Thrown inside the decoders only: a stream that is out of step cannot be read on, so the connection is dropped. */
export class MalformedFrame extends Error {
  constructor(problem: string) {
    super(`Cannot read a frame: it ${problem}`);
    this.name = "MalformedFrame";
  }
}
