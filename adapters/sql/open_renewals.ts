/**
 * Renewals that have no answer yet, of claims whose token is a time: such a claim has the token its holder knows, or one that was to be
 * its next.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";

/** Tokens one claim may have. */
interface Candidates {
  readonly tokens: readonly string[];
  /** Nobody asks after that, milliseconds on the clock that is never set. */
  readonly untilMs: number;
}

/** Between tokens, of which none has it. */
const SEPARATOR = ",";

/** See the module. Of one store: somebody else's renewal is never among them. */
export class OpenRenewals {
  readonly #clock: Clock;
  readonly #keptMs: number;
  /** In the order of their ends. */
  readonly #open = new Map<string, Candidates>();

  /** Whoever never asks again is forgotten after `keptMs`. */
  constructor(clock: Clock, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** What the claim may have, as {@linkcode Instants.isOneOf} takes it. */
  tokensOf(id: string, token: string): string {
    return this.#open.get(keyOf(id, token))?.tokens.join(SEPARATOR) ?? token;
  }

  /** A renewal is about to be asked for. */
  begin(id: string, token: string, next: string): void {
    const nowMs = this.#clock.elapsed();
    this.#forgetBefore(nowMs);
    const key = keyOf(id, token);
    const tokens = [...this.#open.get(key)?.tokens ?? [token], next];
    this.#open.delete(key);
    this.#open.set(key, { tokens, untilMs: nowMs + this.#keptMs });
  }

  /** It was answered, or the claim has ended. */
  end(id: string, token: string): void {
    this.#open.delete(keyOf(id, token));
  }

  #forgetBefore(nowMs: number): void {
    for (const [key, { untilMs }] of this.#open) {
      if (untilMs > nowMs) return;
      this.#open.delete(key);
    }
  }
}

function keyOf(id: string, token: string): string {
  return `${token}${SEPARATOR}${id}`;
}
