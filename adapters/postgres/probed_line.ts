/**
 * A connection that listens on a channel, and whether anything comes over it.
 *
 * @module
 */

import { orAborted } from "../../src/internal/abort.ts";
import type { Line, LineHooks, OpenLine } from "./notifications.ts";
import { parseHeard } from "./outbox_channel.ts";

/** What is told of a line. */
export interface ProbedLineHooks {
  /** Rows are there, or may be: the line was away. */
  readonly added: () => void;
  /** The line is up again, or lost. */
  readonly changed: () => void;
}

/** See the module. */
export class ProbedLine {
  readonly channel: string;
  readonly #hooks: ProbedLineHooks;
  readonly #lost = new AbortController();
  readonly #up: Promise<void>;
  #hasComeUp: () => void = () => {};
  #isUp = false;
  #line: Line | undefined;
  #nonce: string | undefined;
  #answered: () => void = () => {};

  private constructor(channel: string, hooks: ProbedLineHooks) {
    this.channel = channel;
    this.#hooks = hooks;
    this.#up = new Promise((resolve) => this.#hasComeUp = resolve);
  }

  /** Opens one; rejects with the signal's reason when it aborts first. */
  static async open(
    channel: string,
    { openLine, hooks, signal }: {
      readonly openLine: OpenLine;
      readonly hooks: ProbedLineHooks;
      readonly signal: AbortSignal;
    },
  ): Promise<ProbedLine> {
    const probed = new ProbedLine(channel, hooks);
    probed.#line = await openLine(channel, probed.#lineHooks(), signal);
    return probed;
  }

  /** Whether the driver opens it again by itself. */
  get isKeptUp(): boolean {
    return this.#line?.isKeptUp === true;
  }

  /** Resolves when the database listens; rejects when the line is lost, or with the signal's reason. */
  async isUp(signal: AbortSignal): Promise<void> {
    await this.#unlessLost(this.#up, signal);
  }

  /** Resolves when what `send` has notified has come back; rejects when the line is lost, or with the signal's reason. */
  async probe(nonce: string, send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    this.#nonce = nonce;
    const answer = new Promise<void>((resolve) => this.#answered = resolve);
    await this.#unlessLost(send(), signal);
    await this.#unlessLost(answer, signal);
  }

  async close(): Promise<void> {
    await this.#line?.close();
  }

  #lineHooks(): LineHooks {
    return {
      heard: (payload) => {
        const heard = parseHeard(payload);
        if (heard.is === "added") this.#hooks.added();
        else if (heard.nonce === this.#nonce) this.#answered();
      },
      up: () => {
        if (this.#isUp) {
          this.#hooks.added();
          this.#hooks.changed();
        }
        this.#isUp = true;
        this.#hasComeUp();
      },
      lost: (reason) => {
        this.#lost.abort(reason);
        this.#hooks.changed();
      },
    };
  }

  async #unlessLost(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
    await orAborted(orAborted(promise, this.#lost.signal), signal);
  }
}
