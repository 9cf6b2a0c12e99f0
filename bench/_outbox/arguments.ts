/**
 * What this bench is started with.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** See {@linkcode outboxArguments}. */
export interface OutboxArguments {
  readonly rounds: number;
  /** Rows that are drained in one turn. */
  readonly rows: number;
}

/** The command line. */
export function outboxArguments(): OutboxArguments {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "7" }, rows: { type: "string", default: "10000" } },
  });
  return { rounds: Number(values.rounds), rows: Number(values.rows) };
}
