/**
 * When to look for rows that were added here and may not be committed yet. Plain arithmetic over a clock's milliseconds.
 *
 * The library never sees the caller's commit. So it looks again, at intervals that begin short and grow, until the rows were seen or a
 * second has passed; whatever is added meanwhile joins in.
 *
 * @module
 */

/** After an addition, milliseconds. */
const FIRST_MS = 1;
/** What each interval is longer than the one before it. */
const GROWTH = 1.5;
/** However long a transaction takes, what else commits meanwhile waits no longer. */
const LONGEST_MS = 100;
/** An addition begins with the first interval again, though not more often: else one large transaction would ask without a pause. */
const RESTART_MS = 100;
/** A row is looked for that long. */
const PATIENCE_MS = 1_000;
/** Rows whose coming is waited for; of those before them nothing is known but the time. */
const MOST_IDS = 1_000;

/** What was added here and not seen yet. */
export class Lookout {
  /** Until when a row is looked for, in the order they were added. */
  readonly #awaited = new Map<string, number>();
  #intervalMs = FIRST_MS;
  #restartedMs = -Infinity;
  #nextMs = Infinity;

  /** What is awaited, the oldest first. */
  get awaited(): Iterable<string> {
    return this.#awaited.keys();
  }

  /** When to look; never while nothing is awaited. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Rows were added, and will be there with the commit. */
  added(ids: readonly string[], nowMs: number): void {
    if (ids.length === 0) return;
    const isIdle = this.#awaited.size === 0;
    for (const id of ids) {
      this.#awaited.delete(id);
      this.#awaited.set(id, nowMs + PATIENCE_MS);
    }
    for (const id of this.#awaited.keys()) {
      if (this.#awaited.size <= MOST_IDS) break;
      this.#awaited.delete(id);
    }
    if (isIdle || nowMs - this.#restartedMs >= RESTART_MS) this.#restart(nowMs);
  }

  /** A look has found these. */
  looked(found: Iterable<string>, nowMs: number): void {
    if (this.#awaited.size === 0) return;
    const before = this.#awaited.size;
    for (const id of found) this.#awaited.delete(id);
    const hasSeen = this.#awaited.size < before;
    for (const [id, untilMs] of this.#awaited) {
      if (untilMs > nowMs) break;
      this.#awaited.delete(id);
    }
    this.#intervalMs = hasSeen ? FIRST_MS : Math.min(this.#intervalMs * GROWTH, LONGEST_MS);
    this.#nextMs = this.#awaited.size === 0 ? Infinity : nowMs + this.#intervalMs;
  }

  /** Nobody has to look for these any more. */
  forget(ids: Iterable<string>): void {
    for (const id of ids) this.#awaited.delete(id);
    if (this.#awaited.size === 0) this.#nextMs = Infinity;
  }

  #restart(nowMs: number): void {
    this.#restartedMs = nowMs;
    this.#intervalMs = FIRST_MS;
    this.#nextMs = nowMs + FIRST_MS;
  }
}
