/**
 * What a store of claims must answer, as a state machine of its own (contract patterns 4.1, 4.8), and what holders do to one.
 *
 * @module
 */
import type { ClaimAnswer, ClaimFate, OnceWithin, RenewAnswer } from "../../src/ports/idempotency_store.ts";
import { CLAIM_TIMEOUT_MS, RETENTION_MS } from "../contract/idempotency_store.ts";

/** One message's row. `claim` is the number of the claim that holds it. */
type Row =
  | { readonly state: "CLAIMED"; readonly claim: number; readonly sinceMs: number }
  | { readonly state: "CONFIRMED"; readonly sinceMs: number };

/** What a claim is to be answered: all but the token, which is the store's to choose. */
export type Claimed = ClaimAnswer["status"] | "taken over";

/** What a confirmation in a transaction is to end with. */
export type Once = OnceWithin | "LeaseLostError" | "RetryableError";

/** When a confirmation is forgotten: .NET's table counts from the claim, all others from the confirmation. */
export type RetentionFrom = "claim" | "confirmation";

/** See the module. */
export class ClaimModel {
  readonly #rows = new Map<string, Row>();
  readonly #retentionFrom: RetentionFrom;
  #nowMs = 0;

  constructor(retentionFrom: RetentionFrom) {
    this.#retentionFrom = retentionFrom;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  claim(id: string, claim: number): Claimed {
    const row = this.#rows.get(id);
    if (row !== undefined && !this.#isOver(row)) return row.state === "CLAIMED" ? "in_progress" : "already_confirmed";
    this.#rows.set(id, { state: "CLAIMED", claim, sinceMs: this.#nowMs });
    return row?.state === "CLAIMED" ? "taken over" : "claimed";
  }

  confirm(id: string, claim: number): ClaimFate {
    if (this.#holds(id, claim)) {
      this.#confirmed(id, claim);
      return "held";
    }
    return this.isConfirmed(id) ? "held" : "lost";
  }

  release(id: string, claim: number): ClaimFate {
    return this.#holds(id, claim) && this.#rows.delete(id) ? "held" : "lost";
  }

  renew(id: string, claim: number): RenewAnswer["status"] {
    if (!this.#holds(id, claim)) return "lost";
    this.#rows.set(id, { state: "CLAIMED", claim, sinceMs: this.#nowMs });
    return "held";
  }

  isConfirmed(id: string): boolean {
    const row = this.#rows.get(id);
    return row?.state === "CONFIRMED" && !this.#isOver(row);
  }

  /** In a transaction that is committed, or not. Without a claim the record is made there. */
  once(id: string, claim: number | undefined, isCommitted: boolean): Once {
    const answer = this.#onceWould(id, claim);
    if (answer === "confirmed" && isCommitted) this.#confirmed(id, claim);
    return answer;
  }

  purge(): number {
    const over = [...this.#rows].filter(([, row]) => this.#isOver(row));
    for (const [id] of over) this.#rows.delete(id);
    return over.length;
  }

  get count(): number {
    return this.#rows.size;
  }

  #onceWould(id: string, claim: number | undefined): Once {
    if (claim !== undefined) return this.#holds(id, claim) ? "confirmed" : "LeaseLostError";
    const row = this.#rows.get(id);
    if (row === undefined || this.#isOver(row)) return "confirmed";
    return row.state === "CONFIRMED" ? "already_confirmed" : "RetryableError";
  }

  #holds(id: string, claim: number): boolean {
    const row = this.#rows.get(id);
    return row?.state === "CLAIMED" && row.claim === claim;
  }

  /** By the claim that holds it; without one, claimed and confirmed in one. */
  #confirmed(id: string, claim: number | undefined): void {
    const since = this.#retentionFrom === "claim" && claim !== undefined ? this.#rows.get(id)?.sinceMs : undefined;
    this.#rows.set(id, { state: "CONFIRMED", sinceMs: since ?? this.#nowMs });
  }

  #isOver({ state, sinceMs }: Row): boolean {
    return this.#nowMs >= sinceMs + (state === "CLAIMED" ? CLAIM_TIMEOUT_MS : RETENTION_MS);
  }
}
