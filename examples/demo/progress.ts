/**
 * What a person sees while the flow runs.
 *
 * @module
 */
import type { WriteStream } from "node:tty";
import type { Ledger } from "./ledger.ts";

/** Shows a ledger that changes. */
export interface Progress {
  /** Says something that stays on the screen. */
  note(text: string): void;
  /** Shows the last state and stops. */
  stop(): void;
}

const REDRAW_MS = 100;
const LINE_MS = 500;
const BAR_WIDTH = 40;

/** A view that redraws itself in a terminal, and writes a line now and then anywhere else. */
export function showProgress(out: WriteStream, ledger: () => Ledger): Progress {
  const startedAt = performance.now();
  const seconds = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
  return out.isTTY ? liveView(out, ledger, seconds) : plainLines(out, ledger, seconds);
}

function liveView(out: WriteStream, ledger: () => Ledger, seconds: () => string): Progress {
  let height = 0;
  const erase = (): string => height === 0 ? "" : `\x1b[${height}A\x1b[J`;
  const draw = (): void => {
    const lines = [`  ${seconds()}`, ...bars(ledger())];
    out.write(`${erase()}${lines.join("\n")}\n`);
    height = lines.length;
  };
  const timer = setInterval(draw, REDRAW_MS);
  return {
    note: (text) => {
      out.write(`${erase()}${text}\n`);
      height = 0;
    },
    stop: () => {
      clearInterval(timer);
      out.write(erase());
    },
  };
}

function plainLines(out: WriteStream, ledger: () => Ledger, seconds: () => string): Progress {
  let last = "";
  const write = (): void => {
    const { placed, handled, deadLettered, parked, retried, duplicates } = ledger();
    const line =
      `placed ${placed}, handled ${handled}, dead-lettered ${deadLettered}, parked ${parked}, retried ${retried}, ` +
      `duplicates ${duplicates}`;
    if (line !== last) out.write(`${seconds()}: ${line}\n`);
    last = line;
  };
  const timer = setInterval(write, LINE_MS);
  return {
    note: (text) => void out.write(`${text}\n`),
    stop: () => {
      clearInterval(timer);
      write();
    },
  };
}

function bars({ placed, handled, deadLettered, parked, retried, duplicates, lost }: Ledger): string[] {
  const bar = (name: string, count: number): string => {
    const filled = Math.round(BAR_WIDTH * count / Math.max(placed, 1));
    return `  ${name.padEnd(14)}${String(count).padStart(5)}  ${"█".repeat(filled)}`;
  };
  return [
    bar("placed", placed),
    bar("handled", handled),
    bar("dead-lettered", deadLettered),
    bar("parked", parked),
    bar("under way", Math.max(lost, 0)),
    `  ${"retried".padEnd(14)}${String(retried).padStart(5)}`,
    `  ${"duplicates".padEnd(14)}${String(duplicates).padStart(5)}`,
  ];
}
