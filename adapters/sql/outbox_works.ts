/**
 * How the statements of one store are run: by its clock, wrapped once, and with a word to whoever wants to know that one failed.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { SqlResult, SqlSession } from "../../src/ports/sql_session.ts";
import { ClockWatch } from "./clock_watch.ts";
import type { SqlDialect } from "./dialect.ts";
import { compile } from "./fragment.ts";
import { guarded } from "./guarded.ts";
import type { Moment } from "./instants.ts";
import type { OutboxWork } from "./outbox_table.ts";

/** What statements are run with. */
export interface OutboxWorksContext {
  readonly dialect: SqlDialect;
  readonly clock: Clock;
  /** A statement has failed. */
  readonly failed: () => void;
}

/** Leases of other processes, and waits of rows that failed, are hardly longer. */
const LONGEST_OF_OTHERS_MS = 300_000;

/** See the module. */
export class OutboxWorks {
  readonly #context: OutboxWorksContext;
  readonly #watch: ClockWatch;
  #longestMs = LONGEST_OF_OTHERS_MS;

  constructor(context: OutboxWorksContext) {
    this.#context = context;
    this.#watch = new ClockWatch(context.clock, { leaseMs: LONGEST_OF_OTHERS_MS, retentionMs: 0 });
  }

  /** A lease that is asked for. */
  leases(leaseMs: number): void {
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
  }

  /** Statements on a session, about what lasts so long at most: that is no older for a clock that was set. Milliseconds. */
  on(session: SqlSession, lastsMs: number = this.#longestMs): OutboxWork {
    const { dialect, clock } = this.#context;
    const moment = (): Moment => ({ nowMs: Math.floor(clock.now()), leadMs: this.#watch.leadOf(lastsMs) });
    return {
      run: (what, fragment) => {
        const { text, bind } = compile(fragment, dialect.placeholder);
        return this.#ask(what, () => session.query(text, bind(moment())));
      },
      write: (what, { text, bind }, facts) =>
        this.#ask(what, () => session.query(text, bind({ ...facts, ...moment() }))),
      together: (work) => guarded("use the outbox", () => session.transaction((tx) => work(this.on(tx, lastsMs)))),
    };
  }

  async #ask(what: string, ask: () => Promise<SqlResult>): Promise<SqlResult> {
    try {
      return await guarded(what, ask);
    } catch (error) {
      this.#context.failed();
      throw error;
    }
  }
}
