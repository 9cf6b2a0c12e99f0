/**
 * A ledger of messages: what became of every publish by the sender's account, and what the handlers and the queues have.
 *
 * @module
 */
import { getEventListeners } from "node:events";
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

/** What the ledger comes to, once it is known which messages wait in queues. */
export interface Balance {
  /** Publishes, those of other programs too. */
  readonly sent: number;
  readonly confirmed: number;
  /** `ACEMQ_PUBLISH_UNKNOWN`: nobody can say whether the broker has them. */
  readonly unknown: number;
  /** Every other failure: the broker does not have them. */
  readonly declined: number;
  /** Different messages a handler has accepted. */
  readonly handled: number;
  /** Those of them that were accepted more than once. */
  readonly repeated: number;
  /** Different messages in queues that no handler has accepted. */
  readonly waiting: number;
  /** Unknown outcomes whose message did arrive. */
  readonly arrived: number;
  /** Confirmed, and neither handled nor waiting. */
  readonly lost: number;
  /** Declined, and there all the same. */
  readonly misreported: number;
  /** Publishes without an end. */
  readonly pending: number;
  /** Messages a consumer handed to its handler while that was still at work on them. */
  readonly doubledAtOnce: number;
}

const UNKNOWN = "ACEMQ_PUBLISH_UNKNOWN";

/** Keeps account of one test's messages. */
export class Ledger {
  readonly entries: Entry[] = [];
  /** Goes along with every publish, and with whatever else takes a signal: nobody may go on listening to it. */
  readonly signal: AbortSignal = new AbortController().signal;
  readonly #handled = new Map<string, number>();
  #doubled = 0;
  #pending = 0;

  /** Publishes that have not ended. */
  get pending(): number {
    return this.#pending;
  }

  /** Who listens to the signal. */
  get listeners(): number {
    return getEventListeners(this.signal, "abort").length;
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
      await publisher.send({ sent: id }, { signal: this.signal, ...options, messageId: id });
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

  /** Enters a message that another program has sent and the broker has confirmed. */
  enter(id: string): void {
    this.entries.push({ id, outcome: "confirmed", reason: "", tookMs: 0 });
  }

  /** The handler of one consumer, which enters what it has accepted. */
  handler(inner: Handler = () => {}): Handler {
    const running = new Map<string, number>();
    const count = (id: string, more: 1 | -1): number => {
      const runs = (running.get(id) ?? 0) + more;
      running.set(id, runs);
      return runs;
    };
    return async (message) => {
      const { id } = message.envelope;
      if (count(id, 1) > 1) this.#doubled++;
      try {
        const result = await inner(message);
        if ((result?.kind ?? "accept") === "accept") this.#handled.set(id, this.handled(id) + 1);
        return result;
      } finally {
        count(id, -1);
      }
    };
  }

  /** How often a message was accepted. */
  handled(id: string): number {
    return this.#handled.get(id) ?? 0;
  }

  /** Different messages that were accepted. */
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

  /** What it comes to, given the ids of the messages in queues. */
  balance(waiting: ReadonlySet<string>): Balance {
    const isThere = ({ id }: Entry): boolean => waiting.has(id) || this.#handled.has(id);
    const [confirmed, unknown] = [this.of("confirmed"), this.of(UNKNOWN)];
    const declined = this.entries.filter(({ outcome }) => outcome !== "confirmed" && outcome !== UNKNOWN);
    return {
      sent: this.entries.length + this.#pending,
      confirmed: confirmed.length,
      unknown: unknown.length,
      declined: declined.length,
      handled: this.#handled.size,
      repeated: [...this.#handled.values()].filter((times) => times > 1).length,
      waiting: [...waiting].filter((id) => !this.#handled.has(id)).length,
      arrived: unknown.filter(isThere).length,
      lost: confirmed.filter((entry) => !isThere(entry)).length,
      misreported: declined.filter(isThere).length,
      pending: this.#pending,
      doubledAtOnce: this.#doubled,
    };
  }
}
