/**
 * The claim of one delivery, from the question to its end.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { ClaimUnconfirmedError, LeaseLostError, type StoreError } from "../../errors.ts";
import type { MessageClaim } from "../../message/message.ts";
import type { ClaimAnswer, ClaimFate, IdempotencyStore } from "../../ports/idempotency_store.ts";
import type { InHand } from "../in_hand.ts";
import { Lease } from "./lease.ts";
import type { ClaimMeter } from "./meter.ts";
import { readClaimAnswer, readClaimFate, readRenewAnswer } from "./store_answers.ts";

/** What a claim works with. */
export interface ClaimContext {
  readonly store: IdempotencyStore;
  readonly clock: Clock;
  readonly meter: ClaimMeter;
  /** How long a claim lasts, milliseconds; never longer than in the store. */
  readonly leaseMs: number;
}

/** Between attempts to confirm what is done. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** See the module. Methods for the consumer never reject: the message is dealt with as it would have been. */
export class DeliveryClaim implements MessageClaim {
  readonly id: string;
  readonly #item: InHand;
  readonly #context: ClaimContext;
  /** Counted from before the question, so that it never ends later here than in the store. */
  readonly #lease: Lease;
  #token = "";
  #confirming: Promise<void> | undefined;
  #renewing: Promise<void> | undefined;
  #isConfirmed = false;
  /** The handler is at work. */
  #isRunning = false;
  /** The handler was told that its time is up. */
  #isTold = false;
  #isCountedAsLost = false;
  /** Why the store does not know of what is done, where it was to be told. */
  #unconfirmed: ClaimUnconfirmedError | undefined;

  constructor(id: string, item: InHand, context: ClaimContext) {
    this.id = id;
    this.#item = item;
    this.#context = context;
    this.#lease = new Lease(context.leaseMs, context.clock);
  }

  get token(): string {
    return this.#token;
  }

  /** Whether the lease has ended. */
  get isLate(): boolean {
    return this.#lease.isOver;
  }

  /** Asks the store. Rejects as the store does, and for an answer that is none. */
  async ask(): Promise<ClaimAnswer> {
    const answer = readClaimAnswer(await this.#context.store.tryClaim(this.id));
    if (answer.status === "claimed") this.#token = answer.token;
    return answer;
  }

  /** The handler begins, and is told from now on when the lease has ended. */
  begin(): void {
    this.#isRunning = true;
  }

  /** For the handler: what it has done is done, whatever fails from here on. Asked for again, it is the same confirmation. */
  async confirm(): Promise<void> {
    if (this.#isConfirmed) return;
    this.#confirming ??= this.#confirmPatiently().finally(() => this.#confirming = undefined);
    await this.#confirming;
  }

  /** The handler accepted: confirms, trying again for as long as the lease runs. */
  async finish(): Promise<void> {
    this.#isRunning = false;
    try {
      await this.confirm();
    } catch (error) {
      if (error instanceof LeaseLostError) this.#countAsLost();
      else this.#countAsUnconfirmed();
    }
  }

  /**
   * The handler did not accept: the message is free for its next attempt, unless its claim was `lost` before. What the handler says is
   * done and could not be confirmed is not freed: the rest of its lease is all that keeps somebody else from doing it again.
   */
  async giveUp(): Promise<ClaimFate> {
    this.#isRunning = false;
    await this.#confirming?.catch(() => {});
    if (this.#unconfirmed !== undefined && !this.#isConfirmed) this.#countAsUnconfirmed();
    if (this.#isConfirmed || this.#unconfirmed !== undefined) return "held";
    try {
      // A claim that is somebody else's by now is not ours to release, and a confirmation in the handler's transaction stays.
      const fate = await this.#byToken("release");
      if (typeof fate === "string") return fate;
      throw fate;
    } catch (error) {
      this.#context.meter.fault("release_failed", { id: this.id, error });
      return "held";
    }
  }

  /** Looks at the clock: tells a handler that still runs when its lease has ended, and renews it before that where it is to. */
  look(renews: boolean): void {
    this.#lease.look();
    if (!this.#isRunning || this.#isConfirmed || this.#isTold) return;
    if (this.#lease.isOver) {
      this.#context.meter.fault("lease_outlived", { id: this.id });
      this.#tell();
    } else if (renews && this.#renewing === undefined && this.#confirming === undefined) {
      this.#renewing = this.#renew().finally(() => this.#renewing = undefined);
    }
  }

  async #confirmPatiently(): Promise<void> {
    const { clock } = this.#context;
    const begunMs = clock.elapsed();
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const isLast = this.#lease.leftMs(begunMs) <= 0 || this.#item.isAborted;
      try {
        return await this.#confirmOnce();
      } catch (error) {
        if (error instanceof LeaseLostError || error === this.#unconfirmed) throw error;
        const leftMs = this.#lease.leftMs(begunMs);
        if (isLast || leftMs <= 0) throw this.#unconfirmedSince(error);
        // A drain that ends the wait leaves time for one more attempt.
        await clock.delay(Math.min(pauseMs, leftMs), { signal: this.#item.signal }).catch(() => {});
      }
    }
  }

  async #confirmOnce(): Promise<void> {
    const fate = await this.#byToken("confirm");
    if (fate === "lost") throw this.#lost();
    if (fate !== "held") throw this.#unconfirmedSince(fate);
    this.#isConfirmed = true;
  }

  /** A renewal that is under way may have given the claim another token, of which we are still to hear. */
  async #byToken(what: "confirm" | "release"): Promise<ClaimFate | StoreError> {
    const { store } = this.#context;
    const ask = async (token: string): Promise<ClaimFate | StoreError> =>
      readClaimFate(what, await this.#lease.within(() => store[what](this.id, token)));
    const token = this.#token;
    const fate = await ask(token);
    if (fate !== "lost") return fate;
    const renewing = this.#renewing;
    if (renewing !== undefined) await this.#lease.within(() => renewing);
    return this.#token === token ? fate : await ask(this.#token);
  }

  async #renew(): Promise<void> {
    const { store, clock, meter } = this.#context;
    const startedMs = clock.elapsed();
    try {
      const renewed = readRenewAnswer(await store.renew(this.id, this.#token));
      if (renewed.status === "held") {
        this.#token = renewed.token;
        this.#lease.beginAnew(startedMs);
      } else if (this.#isRunning && !this.#isConfirmed && this.#confirming === undefined) {
        this.#countAsLost();
        this.#tell();
      }
    } catch (error) {
      meter.fault("renew_failed", { id: this.id, error });
    }
  }

  #tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#item.abort(this.#lost());
  }

  #countAsLost(): void {
    if (this.#isCountedAsLost) return;
    this.#isCountedAsLost = true;
    this.#context.meter.claim("lost");
    this.#context.meter.fault("lease_lost", { id: this.id });
  }

  #countAsUnconfirmed(): void {
    this.#context.meter.claim("unconfirmed");
    this.#context.meter.fault("confirm_failed", { id: this.id, error: this.#unconfirmed?.cause });
  }

  #lost(): LeaseLostError {
    return new LeaseLostError(
      `Cannot go on with message "${this.id}": its claim has ended, and may be somebody else's by now`,
    );
  }

  #unconfirmedSince(cause: unknown): ClaimUnconfirmedError {
    const text = `Cannot confirm message "${this.id}": the store did not do it, or did not say so, while the lease ran`;
    return this.#unconfirmed = new ClaimUnconfirmedError(text, { cause });
  }
}
