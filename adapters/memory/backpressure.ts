/**
 * Whom a quorum queue refuses that is told to refuse: every publisher that was there when it became too long, until it has room
 * for a fifth of its length again. Whoever comes in between publishes.
 *
 * @module
 */

/** How long a queue is: beyond its length, at most four fifths of it, or in between. */
export type Fullness = "over" | "low" | "between";

/** Numbers of messages and of bytes. */
export interface Extent {
  readonly messages: number;
  readonly bytes: number;
}

/** The part of its length below which a queue takes publishes again. */
const LOW = 0.8;

/** How long a queue is that may be as long as `limit`. */
export function fullness({ messages, bytes }: Extent, limit: Extent): Fullness {
  if (messages > limit.messages || bytes > limit.bytes) return "over";
  return messages <= Math.trunc(limit.messages * LOW) && bytes <= Math.trunc(limit.bytes * LOW) ? "low" : "between";
}

/** Remembers who was told to stop. Keeps no publisher alive. */
export class Backpressure {
  /** When each publisher came: how often the queue had become too long by then. */
  readonly #came = new WeakMap<object, number>();
  #stops = 0;
  /** Who came before this stop is refused. */
  #stop = 0;

  /** Whether a publisher is refused, by a queue that is as long as it says. */
  refuses(publisher: object, found: Fullness): boolean {
    const known = this.#came.get(publisher);
    const came = known ?? this.#stops;
    if (known === undefined) this.#came.set(publisher, came);
    this.observe(found);
    return came < this.#stop;
  }

  /** The queue may be longer or shorter than before. */
  observe(found: Fullness): void {
    if (found === "over") this.#stop = ++this.#stops;
    else if (found === "low") this.#stop = 0;
  }
}
