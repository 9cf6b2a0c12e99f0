/**
 * A ledger of messages: what became of every publish by the sender's account, and what the handlers and the queues have.
 *
 * @module
 */
import assert from "node:assert/strict";
import { randomUuid } from "../../src/clock.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import { type AceMqErrorCode, ConnectionError, PublishError } from "../../src/errors.ts";
import type { Publisher } from "../../src/publish/publisher.ts";
import type { SendOptions } from "../../src/publish/send_options.ts";

/** How a publish ended. */
export type Outcome = "confirmed" | AceMqErrorCode;

/** One publish that has ended. */
export interface Entry {
  readonly id: string;
  readonly outcome: Outcome;
  /** The broker's words or ours; empty for what was confirmed. */
  readonly reason: string;
  /** From the call to its end, milliseconds. */
  readonly tookMs: number;
}

/** Keeps account of one test's messages. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly #handled = new Map<string, number>();
  #pending = 0;

  /** Publishes that have not ended. */
  get pending(): number {
    return this.#pending;
  }

  /** Sends a message and enters how it ended; rejects only with what says nothing of a publish. */
  async send(publisher: Publisher, options: SendOptions = {}): Promise<Entry> {
    const id = options.messageId ?? randomUuid();
    const started = performance.now();
    this.#pending++;
    const end = (outcome: Outcome, reason: string): Entry => {
      const entry = { id, outcome, reason, tookMs: performance.now() - started };
      this.entries.push(entry);
      return entry;
    };
    try {
      await publisher.send({ sent: id }, { ...options, messageId: id });
      return end("confirmed", "");
    } catch (error) {
      const said = error instanceof ConnectionError ? error.cause : error;
      if (!(error instanceof ConnectionError || error instanceof PublishError) || !(said instanceof PublishError)) {
        throw error;
      }
      return end(error.code, said.reason);
    } finally {
      this.#pending--;
    }
  }

  /** Sends `count` messages at once. */
  sendMany(publisher: Publisher, count: number, options: SendOptions = {}): Promise<Entry[]> {
    return Promise.all(Array.from({ length: count }, () => this.send(publisher, options)));
  }

  /** A handler that enters what it has handled. */
  handler(inner: Handler = () => {}): Handler {
    return async (message) => {
      const result = await inner(message);
      this.#handled.set(message.envelope.id, this.handled(message.envelope.id) + 1);
      return result;
    };
  }

  /** How often a message was handled to the end. */
  handled(id: string): number {
    return this.#handled.get(id) ?? 0;
  }

  /** Different messages that were handled. */
  get handledMessages(): number {
    return this.#handled.size;
  }

  /** The publishes that ended so. */
  of(outcome: Outcome): Entry[] {
    return this.entries.filter((entry) => entry.outcome === outcome);
  }

  /** How many publishes ended how. */
  get counts(): Readonly<Partial<Record<Outcome, number>>> {
    const counts: Partial<Record<Outcome, number>> = {};
    for (const { outcome } of this.entries) counts[outcome] = (counts[outcome] ?? 0) + 1;
    return counts;
  }

  /**
   * Every publish has ended; every confirmed message is handled or waits; what was declined before it was written is nowhere. Of an
   * unknown outcome both are right.
   */
  assertBalanced(waiting: Iterable<string>): void {
    assert.equal(this.#pending, 0, "Every publish has ended");
    const there = new Set([...waiting, ...this.#handled.keys()]);
    const lost = this.of("confirmed").filter(({ id }) => !there.has(id));
    assert.deepEqual(lost, [], "No confirmed message is lost");
    const codes = ["ACEMQ_PUBLISH_PAUSED", "ACEMQ_PUBLISH_REFUSED", "ACEMQ_CONNECTION_CLOSED"] as const;
    const declined = codes.flatMap((code) => this.of(code));
    assert.deepEqual(declined.filter(({ id }) => there.has(id)), [], "What was declined was not sent");
  }
}
