/**
 * An order flow that ends with a ledger: what was placed is handled, dead-lettered or parked, and nothing is lost. Some orders come
 * twice, and are handled once. Stopped or killed, it goes on when it is started again.
 *
 * Orders are placed in a database, in one commit with the messages that announce them; a relay publishes those. What was handled stands
 * there as well. Without arguments it is a SQLite file, and the broker is in memory; both are gone when the run is over. With `--amqp` it
 * runs on RabbitMQ, in queues of its own; with `--postgres` on PostgreSQL, in tables of its own, and with `--sqlite` on a file that stays.
 * With `--json` the last line is one JSON object. The exit code is 1 when the ledger does not balance, or an order was charged twice.
 *
 *     deno run --allow-read --allow-write --allow-env examples/demo.ts
 *     deno run --allow-read --allow-write --allow-net --allow-env --allow-run=amqp-publish examples/demo.ts --amqp amqp://127.0.0.1
 *     deno run --allow-read --allow-net --allow-env examples/demo.ts --postgres postgres://user:password@127.0.0.1/orders
 *
 * @module
 */
import process from "node:process";
import type { TelemetrySink } from "@acemq/amqp";
import { Account } from "./demo/account.ts";
import { type DemoArguments, parseArguments, USAGE } from "./demo/arguments.ts";
import { type DemoDatabase, openDatabase } from "./demo/database.ts";
import { Bookkeeper, jsonLine } from "./demo/ledger.ts";
import { Payments } from "./demo/payments.ts";
import { showProgress } from "./demo/progress.ts";
import { exitCodeOf, reportText } from "./demo/report.ts";
import { runFlow } from "./demo/run.ts";
import { memoryStage, newPrefix, rabbitmqStage } from "./demo/stage.ts";

async function main(choices: DemoArguments, signal: AbortSignal): Promise<number> {
  const isInMemory = choices.amqpUrl === undefined;
  const database = await openDatabase(choices, isInMemory ? "memory" : "rabbitmq");
  let isOver = false;
  try {
    const account = await Account.open(database, isInMemory ? "" : newPrefix());
    const code = await runWith({ database, account }, choices, signal);
    await account.finish();
    if (choices.postgresUrl !== undefined) await account.dropTables();
    isOver = true;
    return code;
  } finally {
    await database.close(isOver);
  }
}

async function runWith(
  { database, account }: { readonly database: DemoDatabase; readonly account: Account },
  { amqpUrl, json }: DemoArguments,
  signal: AbortSignal,
): Promise<number> {
  const out = json ? process.stderr : process.stdout;
  const book = new Bookkeeper();
  const payments = new Payments();
  const telemetry = countInto(book);
  const { prefix } = account;
  const stage =
    await (amqpUrl === undefined
      ? memoryStage(telemetry, database)
      : rabbitmqStage(amqpUrl, telemetry, { database, prefix }));
  out.write(`An order flow on ${stage.title}\nOrders are placed in ${database.title}, and handled once\n`);
  out.write(account.isContinued ? "It goes on where a run before it was stopped\n\n" : "\n");
  const progress = showProgress(out, () => book.ledger);
  let placed: readonly string[] = [];
  try {
    placed = await runFlow(stage, { payments, book, account, database, progress, signal });
  } finally {
    await stage.leave();
    progress.stop();
  }
  const { ledger, reasons, fed } = book;
  const left = await stage.clear();
  const circumstances = { placed, reasons, left, fed, chargedAgain: await account.chargedAgain() };
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
