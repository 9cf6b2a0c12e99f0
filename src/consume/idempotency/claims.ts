/**
 * A consumer's claims: each message is claimed before its handler runs, and confirmed or released after it (contract patterns 4.2).
 *
 * @module
 */

import { saysLeaseLost } from "../../errors.ts";
import type { Environment } from "../../ports/environment.ts";
import { type Deadline, Deadlines } from "../../publish/deadlines.ts";
import type { InHand } from "../in_hand.ts";
import type { Handled } from "../settlement.ts";
import { type ClaimContext, DeliveryClaim } from "./delivery_claim.ts";
import { ClaimMeter } from "./meter.ts";
import type { ClaimSettings } from "./options.ts";

/** A claim, or what becomes of a delivery that was not claimed. */
export type Taken =
  | { readonly status: "claimed"; readonly claim: DeliveryClaim }
  | { readonly status: "not_claimed"; readonly handled: Handled };

/** Renewed this often in the time of a lease, so that one failure does not lose it. */
const RENEWALS_A_LEASE = 3;

/** Claims for one consumer. */
export class Claims {
  readonly #settings: ClaimSettings;
  readonly #meter: ClaimMeter;
  /** What every claim works with. */
  readonly #context: ClaimContext;
  readonly #watch: Deadlines;
  readonly #watched = new Map<DeliveryClaim, Deadline>();
  readonly #ended = new AbortController();

  constructor(queue: string, settings: ClaimSettings, environment: Environment) {
    const { store, renewLease } = settings;
    this.#settings = settings;
    this.#meter = new ClaimMeter(environment.recorder, queue);
    this.#context = { store, clock: environment.clock, meter: this.#meter };
    const watchMs = renewLease ? store.claimTimeoutMs / RENEWALS_A_LEASE : store.claimTimeoutMs;
    this.#watch = new Deadlines(environment.clock, watchMs);
  }

  /** Begins to purge on the store's schedule, if it has one. */
  start(): void {
    const { purgeIntervalMs } = this.#settings.store;
    if (purgeIntervalMs !== undefined) void this.#purgeEvery(purgeIntervalMs);
  }

  /** Claims a delivery's message. Never rejects: a claim that cannot be made is tried again with the message. */
  async take(item: InHand): Promise<Taken> {
    const { store, key } = this.#settings;
    const { clock } = this.#context;
    try {
      const id = key(item.envelope);
      // The lease is counted from before the question, so that it never ends later here than in the store.
      const startedMs = clock.elapsed();
      const answer = await store.tryClaim(id);
      this.#meter.claim(answer.status);
      this.#meter.rows(store, clock.elapsed());
      if (answer.status === "already_confirmed") return notClaimed({ status: "duplicate" });
      if (answer.status === "in_progress") {
        return notClaimed({ status: "in_progress", delayMs: store.inProgressDelayMs });
      }
      if (answer.takenOver) this.#meter.takeover();
      const claim = new DeliveryClaim({ id, token: answer.token, startedMs }, item, this.#context);
      if (store.claimTimeoutMs !== Infinity) this.#watchOver(claim);
      return { status: "claimed", claim };
    } catch (error) {
      return notClaimed({ status: "threw", error, by: "store" });
    }
  }

  /**
   * The handler is through: confirms what it has accepted, and releases everything else. Never rejects.
   *
   * @returns what happened to the delivery: a handler that failed since somebody else has its message has not failed
   */
  async end(claim: DeliveryClaim, handled: Handled, isAccepted: boolean): Promise<Handled> {
    const deadline = this.#watched.get(claim);
    if (deadline !== undefined) this.#watch.clear(deadline);
    this.#watched.delete(claim);
    if (isAccepted) {
      await claim.finish();
      return handled;
    }
    const fate = await claim.giveUp();
    // A lease that ended while nobody wanted the message was too short for the handler: that is a failure, and counts as one.
    if (fate === "held" || handled.status !== "threw" || !saysLeaseLost(handled.error)) return handled;
    return { status: "in_progress", delayMs: this.#settings.store.inProgressDelayMs };
  }

  /** Ends what runs by the clock. */
  close(): void {
    this.#ended.abort();
    this.#watch.close();
  }

  #watchOver(claim: DeliveryClaim): void {
    this.#watched.set(claim, this.#watch.set(() => void this.#look(claim)));
  }

  async #look(claim: DeliveryClaim): Promise<void> {
    const goesOn = this.#settings.renewLease ? await claim.renew() : !claim.endLease();
    if (goesOn && this.#watched.has(claim)) this.#watchOver(claim);
  }

  async #purgeEvery(intervalMs: number): Promise<void> {
    const { clock } = this.#context;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await clock.delay(intervalMs, { signal });
        await this.#settings.store.purgeExpired({ signal });
      } catch (error) {
        if (!signal.aborted) this.#meter.fault("purge_failed", { error });
      }
    }
  }
}

function notClaimed(handled: Handled): Taken {
  return { status: "not_claimed", handled };
}
