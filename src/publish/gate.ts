/**
 * The one way to the broker: every publish of a connection passes here, its callers' and the library's own.
 *
 * Permits bound what may wait for a confirm, and come back on every path; a deadline bounds how long. On somebody's behalf it
 * counts the time in which the broker reads: it is held up while the broker has blocked the connection (contract core 2.4, Java).
 *
 * @module
 */

import { describeError } from "../errors.ts";
import { settledOrAborted } from "../internal/abort.ts";
import { AbortCalls } from "../internal/abort_calls.ts";
import type { Work } from "../internal/work.ts";
import type { Outbound } from "../message/outbound.ts";
import type { BrokerConnection, PublishReceipt } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import { Deadlines } from "./deadlines.ts";
import { Permits } from "./permits.ts";

/** The bounds of a connection's publishing. */
export interface GateOptions {
  /** Publishes that may wait for a confirm at once. */
  readonly maxOutstandingPublishes: number;
  /** How long a publish waits for the broker's answer, milliseconds. */
  readonly publishTimeoutMs: number;
  /** How long a publish waits for a permit, milliseconds. */
  readonly permitTimeoutMs: number;
  /** Whether application publishes wait for a confirm. */
  readonly confirms: boolean;
}

/** Messages on somebody's behalf go out here: always confirmed, and never behind an application's burst. */
export const ON_BEHALF_LANE = 0;

/** Lanes for applications: publishers are spread over them, each stays on one. */
const APPLICATION_LANES = 4;

/**
 * What waits in an outbox goes out here, as safely: a backlog holds up no copy, and a message the broker closes the channel over takes
 * nobody else's with it.
 */
export const OUTBOX_LANE: number = APPLICATION_LANES + 1;

const CLOSED: PublishReceipt = { outcome: "paused", reason: "the connection is closed" };

/** One connection's gate. */
export class PublishGate {
  /** How many publishes of one publisher can be out at once: more only wait here. */
  readonly window: number;
  readonly #broker: BrokerConnection;
  readonly #options: GateOptions;
  readonly #permits: Permits;
  readonly #answers: Deadlines;
  readonly #onBehalfAnswers: Deadlines;
  readonly #admissions: Deadlines;
  readonly #work: Work;
  readonly #aborts = new AbortCalls();
  readonly #idle = new Set<() => void>();
  #lastLane = 0;
  #isClosing = false;

  constructor(broker: BrokerConnection, { clock, work }: Pick<Environment, "clock" | "work">, options: GateOptions) {
    const { maxOutstandingPublishes: total, publishTimeoutMs, permitTimeoutMs } = options;
    const perLane = broker.limits.maxUnconfirmedPerLane ?? Infinity;
    this.window = Math.min(total, perLane);
    this.#broker = broker;
    this.#options = options;
    this.#work = work;
    this.#permits = new Permits({ total, perLane, lanes: APPLICATION_LANES + 2 });
    this.#answers = new Deadlines(clock, publishTimeoutMs);
    this.#onBehalfAnswers = new Deadlines(clock, publishTimeoutMs, () => this.#isBlocked);
    this.#admissions = new Deadlines(clock, permitTimeoutMs);
  }

  /** Publishes waiting for an answer. */
  get outstanding(): number {
    return this.#permits.taken;
  }

  /** Whether nothing will ever go out here again. */
  get isClosed(): boolean {
    return this.#isClosing || this.#broker.state.status === "closed";
  }

  /** The lane of a new publisher. */
  newLane(): number {
    this.#lastLane = this.#lastLane % APPLICATION_LANES + 1;
    return this.#lastLane;
  }

  /**
   * Publishes one message and says what became of it. Messages of one lane go out in the order of the calls.
   *
   * Rejects only with the reason of a signal that aborted before anything was written; a signal that aborts later ends the wait
   * as `unknown`.
   */
  publish(outbound: Outbound, lane: number, signal?: AbortSignal): Promise<PublishReceipt> {
    const declined = this.#isClosing ? CLOSED : this.#declined();
    if (declined !== undefined) return Promise.resolve(declined);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#permits.tryTake(lane)) return this.#write(outbound, lane, signal);
    return this.#publishWhenPermitted(outbound, lane, signal);
  }

  /** Declines what comes from now on, and resolves when nothing that came before waits for a permit or an answer any more. */
  async drain(budget: AbortSignal): Promise<void> {
    this.#isClosing = true;
    while (this.outstanding > 0 && !budget.aborted) {
      await settledOrAborted(new Promise<void>((resolve) => this.#idle.add(resolve)), budget);
    }
  }

  /** The broker takes publishes again: what waits for an answer on somebody's behalf has its whole time from now on. */
  unblocked(): void {
    this.#onBehalfAnswers.restart();
  }

  /** Stops the timers; a publish that is still out keeps its deadline. */
  close(): void {
    this.#answers.close();
    this.#onBehalfAnswers.close();
    this.#admissions.close();
  }

  #publishWhenPermitted(outbound: Outbound, lane: number, signal: AbortSignal | undefined): Promise<PublishReceipt> {
    return new Promise((resolve, reject) => {
      const waiter = {
        lane,
        // The write happens within the call that gave the permit back: nothing of this lane can come in between.
        enter: (): boolean => {
          stopWaiting();
          const declined = this.#declined();
          resolve(declined ?? this.#write(outbound, lane, signal));
          return declined === undefined;
        },
      };
      const stopWaiting = (): void => {
        this.#permits.leave(place);
        this.#admissions.clear(deadline);
        if (signal !== undefined) this.#aborts.remove(signal, onAbort);
        this.#work.end();
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal?.reason);
      };
      const deadline = this.#admissions.set(() => {
        stopWaiting();
        resolve({ outcome: "paused", reason: noPermit(this.outstanding, this.#options.permitTimeoutMs) });
      });
      if (signal !== undefined) this.#aborts.add(signal, onAbort);
      this.#work.begin();
      const place = this.#permits.wait(waiter);
    });
  }

  #write(outbound: Outbound, lane: number, signal: AbortSignal | undefined): Promise<PublishReceipt> {
    // A copy given up as unknown while the broker does not read is a message twice: its original goes back, and it is taken later.
    const answers = isOnBehalf(lane) ? this.#onBehalfAnswers : this.#answers;
    return new Promise((resolve) => {
      let settled = false;
      const finish = (receipt: PublishReceipt): void => {
        if (settled) return;
        settled = true;
        this.#work.end();
        answers.clear(deadline);
        if (signal !== undefined) this.#aborts.remove(signal, onAbort);
        this.#givePermit(lane);
        resolve(receipt);
      };
      const fail = (error: unknown): void =>
        finish({ outcome: "unknown", reason: `the broker adapter failed: ${describeError(error)}` });
      const onAbort = (): void => finish({ outcome: "unknown", reason: "the wait for a confirm was aborted" });
      const deadline = answers.set(() =>
        finish({ outcome: "unknown", reason: `no confirm came within ${this.#options.publishTimeoutMs} ms` })
      );
      this.#work.begin();
      if (signal !== undefined) this.#aborts.add(signal, onAbort);
      const confirm = isOnBehalf(lane) || this.#options.confirms;
      try {
        this.#broker.publish(outbound, { lane, confirm }).then(finish, fail);
      } catch (error) {
        // Not in this breath: giving the permit back from within would nest as deep as the queue is long.
        Promise.reject(error).catch(fail);
      }
    });
  }

  #givePermit(lane: number): void {
    this.#permits.give(lane);
    if (this.#idle.size === 0 || this.outstanding > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  get #isBlocked(): boolean {
    const { status, blockedReason } = this.#broker.state;
    return status === "open" && blockedReason !== undefined;
  }

  #declined(): PublishReceipt | undefined {
    const { status, blockedReason } = this.#broker.state;
    if (status === "closed") return CLOSED;
    if (status === "recovering") return { outcome: "paused", reason: "the connection is lost and being recovered" };
    if (blockedReason === undefined) return undefined;
    const why = blockedReason === "" ? "" : `: ${blockedReason}`;
    return { outcome: "paused", reason: `the broker has blocked this connection${why}` };
  }
}

function isOnBehalf(lane: number): boolean {
  return lane === ON_BEHALF_LANE || lane === OUTBOX_LANE;
}

/** What the family says when no permit comes free (contract core 2.5). */
function noPermit(outstanding: number, timeoutMs: number): string {
  return `${outstanding} publishes are already waiting for a confirm and none completed within ${timeoutMs} ms. ` +
    "The broker is not keeping up; publish more slowly rather than buffering more.";
}
