/**
 * Keeps a link open: when one breaks it dials the next, for as long as it takes.
 *
 * @module
 */

import { ConnectionError, describeError } from "../../src/errors.ts";
import type { BrokerEvent, BrokerOpenOptions, BrokerState } from "../../src/ports/broker.ts";
import { delayBefore } from "./backoff.ts";
import { openLink } from "./dial.ts";
import type { Link } from "./link.ts";
import type { ResolvedOptions } from "./options.ts";

/** What has to happen on a new link before it counts as the old one come back. */
export interface Restoration {
  /** Before anything else may use the link. */
  readonly prepare: (link: Link) => Promise<void>;
  /** When publishing works again, before the recovery is reported. */
  readonly resume: (link: Link) => Promise<void>;
}

/** The link of a connection, and its successors. */
export class LinkKeeper {
  readonly #options: ResolvedOptions;
  readonly #open: BrokerOpenOptions;
  readonly #restoration: Restoration;
  readonly #closing = new AbortController();
  /** The newest one, alive or not. */
  #newest: Link | undefined;
  #isReady = false;
  #blockedReason: string | undefined;
  /** What the newest link died of. */
  #downReason = "";
  #isRecovering = false;
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedOptions, open: BrokerOpenOptions, restoration: Restoration) {
    this.#options = options;
    this.#open = open;
    this.#restoration = restoration;
  }

  /** The link, while there is one that works. */
  get link(): Link | undefined {
    return this.#isReady && this.#newest?.isUsable === true ? this.#newest : undefined;
  }

  get state(): BrokerState {
    if (this.#closed !== undefined) return { status: "closed" };
    return { status: this.link === undefined ? "recovering" : "open", blockedReason: this.#blockedReason };
  }

  /** The link; throws a `ConnectionError` when there is none. */
  require(): Link {
    const { link } = this;
    if (link !== undefined && this.#closed === undefined) return link;
    throw this.#closed === undefined
      ? new ConnectionError("ACEMQ_CONNECTION_LOST", "Cannot reach the broker: the connection is lost and not back yet")
      : new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot reach the broker: the connection is closed");
  }

  /** Dials for the first time, once. */
  async open(): Promise<Link> {
    const link = this.#newest = await this.#dial(this.#open.signal ?? this.#closing.signal);
    this.#isReady = link.isUsable;
    return link;
  }

  report(event: BrokerEvent): void {
    this.#open.onEvent(event);
  }

  /** Ends the link, and every attempt at another. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#closing.abort(
      new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot reach the broker: the connection is closed"),
    );
    await this.#newest?.close();
  }

  /** Dials a link beside the one that is kept; nobody is told of its end. */
  dialAside(signal: AbortSignal): Promise<Link> {
    const { name, clock } = this.#open;
    return openLink(this.#options, { name: `${name} (trial)`, clock, signal, onDown: () => {}, onBlocked: () => {} });
  }

  #dial(signal: AbortSignal): Promise<Link> {
    const { name, clock } = this.#open;
    return openLink(this.#options, {
      name,
      clock,
      signal,
      onDown: (reason) => this.#down(reason),
      onBlocked: (reason) => this.#blocked(reason),
    });
  }

  #blocked(reason: string | undefined): void {
    this.#blockedReason = reason;
    this.report(reason === undefined ? { type: "unblocked" } : { type: "blocked", reason });
  }

  #down(reason: string): void {
    this.#downReason = reason;
    this.#blockedReason = undefined;
    if (this.#isRecovering || this.#closing.signal.aborted) return;
    this.#isRecovering = true;
    this.#isReady = false;
    this.report({ type: "lost", reason });
    this.#recover().catch(() => {/* closed meanwhile */});
  }

  async #recover(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 1;; attempt++) {
      const delayMs = delayBefore(attempt, this.#options.backoff);
      this.report({ type: "retrying", attempt, delayMs, reason: this.#downReason });
      await this.#open.clock.delay(delayMs, { signal });
      await this.#restore();
      this.#isReady = this.link !== undefined;
      // Looked at and told in one breath: a link that breaks between the two would not be missed by anybody.
      if (!this.#isReady) continue;
      this.#isRecovering = false;
      this.report({ type: "recovered", attempts: attempt });
      return;
    }
  }

  /** One attempt. */
  async #restore(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const link = this.#newest = await this.#dial(signal);
      if (signal.aborted) await link.close();
      await this.#restoration.prepare(link);
      this.#isReady = true;
      if (link.isUsable) await this.#restoration.resume(link);
    } catch (error) {
      signal.throwIfAborted();
      this.#downReason = describeError(error);
    }
    signal.throwIfAborted();
  }
}
