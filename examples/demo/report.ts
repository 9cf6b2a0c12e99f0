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
  /** Second copies that were put in. */
  readonly fed: number;
  /** Orders that were charged more than once. */
  readonly chargedAgain: number;
}

/** What a shell is told: 1 when the ledger does not balance, a copy has disappeared, or money has moved twice. */
export function exitCodeOf(ledger: Ledger, { left, fed, chargedAgain }: Circumstances): 0 | 1 {
  return balances(ledger) && left === 0 && ledger.duplicates >= fed && chargedAgain === 0 ? 0 : 1;
}

/** The ledger as lines of text. */
export function reportText(ledger: Ledger, circumstances: Circumstances): string {
  const { placed, reasons, left, fed, chargedAgain } = circumstances;
  const line = (name: string, count: number, remark = ""): string =>
    `  ${name.padEnd(17)}${String(count).padStart(5)}${remark === "" ? "" : `   ${remark}`}`;
  return [
    line("placed", ledger.placed, placed.join("; ")),
    line("= handled", ledger.handled),
    line("+ dead-lettered", ledger.deadLettered),
    line("+ parked", ledger.parked),
    line("retried", ledger.retried),
    line("duplicates", ledger.duplicates, `${fed} on purpose`),
    line("lost", ledger.lost),
    ...left === 0 ? [] : [line("left in queues", left)],
    ...chargedAgain === 0 ? [] : [line("CHARGED TWICE", chargedAgain)],
    "",
    "Set aside, in the words of the header x-acemq-error:",
    ...[...reasons].map(([reason, count]) => `  ${String(count).padStart(3)}   ${reason}`),
    "",
    balances(ledger) ? "The ledger balances." : "THE LEDGER DOES NOT BALANCE.",
  ].join("\n");
}
