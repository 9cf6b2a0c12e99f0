/**
 * The ledger: what became of every message that entered the flow.
 *
 * @module
 */

/** The account at one moment. The names are those of the `--json` line. */
export interface Ledger {
  /** Messages that entered, wherever they came from. A second copy under the same id is not placed again. */
  readonly placed: number;
  readonly handled: number;
  readonly deadLettered: number;
  readonly parked: number;
  /** Attempts that failed and were tried again. */
  readonly retried: number;
  /** Messages that came under an id that had ended before: the price of at-least-once delivery. */
  readonly duplicates: number;
  /** What entered and has not ended anywhere. Negative: more ended than entered. */
  readonly lost: number;
}

/** The ways a message can end. */
export type Ending = "handled" | "deadLettered" | "parked";

/** Whether every message that entered has ended, once. */
export function balances({ lost }: Ledger): boolean {
  return lost === 0;
}

/** The last line of a run with `--json`. */
export function jsonLine({ placed, handled, deadLettered, parked, retried, duplicates, lost }: Ledger): string {
  return JSON.stringify({ placed, handled, deadLettered, parked, retried, duplicates, lost });
}

/** Keeps the ledger while a run goes on. */
export class Bookkeeper {
  readonly #ended = new Set<string>();
  readonly #count: Record<Ending | "placed" | "retried" | "duplicates", number> = {
    placed: 0,
    handled: 0,
    deadLettered: 0,
    parked: 0,
    retried: 0,
    duplicates: 0,
  };
  readonly #reasons = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #fed = 0;

  get ledger(): Ledger {
    const { placed, handled, deadLettered, parked } = this.#count;
    return { ...this.#count, lost: placed - handled - deadLettered - parked };
  }

  /** Why messages were set aside, and how many for each reason. */
  get reasons(): ReadonlyMap<string, number> {
    return this.#reasons;
  }

  /** Second copies that were put in on purpose. */
  get fed(): number {
    return this.#fed;
  }

  placed(messages: number): void {
    this.#add("placed", messages);
  }

  /** Second copies go in: each of them has to turn up as a duplicate. */
  feed(copies: number): void {
    this.#fed += copies;
  }

  retried(): void {
    this.#add("retried", 1);
  }

  /** A message came that was handled before, and was not handled again. */
  duplicate(): void {
    this.#add("duplicates", 1);
  }

  /** A message has ended. The first ending of an id is its own; whatever comes after is a duplicate. */
  ended(id: string, ending: Ending, reason?: string): void {
    if (reason !== undefined) this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    const isFirst = !this.#ended.has(id);
    this.#ended.add(id);
    this.#add(isFirst ? ending : "duplicates", 1);
  }

  /**
   * Resolves when as many messages have ended as were placed, and every second copy was seen. Resolves as well when nothing has moved for `stallMs`: the ledger
   * then shows what is lost.
   */
  async settled({ stallMs, signal }: { readonly stallMs: number; readonly signal: AbortSignal }): Promise<void> {
    while (this.ledger.lost > 0 || this.ledger.duplicates < this.#fed) {
      if (await this.#nextChange(stallMs, signal) === "stalled") return;
    }
  }

  #nextChange(stallMs: number, signal: AbortSignal): Promise<"changed" | "stalled"> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const done = new AbortController();
      const timer = setTimeout(() => end(() => resolve("stalled")), stallMs);
      const onChange = (): void => end(() => resolve("changed"));
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#listeners.delete(onChange);
        done.abort();
        settle();
      };
      this.#listeners.add(onChange);
      signal.addEventListener("abort", () => end(() => reject(signal.reason)), { signal: done.signal });
    });
  }

  #add(entry: Ending | "placed" | "retried" | "duplicates", count: number): void {
    this.#count[entry] += count;
    for (const listener of this.#listeners) listener();
  }
}
