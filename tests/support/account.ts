/**
 * The account of one fault scenario: what its ledger, its process and the broker say at its end.
 *
 * Where `ACEMQ_FAULT_ACCOUNTS` names a file, every account becomes a line of JSON in it; `npm run faults` reads them there.
 *
 * @module
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import type { Balance } from "./ledger.ts";

/** What must be nothing at the end of a scenario, whatever happened in it. */
export interface Growth {
  readonly unhandledRejections: number;
  /** Sockets of the process, more than before. */
  readonly sockets: number;
  /** Channels the broker has for the connections, more than their publishers and consumers use; all of them once they are closed. */
  readonly channels: number;
  /** Timers of the library that still run when everything is closed. */
  readonly timers: number;
  /** Listeners to the process and to the signal of the publishes, more than before. */
  readonly listeners: number;
  /** Events that health contradicted or nobody was told of, and connections that were not up in the end. */
  readonly unreported: number;
}

/** One scenario. */
export interface Account extends Balance, Growth {
  /** The titles of the suite and the test: one sentence. */
  readonly scenario: string;
  readonly runtime: string;
  /** How often what happened to the connections. */
  readonly events: Readonly<Partial<Record<BrokerEvent["type"], number>>>;
  readonly tookMs: number;
  /** Why the scenario ended before its end. */
  readonly failure?: string;
  readonly balanced: boolean;
}

/** An account nobody has judged yet. */
export type Unjudged = Omit<Account, "balanced">;

const NOTHING = [
  "lost",
  "misreported",
  "pending",
  "doubledAtOnce",
  "unhandledRejections",
  "sockets",
  "channels",
  "timers",
  "listeners",
  "unreported",
] as const satisfies readonly (keyof Unjudged)[];

/** The numbers that should be zero and are not. */
export function imbalances(account: Unjudged): string[] {
  return NOTHING.filter((name) => account[name] > 0).map((name) => `${name}: ${account[name]}`);
}

/** Judges an account and writes it down. */
export function keepAccount(account: Unjudged): Account {
  const judged = { ...account, balanced: account.failure === undefined && imbalances(account).length === 0 };
  const path = process.env["ACEMQ_FAULT_ACCOUNTS"];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(judged)}\n`);
  return judged;
}

/** Which runtime this is. */
export function runtimeName(): string {
  const { deno, bun, node } = process.versions;
  if (deno !== undefined) return "deno";
  return bun === undefined ? `node${node.split(".")[0]}` : "bun";
}
