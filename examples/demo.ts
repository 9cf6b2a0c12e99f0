/**
 * An order flow that ends with a ledger: what was placed is handled, dead-lettered or parked, and nothing is lost.
 *
 * Without arguments it runs on the in-memory broker. With `--amqp` it runs on RabbitMQ, in queues of its own that are gone when it
 * ends. With `--json` the last line is one JSON object. The exit code is 1 when the ledger does not balance.
 *
 *     deno run --allow-read examples/demo.ts
 *     deno run --allow-read --allow-net --allow-env --allow-run=amqp-publish examples/demo.ts --amqp amqp://127.0.0.1
 *
 * @module
 */
import process from "node:process";
import type { TelemetrySink } from "@acemq/amqp";
import { type DemoArguments, parseArguments, USAGE } from "./demo/arguments.ts";
import { Bookkeeper, exitCodeOf, jsonLine } from "./demo/ledger.ts";
import { showProgress } from "./demo/progress.ts";
import { reportText } from "./demo/report.ts";
import { runFlow } from "./demo/run.ts";
import { memoryStage, rabbitmqStage } from "./demo/stage.ts";

async function main({ amqpUrl, json }: DemoArguments, signal: AbortSignal): Promise<number> {
  const out = json ? process.stderr : process.stdout;
  const book = new Bookkeeper();
  const telemetry: TelemetrySink = {
    metric: ({ name }) => name === "acemq.messages.retried.total" ? book.retried() : undefined,
  };
  const stage = await (amqpUrl === undefined ? memoryStage(telemetry) : rabbitmqStage(amqpUrl, telemetry));
  out.write(`An order flow on ${stage.title}\n\n`);
  const progress = showProgress(out, () => book.ledger);
  let placed: readonly string[] = [];
  let left = 0;
  try {
    placed = await runFlow(stage, { book, progress, signal });
  } finally {
    left = await stage.close();
    progress.stop();
  }
  const { ledger, reasons } = book;
  out.write(`\n${reportText(ledger, { placed, reasons, left })}\n`);
  if (json) process.stdout.write(`${jsonLine(ledger)}\n`);
  return left === 0 ? exitCodeOf(ledger) : 1;
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
