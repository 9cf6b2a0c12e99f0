/**
 * Telling other processes of rows that were added here, once they are there.
 *
 * Nothing of it is in the caller's transaction: PostgreSQL has transactions that notify commit one after the other.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { Bell } from "../../src/internal/bell.ts";
import { Lookout } from "../../src/internal/lookout.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { tellWhatIsThere } from "./outbox_channel.ts";

/** What a notifier works with. */
export interface NotifierContext {
  readonly session: SqlSession;
  readonly table: string;
  readonly clock: Clock;
}

/** However much is added, others are told no more often. */
const GAP_MS = 20;
/** What a relay of this process takes by then nobody is told of. */
const HEAD_START_MS = 100;

/**
 * Looks for what was added, at short growing intervals until it is there or a second has passed, and tells of it in the same statement.
 * What it cannot tell is found by polling: it never throws.
 */
export class OutboxNotifier {
  readonly #context: NotifierContext;
  readonly #lookout = new Lookout();
  readonly #bell: Bell;
  #isRunning = false;
  #headStartMs = 0;
  #notBeforeMs = -Infinity;

  constructor(context: NotifierContext) {
    this.#context = context;
    this.#bell = new Bell(context.clock);
  }

  /** Rows were added that may not be committed yet; `isLookedFor`: a relay of this process looks for them. */
  added(ids: readonly string[], { isLookedFor }: { readonly isLookedFor: boolean }): void {
    const nowMs = this.#context.clock.elapsed();
    this.#headStartMs = isLookedFor ? HEAD_START_MS : 0;
    this.#lookout.added(ids, nowMs);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#notBeforeMs = Math.max(this.#notBeforeMs, nowMs + this.#headStartMs);
    void this.#run();
  }

  /** Rows were claimed here. */
  taken(ids: readonly string[]): void {
    this.#lookout.forget(ids);
    if (this.#lookout.nextMs === Infinity) this.#bell.ring();
  }

  async #run(): Promise<void> {
    const { clock } = this.#context;
    while (this.#lookout.nextMs < Infinity) {
      const waitMs = Math.max(this.#lookout.nextMs, this.#notBeforeMs) - clock.elapsed();
      if (waitMs > 0) await this.#bell.wait(waitMs);
      else await this.#look();
    }
    this.#isRunning = false;
  }

  async #look(): Promise<void> {
    const { session, table, clock } = this.#context;
    const { text, params } = tellWhatIsThere(table, [...this.#lookout.awaited]);
    const rows = await session.query(text, params).then(({ rows }) => rows, () => []);
    const nowMs = clock.elapsed();
    this.#lookout.looked(rows.map(({ id }) => String(id)), nowMs);
    this.#notBeforeMs = nowMs + Math.max(this.#headStartMs, rows.length > 0 ? GAP_MS : 0);
  }
}
