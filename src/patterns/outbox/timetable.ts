/**
 * When a relay looks for rows next. No effect here.
 *
 * @module
 */

/** What a relay knows when it has nothing else to do. Milliseconds of one clock; `Infinity` for never. */
export interface Outlook {
  readonly nowMs: number;
  /** Whether the broker takes publishes. */
  readonly isLinked: boolean;
  /** Whether another batch may be in hand. */
  readonly hasRoom: boolean;
  /** Somebody has reason to believe that there are rows. */
  readonly isDue: boolean;
  /** The floor under everything else. */
  readonly pollAtMs: number;
  /** For what was added here. */
  readonly lookoutAtMs: number;
  /** For rows of ours that wait for their next attempt. */
  readonly retryAtMs: number;
  /** Not before: the store does not answer, or the broker does not. */
  readonly restUntilMs: number;
}

/** How long to wait for the next look, milliseconds; `Infinity`: until something happens. */
export function waitForNextLook(outlook: Outlook): number {
  const { nowMs, isLinked, hasRoom, isDue, pollAtMs, lookoutAtMs, retryAtMs, restUntilMs } = outlook;
  if (!isLinked || !hasRoom) return Infinity;
  const wantedMs = isDue ? nowMs : Math.min(pollAtMs, lookoutAtMs, retryAtMs);
  return Math.max(wantedMs, restUntilMs, nowMs) - nowMs;
}

/** Times that are told apart, milliseconds; and how many of them are kept. */
const STEP_MS = 100;
const MOST = 1_000;

/** Times at which there will be something to look for. */
export class Agenda {
  readonly #times = new Set<number>();

  /** The earliest; `Infinity` when there is none. */
  get nextMs(): number {
    let next = Infinity;
    for (const atMs of this.#times) next = Math.min(next, atMs);
    return next;
  }

  /** One more, rounded up. Beyond a thousand of them polling has to do. */
  add(atMs: number): void {
    if (this.#times.size < MOST) this.#times.add(Math.ceil(atMs / STEP_MS) * STEP_MS);
  }

  /** Takes away what has come. */
  pass(nowMs: number): void {
    for (const atMs of this.#times) if (atMs <= nowMs) this.#times.delete(atMs);
  }
}
