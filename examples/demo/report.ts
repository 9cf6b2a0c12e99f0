/**
 * The end of a run, in words.
 *
 * @module
 */
import { balances, type Ledger } from "./ledger.ts";

/** What the ledger alone does not say. */
export interface Circumstances {
  /** What each source placed. */
  readonly placed: readonly string[];
  /** Why messages were set aside, and how many for each reason. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Messages that were still in a queue when everything had ended. */
  readonly left: number;
}

/** The ledger as lines of text. */
export function reportText(ledger: Ledger, { placed, reasons, left }: Circumstances): string {
  const line = (name: string, count: number, remark = ""): string =>
    `  ${name.padEnd(17)}${String(count).padStart(5)}${remark === "" ? "" : `   ${remark}`}`;
  return [
    line("placed", ledger.placed, placed.join("; ")),
    line("= handled", ledger.handled),
    line("+ dead-lettered", ledger.deadLettered),
    line("+ parked", ledger.parked),
    line("retried", ledger.retried),
    line("duplicates", ledger.duplicates),
    line("lost", ledger.lost),
    ...left === 0 ? [] : [line("left in queues", left)],
    "",
    "Set aside, in the words of the header x-acemq-error:",
    ...[...reasons].map(([reason, count]) => `  ${String(count).padStart(3)}   ${reason}`),
    "",
    balances(ledger) ? "The ledger balances." : "THE LEDGER DOES NOT BALANCE.",
  ].join("\n");
}
