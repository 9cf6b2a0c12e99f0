/**
 * How a subscription comes back after a loss: one way back at a time, which goes on until the subscription stands or ends.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { delayBefore } from "./backoff.ts";
import { describeCallError, type Link } from "./link.ts";
import type { Backoff } from "./options.ts";
import { consume, type ConsumeCall, limitPrefetch } from "./wire/calls.ts";

/** What coming back takes of the connection. */
export interface WayBackHost {
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The open link, if there is one. */
  readonly link: Link | undefined;
  /** Declares what is to be consumed from again, where it may be gone. Never rejects. */
  readonly redeclare: (link: Link) => Promise<void>;
  /** Does something with a link that may go down; without one where the queue is only for the connection's own. */
  readonly aside: (signal: AbortSignal, act: (link: Link | undefined) => Promise<void>) => Promise<void>;
}

/** Who is to come back. */
export interface Returning {
  /** What it asks the broker for. */
  readonly call: ConsumeCall;
  /** Starts consuming on a link; rejects when the broker refuses. */
  readonly start: (link: Link) => Promise<void>;
  /** It does not consume just now, and why. */
  readonly miss: (reason: string) => void;
}

/** The way back of one subscription. */
export class WayBack {
  readonly #host: WayBackHost;
  readonly #returning: Returning;
  /** Why the broker closed a link on which it was asked to consume. */
  #fault: string | undefined;
  /** Ends the attempts that are under way. */
  #attempts: AbortController | undefined;

  constructor(host: WayBackHost, returning: Returning) {
    this.#host = host;
    this.#returning = returning;
  }

  /** Tries a new link; resolves when the subscription stands, or goes on trying by itself. */
  async take(link: Link): Promise<void> {
    const signal = this.#begin();
    // Whoever has taken a link down is not let onto the next one before it has shown that it does not.
    const failure = this.#fault ?? await this.#attempt(link, signal);
    if (failure !== undefined) this.#goOn(failure, signal);
  }

  /** Begins after a wait, on the link there is then. */
  takeLater(reason: string): void {
    this.#goOn(reason, this.#begin());
  }

  /** The subscription stands: whatever took a link down is over. */
  arrive(): void {
    this.#fault = undefined;
  }

  /** Nobody is to come back any more. */
  end(): void {
    this.#attempts?.abort();
  }

  #begin(): AbortSignal {
    this.end();
    this.#attempts = new AbortController();
    return this.#attempts.signal;
  }

  #goOn(reason: string, signal: AbortSignal): void {
    this.#returning.miss(reason);
    this.#insist(signal).catch(() => {/* ended, or on another way back */});
  }

  async #insist(signal: AbortSignal): Promise<void> {
    const { clock, backoff } = this.#host;
    for (let attempt = 1;; attempt++) {
      await clock.delay(delayBefore(attempt, backoff), { signal });
      const { link } = this.#host;
      // The next link brings it back.
      if (link === undefined) return;
      await this.#host.redeclare(link);
      signal.throwIfAborted();
      if (await this.#attempt(link, signal) === undefined) return;
    }
  }

  /** Why it does not stand; undefined when it does, or when nobody is to try again on this way back. */
  async #attempt(link: Link, signal: AbortSignal): Promise<string | undefined> {
    try {
      if (this.#fault === undefined) await this.#returning.start(link);
      else await this.#startCautiously(link, signal);
    } catch (error) {
      this.#fault = link.fault ?? this.#fault;
      return signal.aborted || !link.isUsable ? undefined : describeCallError(error);
    }
    return undefined;
  }

  /** Consumes elsewhere first, for as long as it takes to start here: an auto-delete queue would go with its last consumer. */
  #startCautiously(link: Link, signal: AbortSignal): Promise<void> {
    return this.#host.aside(signal, async (other) => {
      if (other !== undefined) {
        const channel = await other.openChannel();
        await other.call(channel, limitPrefetch(1));
        await other.call(channel, consume(this.#returning.call));
      }
      await this.#returning.start(link);
    });
  }
}
