/**
 * The relay: from the rows of an outbox to the broker.
 *
 * @module
 */

import { type DrainOptions, type DrainReport, type OpenLoop, withBudget } from "../../consume/drain.ts";
import { settledOrAborted, whenAborted } from "../../internal/abort.ts";
import type { RelayStore } from "../../ports/outbox_store.ts";
import { doChores } from "./chores.ts";
import {
  type RelayOptions,
  type RelayReport,
  type RelaySettings,
  relaySettings,
  type RunOnceOptions,
  runOnceSettings,
} from "./relay_options.ts";
import { RelayRun, type RunContext } from "./relay_run.ts";

/** A connection's part in relaying. */
export interface RelayContext extends RunContext {
  /** What a close of the connection waits for. */
  readonly loops: Set<OpenLoop>;
  /** What health looks at. */
  readonly runs: Set<RelayRun>;
  /** How long a close may take, milliseconds. */
  readonly drainTimeoutMs: number;
  /** Throws once the connection is closing. */
  readonly assertOpen: () => void;
}

/** A relay between one store and one connection. Made by `mq.relay(…)`; inert until it is started. */
export class Relay {
  readonly #store: RelayStore;
  readonly #context: RelayContext;
  readonly #settings: RelaySettings;
  readonly #runs = new Set<RelayRun>();

  /** Use `mq.relay(…)`. */
  constructor(store: RelayStore, context: RelayContext, options: RelayOptions) {
    this.#settings = relaySettings(store, options);
    this.#store = store;
    this.#context = context;
  }

  /**
   * Relays until it is closed. Any number may run over one table, in any number of processes: each row is in one relay's hands at a
   * time.
   *
   * @throws {LayoutError} the table is not there, or not of a layout the store knows
   * @throws {StoreError} the database does not answer now; one that goes away later is waited for
   * @throws {ConnectionError} the connection is closed
   */
  async start(): Promise<RunningRelay> {
    const run = await this.#newRun();
    const chores = doChores(run, this.#store, this.#context.environment.clock);
    const running = this.#entered(run, Promise.all([run.run("stopped"), chores]));
    return new RunningRelay(run, running, this.#context);
  }

  /**
   * Publishes what there is and returns, for cron and for places where a process lives as long as a call. What waits for its next
   * attempt is left for the next run.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { connect, topology } from "@acemq/amqp/core";
   * import { memoryBroker, memoryOutboxStore } from "@acemq/amqp/memory";
   *
   * const mq = await connect(memoryBroker());
   * await mq.declare(topology().queue("orders.new"));
   * const outbox = memoryOutboxStore();
   * const placed = mq.publisher("", "orders.new");
   * await outbox.transaction((tx) => outbox.add(tx, placed.prepare({ id: "A-1" })));
   *
   * const report = await mq.relay(outbox).runOnce({ budgetMs: 20_000 });
   * assert.deepEqual(report, { published: 1, failed: 0, remaining: 0 });
   * await mq.close();
   * ```
   *
   * @returns what was done by the end of the budget, or until the signal aborted
   * @throws {LayoutError} the table is not there, or not of a layout the store knows
   * @throws {StoreError} the database did not answer when it was asked last
   * @throws {ConnectionError} the connection is closed
   */
  async runOnce(options: RunOnceOptions = {}): Promise<RelayReport> {
    const { budgetMs, signal } = runOnceSettings(options);
    const { environment: { clock }, publishTimeoutMs } = this.#context;
    const over = new AbortController();
    const run = await this.#newRun(budgetMs);
    const stop = (): void => {
      run.stop();
      clock.delay(publishTimeoutMs, { signal: over.signal }).then(() => run.end(), () => {});
    };
    clock.delay(budgetMs, { signal: over.signal }).then(stop, () => {});
    signal?.addEventListener("abort", stop, { once: true, signal: over.signal });
    if (signal?.aborted) stop();
    try {
      await this.#entered(run, run.run("empty"));
    } finally {
      over.abort();
    }
    if (run.lastFailure !== undefined) throw run.lastFailure;
    const stats = await run.watch.stats(new AbortController().signal);
    return { ...run.counts, remaining: stats === undefined ? undefined : stats.pending - stats.retired };
  }

  /** For whoever knows that something was committed: every run of this relay looks at once. */
  wake(): void {
    for (const run of this.#runs) run.wake();
  }

  async #newRun(budgetMs = Infinity): Promise<RelayRun> {
    const { mode, leaseMs } = this.#settings;
    this.#context.assertOpen();
    const run = new RelayRun(this.#store, this.#context, this.#settings);
    const asked = {
      what: "look at the outbox",
      timeoutMs: Math.min(Math.max(budgetMs, 1_000), leaseMs),
      signal: run.ending,
    };
    await run.watch.ask((options) => this.#store.check?.({ ...options, mode }), asked);
    this.#context.assertOpen();
    return run;
  }

  /** Enters a run where it has to be known, until it is over. */
  async #entered(run: RelayRun, over: Promise<unknown>): Promise<void> {
    const { loops } = this.#context;
    const open: OpenLoop = { drain: (budget) => drainRun(run, over, budget) };
    loops.add(open);
    this.#runs.add(run);
    try {
      await over;
    } finally {
      loops.delete(open);
      this.#runs.delete(run);
    }
  }
}

/** A relay that runs. `close()` drains, then ends, and twice is once. */
export class RunningRelay {
  readonly #run: RelayRun;
  readonly #running: Promise<void>;
  readonly #context: RelayContext;

  /** Use `relay.start()`. */
  constructor(run: RelayRun, running: Promise<void>, context: RelayContext) {
    this.#run = run;
    this.#running = running;
    this.#context = context;
    context.runs.add(run);
    void running.finally(() => context.runs.delete(run));
  }

  /** For whoever knows that something was committed: looks at once. */
  wake(): void {
    this.#run.wake();
  }

  /**
   * Claims no more, gives back what is not with the broker yet, and waits for the answers to what is, and for the marks. What is not
   * marked when the budget ends goes out again when its lease ends.
   *
   * @returns whether everything was marked in time, and how many rows were not
   * @throws the signal's reason, when it aborts first
   */
  close(options: DrainOptions = {}): Promise<DrainReport> {
    const { environment: { clock }, drainTimeoutMs: budgetMs } = this.#context;
    return withBudget(options, { clock, budgetMs }, (budget) => drainRun(this.#run, this.#running, budget));
  }

  /** The same as {@linkcode RunningRelay.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function drainRun(run: RelayRun, running: Promise<unknown>, budget: AbortSignal): Promise<DrainReport> {
  run.stop();
  void whenAborted(budget).then(() => run.end());
  await settledOrAborted(running, budget);
  return { drained: run.rowsInHand === 0, stranded: run.rowsInHand };
}
