/**
 * A consumer's claims: each message is claimed before its handler runs, and confirmed or released after it (contract patterns 4.2).
 *
 * @module
 */

import { saysLeaseLost, StoreError } from "../../errors.ts";
import { assertClaimKey } from "../../internal/claim_key.ts";
import type { StoreQueues } from "../../internal/store_queues.ts";
import type { Environment } from "../../ports/environment.ts";
import { type Deadline, Deadlines } from "../../publish/deadlines.ts";
import type { InHand } from "../in_hand.ts";
import type { Handled } from "../settlement.ts";
import { type ClaimContext, DeliveryClaim } from "./delivery_claim.ts";
import { patienceMs } from "./lease.ts";
import { ClaimMeter } from "./meter.ts";
import type { ClaimSettings } from "./options.ts";

/** A claim, or what becomes of a delivery that was not claimed. */
export type Taken =
  | { readonly status: "claimed"; readonly claim: DeliveryClaim }
  | { readonly status: "not_claimed"; readonly handled: Handled };

/** Renewed this often in the time of a lease, so that one failure does not lose it. */
const RENEWALS_A_LEASE = 3;

/** A clock that can be set is looked at this often. */
const CLOCK_EVERY_MS = 1_000;

/** Claims for one consumer. */
export class Claims {
  readonly #queue: string;
  readonly #settings: ClaimSettings;
  readonly #storeQueues: StoreQueues;
  readonly #meter: ClaimMeter;
  /** What every claim works with. */
  readonly #context: ClaimContext;
  readonly #watch: Deadlines;
  readonly #watched = new Map<DeliveryClaim, Deadline>();
  readonly #ended = new AbortController();

  constructor(queue: string, settings: ClaimSettings, environment: Environment) {
    const { store, renewLease } = settings;
    this.#queue = queue;
    this.#settings = settings;
    this.#storeQueues = environment.storeQueues;
    this.#meter = new ClaimMeter(environment.recorder, queue);
    const { leaseMs, watchMs } = planWatch(store.claimTimeoutMs, renewLease);
    this.#context = { store, clock: environment.clock, meter: this.#meter, leaseMs };
    this.#watch = new Deadlines(environment.clock, watchMs);
  }

  /** Says so where another queue claims the same ids, and begins what the store wants done by the clock. */
  start(): void {
    const { byId } = this.#settings;
    const other = byId === undefined ? undefined : this.#storeQueues.join(byId, this.#queue);
    if (other !== undefined) this.#meter.shared(other);
    const { store } = this.#settings;
    if (store.purgeIntervalMs !== undefined) void this.#every(store.purgeIntervalMs, () => this.#purge());
    if (store.observeClock !== undefined) void this.#every(CLOCK_EVERY_MS, () => store.observeClock?.());
  }

  /** Claims a delivery's message. Never rejects: a claim that cannot be made is tried again with the message. */
  async take(item: InHand): Promise<Taken> {
    let claim: DeliveryClaim | undefined;
    try {
      const id = this.#settings.key(item.envelope);
      assertClaimKey(id);
      claim = new DeliveryClaim(id, item, this.#context);
      // From before the question on, as its lease.
      this.#watchOver(claim);
      return await this.#taken(claim, item);
    } catch (error) {
      if (claim !== undefined) this.#leave(claim);
      return notClaimed({ status: "threw", error, by: "store" });
    }
  }

  /**
   * The handler is through: confirms what it has accepted, and releases everything else. Never rejects.
   *
   * @returns what happened to the delivery: a handler that failed since somebody else has its message has not failed
   */
  async end(claim: DeliveryClaim, handled: Handled, isAccepted: boolean): Promise<Handled> {
    if (isAccepted) {
      await claim.finish();
      this.#leave(claim);
      return handled;
    }
    const fate = await claim.giveUp();
    this.#leave(claim);
    // A lease that ended while nobody wanted the message was too short for the handler: that is a failure, and counts as one.
    if (fate === "held" || handled.status !== "threw" || !saysLeaseLost(handled.error)) return handled;
    return this.#inProgress();
  }

  /** Ends what runs by the clock. */
  close(): void {
    this.#ended.abort();
    for (const claim of this.#watched.keys()) this.#leave(claim);
    this.#watch.close();
  }

  async #taken(claim: DeliveryClaim, item: InHand): Promise<Taken> {
    const { store } = this.#settings;
    const answer = await claim.ask();
    this.#meter.claim(answer.status);
    this.#meter.rows(store, this.#context.clock.elapsed());
    if (answer.status === "claimed") {
      if (answer.takenOver) this.#meter.takeover();
      if (claim.isLate || !item.isLive || item.isAborted) return notClaimed(await this.#tooLate(claim, item));
      claim.begin();
      return { status: "claimed", claim };
    }
    this.#leave(claim);
    return notClaimed(answer.status === "in_progress" ? this.#inProgress() : { status: "duplicate" });
  }

  /** By the time the store has answered, somebody else may have the message: it is not begun. */
  async #tooLate(claim: DeliveryClaim, item: InHand): Promise<Handled> {
    const { isLate } = claim;
    const fate = await claim.giveUp();
    this.#leave(claim);
    // Its time in this consumer is over, and what is left of it goes the way of whatever is in hand at the end.
    if (item.isAborted) item.discard();
    if (!isLate || fate === "lost") return this.#inProgress();
    const { claimTimeoutMs } = this.#settings.store;
    const text =
      `Cannot begin message "${claim.id}": the store answered its claim when its lease of ${claimTimeoutMs} ms was over`;
    return { status: "threw", error: new StoreError(text), by: "store" };
  }

  #inProgress(): Handled {
    return { status: "in_progress", delayMs: this.#settings.store.inProgressDelayMs };
  }

  #watchOver(claim: DeliveryClaim): void {
    this.#watched.set(claim, this.#watch.set(() => this.#look(claim)));
  }

  /** Until the claim has ended: a store that hangs is not waited for beyond its lease. */
  #look(claim: DeliveryClaim): void {
    this.#watchOver(claim);
    claim.look(this.#settings.renewLease);
  }

  #leave(claim: DeliveryClaim): void {
    const deadline = this.#watched.get(claim);
    if (deadline !== undefined) this.#watch.clear(deadline);
    this.#watched.delete(claim);
  }

  async #every(intervalMs: number, action: () => void | Promise<void>): Promise<void> {
    const { clock } = this.#context;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await clock.delay(intervalMs, { signal }).catch(() => {});
      if (!signal.aborted) await action();
    }
  }

  async #purge(): Promise<void> {
    const { signal } = this.#ended;
    try {
      await this.#settings.store.purgeExpired({ signal });
    } catch (error) {
      if (!signal.aborted) this.#meter.fault("purge_failed", { error });
    }
  }
}

function notClaimed(handled: Handled): Taken {
  return { status: "not_claimed", handled };
}

/** In whole looks: a lease that is renewed may end here two milliseconds before it does in the store, and never after. */
function planWatch(claimTimeoutMs: number, renews: boolean): { readonly leaseMs: number; readonly watchMs: number } {
  const leaseMs = Math.floor(claimTimeoutMs);
  if (!renews) return { leaseMs, watchMs: patienceMs(leaseMs) };
  const watchMs = Math.max(1, Math.floor(patienceMs(leaseMs) / RENEWALS_A_LEASE));
  return { leaseMs: leaseMs === Infinity ? leaseMs : Math.min(leaseMs, RENEWALS_A_LEASE * watchMs), watchMs };
}
