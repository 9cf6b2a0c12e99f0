/**
 * `pg-boss`: the same payloads as jobs of one of its queues, a hundred at a time.
 *
 * @module
 */
import { PgBoss } from "pg-boss";
import { Stopwatch } from "../_harness.ts";
import { counted, type Peer } from "./movers.ts";
import type { BenchPayload } from "./rows.ts";
import { POSTGRES_URL } from "./stores.ts";

const QUEUE = "bench";

/** As many as a relay claims. Its own `work` pauses between batches, so that `fetch` and `complete` are called by hand. */
const BATCH = 100;

/** Makes its tables in a schema. */
export async function openPgBoss(schema: string, payloads: readonly BenchPayload[]): Promise<Peer> {
  const boss = new PgBoss({ connectionString: POSTGRES_URL, schema, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    name: "pg-boss",
    move: async () => {
      await boss.deleteAllJobs(QUEUE);
      await boss.insert(QUEUE, payloads.map((data) => ({ data })));
      const stopwatch = new Stopwatch();
      stopwatch.start();
      let done = 0;
      for (let jobs = await fetch(boss); jobs.length > 0; jobs = await fetch(boss)) {
        await boss.complete(QUEUE, jobs.map(({ id }) => id));
        done += jobs.length;
      }
      return counted(stopwatch.stop(payloads.length), { name: "pg-boss", found: done, wanted: payloads.length });
    },
    close: () => boss.stop({ graceful: false }),
  };
}

function fetch(boss: PgBoss): Promise<readonly { readonly id: string; readonly data: BenchPayload }[]> {
  return boss.fetch<BenchPayload>(QUEUE, { batchSize: BATCH });
}
