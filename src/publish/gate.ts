/**
 * The one way to the broker: every publish of a connection passes here, its callers' and the library's own.
 *
 * Permits bound what may wait for a confirm, and come back on every path; a deadline bounds how long.
 *
 * @module
 */

import { settledOrAborted } from "../internal/abort.ts";
import { Limiter } from "../internal/limiter.ts";
import type { Outbound } from "../message/outbound.ts";
import type { BrokerConnection, PublishReceipt } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import { Deadlines } from "./deadlines.ts";

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

/** What the family says when no permit comes free (contract core 2.5). */
function noPermit(options: GateOptions): string {
  return `${options.maxOutstandingPublishes} publishes are already waiting for a confirm and none completed within ` +
    `${options.permitTimeoutMs} ms. The broker is not keeping up; publish more slowly rather than buffering more.`;
}

/** One connection's gate. */
export class PublishGate {
  readonly #broker: BrokerConnection;
  readonly #clock: Environment["clock"];
  readonly #options: GateOptions;
  readonly #permits: Limiter;
  readonly #lanes: readonly Limiter[];
  readonly #answers: Deadlines;
  readonly #idle = new Set<() => void>();
  #lastLane = 0;

  constructor(broker: BrokerConnection, { clock }: Pick<Environment, "clock">, options: GateOptions) {
    this.#broker = broker;
    this.#clock = clock;
    this.#options = options;
    this.#permits = new Limiter(options.maxOutstandingPublishes);
    const perLane = broker.limits.maxUnconfirmedPerLane ?? Infinity;
    this.#lanes = Array.from({ length: APPLICATION_LANES + 1 }, () => new Limiter(perLane));
    this.#answers = new Deadlines(clock, options.publishTimeoutMs);
  }

  /** Publishes waiting for an answer. */
  get outstanding(): number {
    return this.#permits.taken;
  }

  /** The lane of a new publisher. */
  newLane(): number {
    this.#lastLane = this.#lastLane % APPLICATION_LANES + 1;
    return this.#lastLane;
  }

  /**
   * Publishes one message and says what became of it. Rejects only with the reason of a signal that aborted before anything was
   * written; a signal that aborts later ends the wait as `unknown`.
   */
  publish(outbound: Outbound, lane: number, signal?: AbortSignal): Promise<PublishReceipt> {
    const declined = this.#declined();
    if (declined !== undefined) return Promise.resolve(declined);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const laneLimiter = this.#laneLimiter(lane);
    if (laneLimiter.tryTake()) {
      if (this.#permits.tryTake()) return this.#write(outbound, lane, signal);
      laneLimiter.give();
    }
    return this.#publishWhenPermitted(outbound, lane, signal);
  }

  /** Resolves when nothing waits for an answer any more. */
  async whenIdle(signal: AbortSignal): Promise<void> {
    while (this.outstanding > 0 && !signal.aborted) {
      await settledOrAborted(new Promise<void>((resolve) => this.#idle.add(resolve)), signal);
    }
  }

  /** Ends every wait for an answer; what is still out is settled by the broker connection. */
  close(): void {
    this.#answers.close();
  }

  async #publishWhenPermitted(
    outbound: Outbound,
    lane: number,
    signal: AbortSignal | undefined,
  ): Promise<PublishReceipt> {
    if (!await this.#takePermits(lane, signal)) return { outcome: "paused", reason: noPermit(this.#options) };
    const declined = this.#declined();
    if (declined === undefined) return await this.#write(outbound, lane, signal);
    this.#givePermits(lane);
    return declined;
  }

  async #takePermits(lane: number, signal: AbortSignal | undefined): Promise<boolean> {
    const timeout = new AbortController();
    const timer = new AbortController();
    const expiry = this.#clock.delay(this.#options.permitTimeoutMs, { signal: timer.signal })
      .then(() => timeout.abort(timeout), () => {});
    const either = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
    const laneLimiter = this.#laneLimiter(lane);
    try {
      await laneLimiter.take(either);
      await this.#permits.take(either).catch((reason) => {
        laneLimiter.give();
        throw reason;
      });
      return true;
    } catch (reason) {
      if (reason === timeout) return false;
      throw reason;
    } finally {
      timer.abort();
      await expiry;
    }
  }

  #givePermits(lane: number): void {
    this.#laneLimiter(lane).give();
    this.#permits.give();
    if (this.#idle.size === 0 || this.outstanding > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  #write(outbound: Outbound, lane: number, signal: AbortSignal | undefined): Promise<PublishReceipt> {
    return new Promise((resolve) => {
      let settled = false;
      const finish = (receipt: PublishReceipt): void => {
        if (settled) return;
        settled = true;
        this.#answers.clear(deadline);
        signal?.removeEventListener("abort", onAbort);
        this.#givePermits(lane);
        resolve(receipt);
      };
      const onAbort = (): void => finish({ outcome: "unknown", reason: "the wait for a confirm was aborted" });
      const deadline = this.#answers.set(() =>
        finish({ outcome: "unknown", reason: `no confirm came within ${this.#options.publishTimeoutMs} ms` })
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      const confirm = lane === ON_BEHALF_LANE || this.#options.confirms;
      this.#broker.publish(outbound, { lane, confirm }).then(
        finish,
        (error) => finish({ outcome: "unknown", reason: `the broker adapter failed: ${String(error)}` }),
      );
    });
  }

  #declined(): PublishReceipt | undefined {
    const { status, blockedReason } = this.#broker.state;
    if (status === "closed") return { outcome: "paused", reason: "the connection is closed" };
    if (status === "recovering") return { outcome: "paused", reason: "the connection is lost and being recovered" };
    if (blockedReason === undefined) return undefined;
    return { outcome: "paused", reason: `the broker has blocked this connection: ${blockedReason}` };
  }

  #laneLimiter(lane: number): Limiter {
    const limiter = this.#lanes[lane];
    if (limiter === undefined) {
      throw new RangeError(`Cannot publish on lane ${lane}: lanes are 0 to ${APPLICATION_LANES}`);
    }
    return limiter;
  }
}
