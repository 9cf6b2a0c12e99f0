/**
 * An order flow that ends with a ledger: what was placed is handled, dead-lettered or parked, and nothing is lost. Some orders come
 * twice, and are handled once.
 *
 * Without arguments it runs on the in-memory broker, and remembers what it has handled in a SQLite file; both are gone when it ends.
 * With `--amqp` it runs on RabbitMQ, in queues of its own; with `--postgres` it remembers in PostgreSQL, in a table of its own, and with
 * `--sqlite` in a file that stays. With `--json` the last line is one JSON object. The exit code is 1 when the ledger does not balance,
 * or an order was charged twice.
 *
 *     deno run --allow-read --allow-write --allow-env examples/demo.ts
 *     deno run --allow-read --allow-write --allow-net --allow-env --allow-run=amqp-publish examples/demo.ts --amqp amqp://127.0.0.1
 *     deno run --allow-read --allow-net --allow-env examples/demo.ts --postgres postgres://user:password@127.0.0.1/orders
 *
 * @module
 */
import process from "node:process";
import type { TelemetrySink } from "@acemq/amqp";
import { type DemoArguments, parseArguments, USAGE } from "./demo/arguments.ts";
import { Bookkeeper, jsonLine } from "./demo/ledger.ts";
import { Payments } from "./demo/payments.ts";
import { showProgress } from "./demo/progress.ts";
import { exitCodeOf, reportText } from "./demo/report.ts";
import { runFlow } from "./demo/run.ts";
import { memoryStage, rabbitmqStage } from "./demo/stage.ts";
import { type DemoStore, openStore } from "./demo/store.ts";

async function main(choices: DemoArguments, signal: AbortSignal): Promise<number> {
  const store = await openStore(choices);
  try {
    return await runWith(store, choices, signal);
  } finally {
    await store.close();
  }
}

async function runWith(store: DemoStore, { amqpUrl, json }: DemoArguments, signal: AbortSignal): Promise<number> {
  const out = json ? process.stderr : process.stdout;
  const book = new Bookkeeper();
  const payments = new Payments();
  const telemetry = countInto(book);
  const stage = await (amqpUrl === undefined ? memoryStage(telemetry) : rabbitmqStage(amqpUrl, telemetry));
  out.write(`An order flow on ${stage.title}\nEach order is handled once, by ${store.title}\n\n`);
  const progress = showProgress(out, () => book.ledger);
  let placed: readonly string[] = [];
  let left = 0;
  try {
    placed = await runFlow(stage, { payments, seen: store.seen, book, progress, signal });
  } finally {
    left = await stage.close();
    progress.stop();
  }
  const { ledger, reasons, fed } = book;
  const circumstances = { placed, reasons, left, fed, chargedAgain: payments.chargedAgain };
  out.write(`\n${reportText(ledger, circumstances)}\n`);
  if (json) process.stdout.write(`${jsonLine(ledger)}\n`);
  return exitCodeOf(ledger, circumstances);
}

/** The library counts what the handler does not see: retries, and duplicates that never reach it. */
function countInto(book: Bookkeeper): TelemetrySink {
  return {
    metric: ({ name, labels }) => {
      if (name === "acemq.messages.retried.total") book.retried();
      if (name === "acemq.idempotency.claims.total" && labels["outcome"] === "already_confirmed") book.duplicate();
    },
  };
}

/** The exit code of a command line: 2 when it cannot be understood. */
async function exitCode(args: readonly string[], signal: AbortSignal): Promise<number> {
  let choices: DemoArguments;
  try {
    choices = parseArguments(args);
  } catch (error) {
    console.error(`${wordsOf(error)}\n${USAGE}`);
    return 2;
  }
  try {
    return await main(choices, signal);
  } catch (error) {
    console.error(wordsOf(signal.aborted ? signal.reason : error));
    return 1;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.once(name, () => interrupted.abort(new Error(`Stopped by ${name}`)));
}
process.exitCode = await exitCode(process.argv.slice(2), interrupted.signal);
