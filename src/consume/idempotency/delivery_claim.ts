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
  /** A transaction of the handler's has confirmed it, and may have committed. */
  #isConfirmedWithin = false;
  #asking: Promise<void> | undefined;
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

  get store(): unknown {
    return this.#context.store;
  }

  get isConfirmedWithin(): boolean {
    return this.#isConfirmedWithin && !this.isLate;
  }

  confirmedWithin(): void {
    this.#isConfirmedWithin = true;
  }

  /** Whether the lease has ended. */
  get isLate(): boolean {
    return this.#lease.isOver;
  }

  /** Asks the store. Rejects as the store does, for an answer that is none, and when none comes within two leases. */
  async ask(): Promise<ClaimAnswer> {
    const asked = Promise.resolve(this.#context.store.tryClaim(this.id));
    try {
      // An answer that is late says at least who has the message; for one that never comes another lease is long enough.
      const answer = readClaimAnswer(
        await this.#lease.within(() => asked).catch(() => this.#lease.within(() => asked)),
      );
      if (answer.status === "claimed") this.#token = answer.token;
      return answer;
    } catch (error) {
      asked.then((late) => this.#giveBackLate(late), () => {});
      throw error;
    }
  }

  /** A store that answers when nobody waits any more may have claimed the message: its next attempt would find it in progress. */
  async #giveBackLate(late: unknown): Promise<void> {
    try {
      const answer = readClaimAnswer(late);
      if (answer.status === "claimed") await this.#context.store.release(this.id, answer.token);
    } catch (error) {
      this.#context.meter.fault("release_failed", { id: this.id, error });
    }
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
    if (!this.#mayBeTold) return;
    if (this.#isConfirmedWithin) this.#asking ??= this.#lookWithin(renews).finally(() => this.#asking = undefined);
    else if (this.#lease.isOver) this.#outlived();
    else if (renews) this.#renewNow();
  }

  get #mayBeTold(): boolean {
    return this.#isRunning && !this.#isConfirmed && !this.#isTold;
  }

  #outlived(): void {
    this.#context.meter.fault("lease_outlived", { id: this.id });
    this.#tell();
  }

  #renewNow(): void {
    if (this.#renewing !== undefined || this.#confirming !== undefined) return;
    this.#renewing = this.#renew().finally(() => this.#renewing = undefined);
  }

  /**
   * A transaction of the handler's has confirmed the claim: it is asked for whether that has committed. While it is open it holds the
   * row, so a renewal would wait for it, on a connection of its own: it is begun only when the lease would end, since the transaction
   * may have been rolled back. Somebody else who wants the claim waits as well, so that what has no answer then is still held.
   */
  async #lookWithin(renews: boolean): Promise<void> {
    const isConfirmed = await this.#isConfirmedByNow();
    if (!this.#mayBeTold || isConfirmed === true) return;
    const { clock, leaseMs } = this.#context;
    const isAboutToEnd = this.#lease.leftMs(clock.elapsed()) <= leaseMs / 2;
    if (renews && isAboutToEnd && isConfirmed === false) this.#renewNow();
    else if (this.#lease.isOver) this.#outlived();
  }

  /** Undefined when the store does not say. While the lease runs nobody else can have confirmed it. */
  async #isConfirmedByNow(): Promise<boolean | undefined> {
    try {
      const isConfirmed = await this.#lease.within(() => this.#context.store.isConfirmed(this.id));
      if (isConfirmed) this.#isConfirmed = true;
      return isConfirmed;
    } catch {
      return undefined;
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
      } else if (!(this.#isConfirmedWithin && await this.#isConfirmedByNow()) && this.#confirming === undefined) {
        this.#lostItself();
      }
    } catch (error) {
      meter.fault("renew_failed", { id: this.id, error });
    }
  }

  #lostItself(): void {
    if (!this.#mayBeTold) return;
    this.#countAsLost();
    this.#tell();
  }

  #tell(): void {
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
