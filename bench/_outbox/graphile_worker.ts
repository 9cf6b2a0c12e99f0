/**
 * `graphile-worker`: the same payloads as jobs of one task, with its local queue and its batches of completions.
 *
 * @module
 */
import { once } from "node:events";
import { Logger, makeWorkerUtils, run, type WorkerUtils } from "graphile-worker";
import { type Sample, Stopwatch } from "../_harness.ts";
import { counted, type Peer } from "./movers.ts";
import type { BenchPayload } from "./rows.ts";
import { POSTGRES_URL } from "./stores.ts";

const TASK = "bench";

/** Jobs of one statement that adds them. */
const CHUNK = 1_000;

/** What its own performance test sets. */
const SETTINGS = {
  concurrentJobs: 24,
  maxPoolSize: 10,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
} as const;

/** Makes its tables in a schema. */
export async function openGraphileWorker(schema: string, payloads: readonly BenchPayload[]): Promise<Peer> {
  const logger = new Logger(() => (level, text) => level === "error" ? console.error(text) : undefined);
  const worker = { connectionString: POSTGRES_URL, schema, logger, ...SETTINGS };
  const utils = await makeWorkerUtils({ preset: { worker } });
  await utils.migrate();
  return {
    name: "graphile-worker",
    move: async () => {
      await add(utils, payloads);
      const sample = await drain(worker, payloads.length);
      const left = await jobsLeft(utils, schema);
      return counted(sample, { name: "graphile-worker", found: payloads.length - left, wanted: payloads.length });
    },
    close: async () => await utils.release(),
  };
}

async function add({ addJobs }: WorkerUtils, payloads: readonly BenchPayload[]): Promise<void> {
  for (let from = 0; from < payloads.length; from += CHUNK) {
    await addJobs(payloads.slice(from, from + CHUNK).map((payload) => ({ identifier: TASK, payload })));
  }
}

/** From the start of its runner to its end: stopped once the last job is in a handler, it completes what it has. */
async function drain(worker: GraphileConfig.WorkerOptions, jobs: number): Promise<Sample> {
  let handled = 0;
  const all = new AbortController();
  const handle = (): void => {
    if (++handled === jobs) all.abort();
  };
  const allHandled = once(all.signal, "abort");
  const stopwatch = new Stopwatch();
  stopwatch.start();
  const runner = await run({ preset: { worker }, taskList: { [TASK]: handle }, noHandleSignals: true });
  await allHandled;
  await runner.stop();
  return stopwatch.stop(jobs);
}

async function jobsLeft(utils: WorkerUtils, schema: string): Promise<number> {
  const { rows: [row] } = await utils.withPgClient((client) =>
    client.query<{ readonly left: string }>(`SELECT count(*) AS left FROM ${schema}.jobs`)
  );
  return Number(row?.left);
}
