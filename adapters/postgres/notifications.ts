/**
 * Hearing what is notified on a channel, whatever the driver.
 *
 * @module
 */

/** What is told of a line. */
export interface LineHooks {
  /** Something was notified. */
  readonly heard: (payload: string) => void;
  /** The database listens for this line: for the first time, or again after the driver had lost it. */
  readonly up: () => void;
  /** The line is lost, and nobody opens it again. */
  readonly lost: (reason: unknown) => void;
}

/** A connection that listens. */
export interface Line {
  /** Whether the driver opens a lost one again by itself; it does so for the first time, too. */
  readonly isKeptUp: boolean;
  /** Hears no more. Twice is once. */
  close(): Promise<void>;
}

/** Listens on a channel. Rejects with the signal's reason when it aborts first, and leaves nothing behind then. */
export type OpenLine = (channel: string, hooks: LineHooks, signal: AbortSignal) => Promise<Line>;
