/**
 * The claim of one delivery, from the store's answer to its end.
 *
 * @module
 */

import type { Clock } from "../../clock.ts";
import { LeaseLostError } from "../../errors.ts";
import type { MessageClaim } from "../../message/message.ts";
import type { ClaimFate, IdempotencyStore } from "../../ports/idempotency_store.ts";
import type { InHand } from "../in_hand.ts";
import type { ClaimMeter } from "./meter.ts";

/** What a claim works with. */
export interface ClaimContext {
  readonly store: IdempotencyStore;
  readonly clock: Clock;
  readonly meter: ClaimMeter;
}

/** Between attempts to confirm what is done. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** See the module. Methods for the consumer never reject: the message is dealt with as it would have been. */
export class DeliveryClaim implements MessageClaim {
  readonly id: string;
  readonly #item: InHand;
  readonly #context: ClaimContext;
  #token: string;
  #leaseEndMs: number;
  #isConfirmed = false;
  #isOver = false;

  constructor(
    { id, token, startedMs }: { readonly id: string; readonly token: string; readonly startedMs: number },
    item: InHand,
    context: ClaimContext,
  ) {
    this.id = id;
    this.#token = token;
    this.#item = item;
    this.#context = context;
    this.#leaseEndMs = startedMs + context.store.claimTimeoutMs;
  }

  get token(): string {
    return this.#token;
  }

  /** For the handler: what it has done is done, whatever fails from here on. */
  async confirm(): Promise<void> {
    if (this.#isConfirmed) return;
    const fate = await this.#context.store.confirm(this.id, this.#token);
    if (fate === "lost") throw this.#lost();
    this.#isConfirmed = true;
  }

  /** The handler accepted: confirms, trying again for as long as the lease runs and nobody wants the delivery back. */
  async finish(): Promise<void> {
    const { clock, meter } = this.#context;
    this.#isOver = true;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isConfirmed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await this.confirm();
      } catch (error) {
        if (error instanceof LeaseLostError) return this.#reportLost();
        const leftMs = this.#leaseEndMs - clock.elapsed();
        if (leftMs > 0 && await this.#waited(Math.min(pauseMs, leftMs))) continue;
        meter.claim("unconfirmed");
        return meter.fault("confirm_failed", { id: this.id, error });
      }
    }
  }

  /** The handler did not accept: the message is free for its next attempt, unless its claim was `lost` before. */
  async giveUp(): Promise<ClaimFate> {
    this.#isOver = true;
    if (this.#isConfirmed) return "held";
    try {
      // A claim that is somebody else's by now is not ours to release, and a confirmation in the handler's transaction stays.
      return await this.#context.store.release(this.id, this.#token);
    } catch (error) {
      this.#context.meter.fault("release_failed", { id: this.id, error });
      return "held";
    }
  }

  /** Begins the lease anew; says whether there is a lease to watch over from now on. */
  async renew(): Promise<boolean> {
    if (this.#isOver || this.#isConfirmed) return false;
    const { store, clock, meter } = this.#context;
    const startedMs = clock.elapsed();
    try {
      const renewed = await store.renew(this.id, this.#token);
      if (this.#isOver || this.#isConfirmed) return false;
      if (renewed.status === "lost") {
        this.#reportLost();
        this.#item.abort(this.#lost());
        return false;
      }
      this.#token = renewed.token;
      this.#leaseEndMs = startedMs + store.claimTimeoutMs;
      return true;
    } catch (error) {
      meter.fault("renew_failed", { id: this.id, error });
      return !this.endLease();
    }
  }

  /** Looks whether the lease has ended under a handler that still runs, and tells it so. */
  endLease(): boolean {
    if (this.#isOver || this.#isConfirmed) return true;
    if (this.#context.clock.elapsed() < this.#leaseEndMs) return false;
    this.#context.meter.fault("lease_outlived", { id: this.id });
    this.#item.abort(this.#lost());
    return true;
  }

  #reportLost(): void {
    this.#context.meter.claim("lost");
    this.#context.meter.fault("lease_lost", { id: this.id });
  }

  async #waited(ms: number): Promise<boolean> {
    const { patience } = this.#item;
    return await this.#context.clock.delay(ms, { signal: patience }).then(() => true, () => false);
  }

  #lost(): LeaseLostError {
    return new LeaseLostError(
      `Cannot go on with message "${this.id}": its claim has ended, and may be somebody else's by now`,
    );
  }
}
