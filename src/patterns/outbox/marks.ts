/**
 * What became of the rows of one claim, written to the store: all of them together, and those that are known when others take long.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { endWait } from "../../internal/abort.ts";
import type { OutboxFailure, RelayStore } from "../../ports/outbox_store.ts";
import type { Fate } from "./fate.ts";
import type { RelayMeter } from "./meter.ts";
import type { StoreWatch } from "./store_watch.ts";

/** What marks are written with. */
export interface MarksContext {
  readonly store: RelayStore;
  readonly clock: Clock;
  readonly meter: RelayMeter;
  readonly watch: StoreWatch;
  /** No mark is waited for longer. Milliseconds. */
  readonly leaseMs: number;
  /** Ends the attempts to write them. */
  readonly signal: AbortSignal;
}

/** The claim they are about. */
export interface MarkedClaim {
  readonly token: string;
  /** How many rows there are to be marked. */
  readonly size: number;
  readonly leaseEndMs: number;
}

/** What is known is written that long after the first of it, if the rest takes longer: a key that hangs holds up no other. */
const PATIENCE_MS = 250;

/** Between attempts to write a mark. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** The marks of one claim. Never rejects: a mark that cannot be written is tried until the lease ends, and then reported. */
export class Marks {
  readonly #claim: MarkedClaim;
  readonly #context: MarksContext;
  #published: string[] = [];
  #failed: OutboxFailure[] = [];
  /** By the delay they go back with. */
  #givenBack = new Map<number, string[]>();
  #left: number;
  #writing: Promise<void> = Promise.resolve();
  #timer: AbortController | undefined;

  constructor(claim: MarkedClaim, context: MarksContext) {
    this.#claim = claim;
    this.#context = context;
    this.#left = claim.size;
  }

  /** What became of a row; each row of the claim once. */
  add(id: string, fate: Fate): void {
    this.#left--;
    switch (fate.is) {
      case "published":
        this.#published.push(id);
        break;
      case "failed": {
        const { reason, attempts, retryDelayMs } = fate;
        this.#failed.push({ id, reason, attempts, retryDelayMs });
        break;
      }
      case "given_back": {
        const { delayMs } = fate;
        const together = this.#givenBack.get(delayMs);
        if (together === undefined) this.#givenBack.set(delayMs, [id]);
        else together.push(id);
      }
    }
    if (this.#left === 0) this.#stopTimer();
    else this.#timer ??= this.#flushLater();
  }

  /** Resolves when whatever was added is written, or cannot be. */
  async written(): Promise<void> {
    this.#stopTimer();
    this.#flush();
    await this.#writing;
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) endWait(this.#timer);
  }

  #flushLater(): AbortController {
    const timer = new AbortController();
    this.#context.clock.delay(PATIENCE_MS, { signal: timer.signal }).then(() => {
      this.#timer = undefined;
      this.#flush();
    }, () => {/* all of it is written at once */});
    return timer;
  }

  #flush(): void {
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    const { store } = this.#context;
    const { token } = this.#claim;
    const [published, failed, givenBack] = [this.#published, this.#failed, this.#givenBack];
    [this.#published, this.#failed, this.#givenBack] = [[], [], new Map()];
    await this.#mark("published", published.length, (options) => store.markPublished(token, published, options));
    await this.#mark("failed", failed.length, (options) => store.markFailed?.(token, failed, options));
    for (const [delayMs, ids] of givenBack) {
      await this.#mark("given_back", ids.length, (options) => store.giveBack?.(token, ids, { ...options, delayMs }));
    }
  }

  async #mark(
    as: Fate["is"],
    count: number,
    write: (options: { readonly signal: AbortSignal }) => Promise<number> | undefined,
  ): Promise<void> {
    if (count === 0) return;
    const { clock, meter, watch, signal, leaseMs } = this.#context;
    const asked = { what: "mark rows of the outbox", timeoutMs: leaseMs, signal };
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const marked = await watch.ask(write, asked);
        // Of a second attempt the number says nothing: the first may have been written.
        const missing = count - (marked ?? count);
        if (missing > 0 && pauseMs === FIRST_PAUSE_MS) meter.leaseLost(as, missing);
        return;
      } catch (error) {
        const leftMs = this.#claim.leaseEndMs - clock.elapsed();
        if (leftMs <= 0 || signal.aborted) return meter.notMarked(as, count, error);
        await clock.delay(Math.min(pauseMs, leftMs), { signal }).catch(() => {});
      }
    }
  }
}
