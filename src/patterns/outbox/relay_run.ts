/**
 * The loop of a relay: looks for rows, has batches carried side by side, and knows when to look again.
 *
 * @module
 */

import { Bell } from "../../internal/bell.ts";
import type { EventHub } from "../../internal/event_hub.ts";
import { Lookout } from "../../internal/lookout.ts";
import type { BrokerConnection, BrokerEvent } from "../../ports/broker.ts";
import type { Environment } from "../../ports/environment.ts";
import type { OutboxClaim, RelayStore } from "../../ports/outbox_store.ts";
import type { PublishGate } from "../../publish/gate.ts";
import { type BatchSummary, carryBatch, type DatedClaim } from "./batch.ts";
import { Courier } from "./courier.ts";
import { RelayMeter } from "./meter.ts";
import type { RelaySettings } from "./relay_options.ts";
import { StoreWatch } from "./store_watch.ts";
import { Agenda, waitForNextLook } from "./timetable.ts";
import type { Turnstile } from "./turnstile.ts";

/** What a run works with; the connection provides it. */
export interface RunContext {
  readonly broker: BrokerConnection;
  readonly environment: Environment;
  readonly gate: PublishGate;
  readonly hub: EventHub<BrokerEvent>;
  /** Shared by the relays of the connection. */
  readonly turnstile: Turnstile;
  readonly publishTimeoutMs: number;
}

/** Batches in hand at once: one is claimed, one published, one marked. */
const BATCHES = 3;

/** Between questions to a store that does not answer. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** A broker that is there and does not answer is left alone for a poll interval, and no longer than that. */
const LONGEST_REST_MS = 1_000;

/** One run over one store. `run` once; `stop` and `end` at any time, any number of times. */
export class RelayRun {
  readonly watch: StoreWatch;
  readonly meter: RelayMeter;
  readonly settings: RelaySettings;
  readonly #store: RelayStore;
  readonly #context: RunContext;
  readonly #courier: Courier;
  readonly #bell: Bell;
  readonly #lookout = new Lookout();
  readonly #agenda = new Agenda();
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  #rowsInHand = 0;
  #isDue = true;
  #pollAtMs = -Infinity;
  #storeRestMs = -Infinity;
  #brokerRestMs = -Infinity;
  #pauseMs = FIRST_PAUSE_MS;
  #published = 0;
  #failed = 0;
  #lastFailure: unknown;

  constructor(store: RelayStore, context: RunContext, settings: RelaySettings) {
    const { clock, recorder } = context.environment;
    this.#store = store;
    this.#context = context;
    this.settings = settings;
    this.meter = new RelayMeter(recorder, settings.maxAttempts);
    this.watch = new StoreWatch(store, clock, this.meter);
    const { gate, turnstile } = context;
    this.#courier = new Courier({ gate, clock, turnstile, signal: this.#ending.signal });
    this.#bell = new Bell(clock);
  }

  /** Aborts when nothing is begun any more. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborts when nothing is waited for any more. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  get rowsInHand(): number {
    return this.#rowsInHand;
  }

  get counts(): { readonly published: number; readonly failed: number } {
    return { published: this.#published, failed: this.#failed };
  }

  /** What the store threw when it was last asked for rows; undefined when it gave an answer. */
  get lastFailure(): unknown {
    return this.#lastFailure;
  }

  /** Somebody knows that there is something to publish. */
  wake(): void {
    this.#isDue = true;
    this.#bell.ring();
  }

  /** Begins nothing any more: what is not with the broker yet goes back. */
  stop(): void {
    this.#stopping.abort();
    this.#bell.ring();
  }

  /** Waits for nothing any more: what is not marked by now comes back when its lease ends. */
  end(): void {
    this.stop();
    this.#ending.abort();
  }

  /** Runs until it is stopped, or until nothing is left that can be published now; then until nothing is in hand. Never rejects. */
  async run(until: "stopped" | "empty"): Promise<void> {
    const stopListening = this.#store.onAdded?.((ids) => this.#added(ids));
    const events = this.#hearEvents();
    try {
      while (!this.#stopping.signal.aborted) {
        const waitMs = waitForNextLook(this.#outlook());
        if (waitMs === 0) await this.#look();
        else if (until === "empty" && this.#isEmpty) break;
        else await this.#bell.wait(waitMs);
      }
      await Promise.all(this.#batches);
    } finally {
      stopListening?.();
      this.#stopping.abort();
      await events;
    }
  }

  /** The last look has found nothing, and nothing is in hand that could come back. */
  get #isEmpty(): boolean {
    return !this.#isDue && this.#batches.size === 0;
  }

  get #isLinked(): boolean {
    const { broker, gate } = this.#context;
    const { status, blockedReason } = broker.state;
    return status === "open" && blockedReason === undefined && !gate.isClosed;
  }

  #outlook(): Parameters<typeof waitForNextLook>[0] {
    return {
      nowMs: this.#context.environment.clock.elapsed(),
      isLinked: this.#isLinked,
      hasRoom: this.#rowsInHand <= (BATCHES - 1) * this.settings.batchSize,
      isDue: this.#isDue,
      pollAtMs: this.#pollAtMs,
      lookoutAtMs: this.#lookout.nextMs,
      retryAtMs: this.#agenda.nextMs,
      restUntilMs: Math.max(this.#storeRestMs, this.#brokerRestMs),
    };
  }

  #added(ids: readonly string[]): void {
    this.#lookout.added(ids, this.#context.environment.clock.elapsed());
    this.#bell.ring();
  }

  async #hearEvents(): Promise<void> {
    for await (const { type } of this.#context.hub.read(this.#stopping.signal)) {
      if (type !== "recovered" && type !== "unblocked") continue;
      this.#brokerRestMs = -Infinity;
      this.wake();
    }
  }

  async #look(): Promise<void> {
    const { clock } = this.#context.environment;
    const { batchSize, leaseMs, mode, onRetired, pollIntervalMs } = this.settings;
    const askedAtMs = clock.elapsed();
    this.#isDue = false;
    this.#pollAtMs = askedAtMs + pollIntervalMs;
    this.#agenda.pass(askedAtMs);
    try {
      const claim = await this.watch.ask(
        (options) => this.#store.claim({ limit: batchSize, leaseMs, mode, onRetired, ...options }),
        {
          what: "claim rows of the outbox",
          timeoutMs: leaseMs,
          signal: this.#ending.signal,
          late: (claim) => this.#giveBackLate(claim),
        },
      );
      this.#lookout.looked(claim.rows.map(({ id }) => id), clock.elapsed());
      this.#lastFailure = undefined;
      this.#pauseMs = FIRST_PAUSE_MS;
      // Where there was something there may be more, whatever the size of the claim: others claim at the same time.
      if (claim.rows.length > 0) this.#carry({ ...claim, askedAtMs });
    } catch (error) {
      this.#restFromStore(error);
    }
  }

  /** What was asked for in vain, a database that hung takes all the same: it would wait for the end of a lease of nobody. */
  #giveBackLate({ token, rows }: OutboxClaim): void {
    if (rows.length === 0) return;
    const given = this.#store.giveBack?.(token, rows.map(({ id }) => id));
    given?.then(() => this.wake(), () => {/* the lease ends */});
  }

  #restFromStore(error: unknown): void {
    const { clock, random } = this.#context.environment;
    this.#isDue = true;
    this.#lastFailure = error;
    this.#storeRestMs = clock.elapsed() + this.#pauseMs * (0.75 + 0.5 * random());
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #carry(claim: DatedClaim): void {
    const { environment: { clock, work } } = this.#context;
    this.#isDue = true;
    this.#rowsInHand += claim.rows.length;
    work.begin();
    const batch = carryBatch(claim, {
      store: this.#store,
      clock,
      meter: this.meter,
      watch: this.watch,
      signal: this.#ending.signal,
      leaseMs: this.settings.leaseMs,
      settings: this.settings,
      courier: this.#courier,
      hindrance: () => this.#hindrance(),
      isLinked: () => this.#isLinked,
      marginMs: Math.min(this.#context.publishTimeoutMs, this.settings.leaseMs / 4),
    }).then((summary) => this.#ended(summary), (error) => this.meter.broken(error)).then(() => {
      this.#batches.delete(batch);
      this.#rowsInHand -= claim.rows.length;
      work.end();
      this.#bell.ring();
    });
    this.#batches.add(batch);
  }

  #hindrance(): string | undefined {
    if (this.#stopping.signal.aborted) return "the relay is closing";
    return this.#isLinked ? undefined : "the broker takes no publishes";
  }

  #ended({ published, failed, unanswered, reason = "", delaysMs }: BatchSummary): void {
    const nowMs = this.#context.environment.clock.elapsed();
    this.#published += published;
    this.#failed += failed;
    for (const delayMs of delaysMs) this.#agenda.add(nowMs + delayMs);
    // What was behind rows in hand can be claimed now.
    if (this.settings.mode === "in_order") this.#isDue = true;
    if (unanswered === 0) return;
    this.meter.givenBack(unanswered, reason);
    this.#isDue = true;
    this.#brokerRestMs = nowMs + Math.min(this.settings.pollIntervalMs, LONGEST_REST_MS);
  }
}
