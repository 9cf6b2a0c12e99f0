/**
 * One claim from the broker to the marks: the one place where a relay acts.
 *
 * @module
 */

import type { ClaimedRow, OutboxClaim } from "../../ports/outbox_store.ts";
import { type Chain, chainsOf } from "./chains.ts";
import type { Courier, Delivered } from "./courier.ts";
import { type Fate, fateOf, fateOfUnreadable, givenBack } from "./fate.ts";
import { Marks, type MarksContext } from "./marks.ts";
import type { RelaySettings } from "./relay_options.ts";

/** What a batch is carried with. */
export interface BatchContext extends MarksContext {
  readonly settings: RelaySettings;
  readonly courier: Courier;
  /** Why nothing can be begun; undefined while something can. */
  readonly hindrance: () => string | undefined;
  /** Whether there is a link to the broker. */
  readonly isLinked: () => boolean;
  /** No row is begun so shortly before its lease ends. Milliseconds. */
  readonly marginMs: number;
}

/** A claim, and when it was asked for: the lease began no earlier. */
export interface DatedClaim extends OutboxClaim {
  readonly askedAtMs: number;
}

/** What became of the batch. */
export interface BatchSummary {
  readonly published: number;
  readonly failed: number;
  /** Rows that went back since the broker gave no answer for them. */
  readonly unanswered: number;
  /** Why the first of them did. */
  readonly reason: string | undefined;
  /** How long those wait that are tried again. Milliseconds. */
  readonly delaysMs: ReadonlySet<number>;
}

const OUT_OF_TURN = { is: "given_back", reason: "an earlier row of its key is not published", delayMs: 0 } as const;

/** Publishes the rows of a claim, and marks what became of them. Every row is marked; what cannot be is reported. */
export async function carryBatch(claim: DatedClaim, context: BatchContext): Promise<BatchSummary> {
  const batch = new Batch(claim, context);
  await Promise.all(chainsOf(claim.rows, context.settings.mode).map((chain) => batch.carry(chain)));
  return await batch.end();
}

class Batch {
  readonly #claim: DatedClaim;
  readonly #context: BatchContext;
  readonly #marks: Marks;
  readonly #leaseEndMs: number;
  readonly #delaysMs = new Set<number>();
  #published = 0;
  #failed = 0;
  #unanswered = 0;
  #reason: string | undefined;

  constructor(claim: DatedClaim, context: BatchContext) {
    const { token, rows, askedAtMs } = claim;
    this.#claim = claim;
    this.#context = context;
    this.#leaseEndMs = askedAtMs + context.settings.leaseMs;
    this.#marks = new Marks({ token, size: rows.length, leaseEndMs: this.#leaseEndMs }, context);
  }

  async carry(chain: Chain): Promise<void> {
    let isBroken = false;
    for (const row of chain) {
      const fate: Fate = isBroken ? OUT_OF_TURN : await this.#send(row);
      isBroken ||= fate.is !== "published";
      this.#count(row, fate);
      this.#marks.add(row.id, fate);
    }
  }

  async end(): Promise<BatchSummary> {
    await this.#marks.written();
    this.#context.courier.forget(this.#claim.rows);
    const [published, failed, unanswered] = [this.#published, this.#failed, this.#unanswered];
    return { published, failed, unanswered, reason: this.#reason, delaysMs: this.#delaysMs };
  }

  async #send(row: ClaimedRow): Promise<Fate> {
    const { courier, settings, isLinked } = this.#context;
    if ("unreadable" in row) return fateOfUnreadable(row.unreadable, settings.maxAttempts);
    const delivered = await courier.deliver(row, () => this.#hindrance() === undefined);
    if (delivered === undefined) return givenBack(this.#hindrance() ?? "it was not its turn");
    const { pollIntervalMs } = settings;
    const fate = fateOf(row, delivered.answer, { pollIntervalMs, tookMs: delivered.tookMs, isLinked: isLinked() });
    if (fate.is === "given_back") this.#noteUnanswered(delivered);
    return fate;
  }

  /** What another relay may have in a moment is not begun: it could overtake what that one publishes. */
  #hindrance(): string | undefined {
    const { clock, marginMs, hindrance } = this.#context;
    return hindrance() ?? (clock.elapsed() < this.#leaseEndMs - marginMs ? undefined : "its lease is about to end");
  }

  #noteUnanswered({ answer }: Delivered): void {
    this.#unanswered++;
    if (answer.status !== "routed") this.#reason ??= answer.reason;
  }

  #count(row: ClaimedRow, fate: Fate): void {
    const { clock, meter } = this.#context;
    if (fate.is === "published") this.#published++;
    if (fate.is === "failed") this.#failed++;
    if (fate.is === "failed") this.#delaysMs.add(fate.retryDelayMs);
    if (fate.is === "given_back" && fate.delayMs > 0) this.#delaysMs.add(fate.delayMs);
    meter.ended(row, fate, row.ageMs + clock.elapsed() - this.#claim.askedAtMs);
  }
}
