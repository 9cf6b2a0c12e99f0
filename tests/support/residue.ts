/**
 * What a test leaves behind in its process: timers, sockets, rejections nobody heard.
 *
 * @module
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { type Clock, systemClock } from "../../src/clock.ts";

/** The machine's clock, which knows how many of its timers run. */
export class CountingClock implements Clock {
  readonly #clock = systemClock();
  /** Delays that have neither passed nor been called off. */
  pending = 0;

  now(): number {
    return this.#clock.now();
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  async delay(ms: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    this.pending++;
    try {
      await this.#clock.delay(ms, options);
    } finally {
      this.pending--;
    }
  }
}

/** Where Deno has events of its own; Node has none there. */
const EVENTS: Partial<EventTarget> = globalThis as Partial<EventTarget>;

/** Hears what no test should cause: rejections that nobody handles, and warnings of listeners that pile up. */
export class Complaints {
  readonly heard: string[] = [];
  /** Rejections that nobody handled. Bun reports none of them, and fails the test itself. */
  rejections = 0;
  readonly #onRejection = (reason: unknown): void => {
    this.rejections++;
    this.heard.push(`unhandled rejection: ${String(reason)}`);
  };
  /** Deno's test runner tells the page, not the process. */
  readonly #onRejectionEvent = (event: Event): void => {
    if ("reason" in event) this.#onRejection(event.reason);
  };
  readonly #onWarning = (warning: Error): void => {
    if (warning.name === "MaxListenersExceededWarning") this.heard.push(warning.message);
  };

  constructor() {
    process.on("unhandledRejection", this.#onRejection);
    process.on("warning", this.#onWarning);
    EVENTS.addEventListener?.("unhandledrejection", this.#onRejectionEvent);
  }

  /** Stops listening. */
  close(): void {
    process.off("unhandledRejection", this.#onRejection);
    process.off("warning", this.#onWarning);
    EVENTS.removeEventListener?.("unhandledrejection", this.#onRejectionEvent);
  }
}

/** Everybody who listens to this process. */
export function processListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
}

/** Sockets this process has open, as somebody else counts them. */
export async function openSockets(): Promise<number> {
  const { stdout } = await promisify(execFile)("sh", ["-c", `ls -l /proc/${process.pid}/fd 2>&1; true`]);
  return stdout.split("\n").filter((line) => line.includes("socket:")).length;
}
