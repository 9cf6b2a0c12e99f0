/**
 * Hearing of rows that other processes add, and knowing whether anything is heard.
 *
 * @module
 */

import type { Clock, NewId, Random } from "../../src/clock.ts";
import { describeError, StoreError } from "../../src/errors.ts";
import { orAborted } from "../../src/internal/abort.ts";
import { Bell } from "../../src/internal/bell.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";
import type { OutboxNewsHooks } from "../../src/ports/outbox_store.ts";
import type { SqlRow, SqlSession } from "../../src/ports/sql_session.ts";
import type { OpenLine } from "./notifications.ts";
import { askChannel, type Question, sendProbe } from "./outbox_channel.ts";
import { ProbedLine } from "./probed_line.ts";

/** What listening works with. */
export interface ListenContext {
  /** What questions are asked on, and what probes are sent on: never the connection that listens. */
  readonly session: SqlSession;
  readonly table: string;
  readonly open: OpenLine;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
}

/** How long the database may take to answer, and what was notified to come back. */
const PATIENCE_MS = 5_000;
/** How often it is asked whether anything is heard: a line that is half open tells nothing. */
const PROBE_EVERY_MS = 60_000;
/** Between attempts. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 60_000;

const NO_ANSWER = `Cannot listen: the database did not answer within ${PATIENCE_MS} ms`;
const NOT_OPEN = `Cannot listen: no connection for it was there within ${PATIENCE_MS} ms`;
const SWALLOWED =
  `Cannot hear what is notified: nothing came back within ${PATIENCE_MS} ms, as it is with a pooler in transaction mode, which ` +
  "swallows LISTEN; give 'listenOn' a handle that goes past it";

/**
 * Listens until the function that is given is called; resolves once it is known whether anything is heard. A line that is lost is opened
 * again, after pauses that grow; one the driver opens again by itself is left to it.
 */
export async function listenToOutbox(
  context: ListenContext,
  hooks: OutboxNewsHooks,
  { signal }: StoreCallOptions = {},
): Promise<() => Promise<void>> {
  signal?.throwIfAborted();
  const listener = new OutboxListener(context, hooks);
  const running = listener.run();
  const stop = async (): Promise<void> => {
    listener.stop();
    await running;
  };
  try {
    await orAborted(listener.decided, signal);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

class OutboxListener {
  /** Resolves once it is known whether anything is heard. */
  readonly decided: Promise<void>;
  readonly #context: ListenContext;
  readonly #hooks: OutboxNewsHooks;
  readonly #over = new AbortController();
  readonly #bell: Bell;
  #decide: () => void = () => {};
  #isHearing: boolean | undefined;
  #line: ProbedLine | undefined;

  constructor(context: ListenContext, hooks: OutboxNewsHooks) {
    this.#context = context;
    this.#hooks = hooks;
    this.#bell = new Bell(context.clock);
    this.decided = new Promise((resolve) => this.#decide = resolve);
  }

  stop(): void {
    this.#over.abort(new StoreError("Nobody listens any more"));
    this.#bell.ring();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { random } = this.#context;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#over.signal.aborted;) {
      try {
        await this.#attend();
        this.#tell({ hearing: true });
        pauseMs = FIRST_PAUSE_MS;
        await this.#bell.wait(PROBE_EVERY_MS);
      } catch (error) {
        this.#tell({ hearing: false, reason: error instanceof StoreError ? error.message : describeError(error) });
        if (this.#line?.isKeptUp !== true) await this.#close();
        await this.#bell.wait(pauseMs * (0.75 + 0.5 * random()));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    await this.#close();
  }

  /** Sees to it that there is a line on the right channel, and that something is heard over it. */
  async #attend(): Promise<void> {
    const { table, open: openLine, newId } = this.#context;
    const [row] = await this.#inTime(NO_ANSWER, () => this.#ask(askChannel(table)));
    const channel = row?.["channel"];
    if (typeof channel !== "string") throw new StoreError(`Cannot listen: there is no table "${table}"`);
    if (this.#line !== undefined && this.#line.channel !== channel) await this.#close();
    const hooks = { added: () => this.#added(), changed: () => this.#bell.ring() };
    const line = this.#line ??= await this.#inTime(
      NOT_OPEN,
      (signal) => ProbedLine.open(channel, { openLine, hooks, signal }),
    );
    await this.#inTime(NOT_OPEN, (signal) => line.isUp(signal));
    const nonce = newId();
    await this.#inTime(SWALLOWED, (signal) => line.probe(nonce, () => this.#ask(sendProbe(channel, nonce)), signal));
  }

  async #ask({ text, params }: Question): Promise<readonly SqlRow[]> {
    return (await this.#context.session.query(text, params)).rows;
  }

  /** Waits no longer than is patient, and not when it is over. */
  async #inTime<T>(reason: string, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = new AbortController();
    this.#context.clock.delay(PATIENCE_MS, { signal: timer.signal }).then(
      () => late.abort(new StoreError(reason)),
      () => {/* it came in time */},
    );
    const end = AbortSignal.any([this.#over.signal, late.signal]);
    try {
      return await orAborted(action(end), end);
    } finally {
      timer.abort();
    }
  }

  #added(): void {
    if (!this.#over.signal.aborted) this.#hooks.added();
  }

  #tell(state: { readonly hearing: boolean; readonly reason?: string }): void {
    if (this.#over.signal.aborted) return;
    this.#decide();
    if (state.hearing === this.#isHearing) return;
    this.#isHearing = state.hearing;
    this.#hooks.hears(state);
  }

  async #close(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await line?.close();
  }
}
