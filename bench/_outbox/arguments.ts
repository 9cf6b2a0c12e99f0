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
  /** How many relay processes drain them together; the bench is about that alone when it is given. */
  readonly relays: readonly number[];
}

/** The command line. */
export function outboxArguments(): OutboxArguments {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "7" },
      rows: { type: "string" },
      relays: { type: "string" },
    },
  });
  const relays = values.relays?.split(",").map(Number) ?? [];
  return {
    rounds: Number(values.rounds),
    rows: Number(values.rows ?? (relays.length === 0 ? 10_000 : 100_000)),
    relays,
  };
}
