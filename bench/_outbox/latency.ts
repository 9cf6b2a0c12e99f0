/**
 * From the commit to the queue, ten times a second: everybody in turn, within the same tenth.
 *
 * @module
 */
import { setTimeout as wait } from "node:timers/promises";
import { connect } from "../../mod.ts";
import { randomUuid } from "../../src/clock.ts";
import type { Connection } from "../../src/connection.ts";
import { AMQP_URL } from "../_clients/client.ts";
import type { Contestant, Sample, Samples } from "../_harness.ts";
import { BARE, type Budget, lineOf, OURS, quantile } from "../_line.ts";
import { Arrivals } from "./arrivals.ts";
import { type BenchPayload, payloads } from "./rows.ts";
import type { BenchDatabase, BenchOutbox } from "./stores.ts";

/** Of a round: ten seconds. */
const MESSAGES = payloads(100);

const TICK_MS = 100;

/** So that nothing is found by polling. */
const POLL_MS = 3_600_000;

const BUDGET: Budget = { p99Ms: 10 };

/** Somebody who has a message announced; resolves when it is committed. */
interface Announcer extends Contestant {
  readonly announce: (payload: BenchPayload, messageId: string) => Promise<void>;
}

/** Prints what it takes by the wake-up of the process that adds, against a publish without an outbox. */
export async function measureLatency(
  { rounds, queue }: { readonly rounds: number; readonly queue: string },
  database: BenchDatabase,
): Promise<void> {
  const mq = await connect(AMQP_URL, { name: "bench" });
  const arrivals = await Arrivals.from(queue);
  try {
    const announcers = await announcersOf(mq, queue, database);
    const samples = new Map<string, Sample[]>(announcers.map(({ name }) => [name, []]));
    // The first round warms up.
    await roundOf(announcers, arrivals);
    for (let round = 0; round < rounds; round++) {
      for (const [name, sample] of await roundOf(announcers, arrivals)) samples.get(name)?.push(sample);
    }
    report(database, samples);
  } finally {
    await mq.close();
    await arrivals.close();
  }
}

function report({ title }: BenchDatabase, samples: Samples): void {
  const measured = { bench: "outbox", case: `${title}, commit to a quorum queue`, budget: BUDGET };
  console.log(JSON.stringify(lineOf(measured, "ms p50", samples)));
  console.log(JSON.stringify(lineOf(measured, "ms p99", samples)));
}

/** Each with a table and a relay of its own. */
async function announcersOf(mq: Connection, queue: string, database: BenchDatabase): Promise<readonly Announcer[]> {
  const publisher = mq.publisher<BenchPayload>("", queue);
  const relayed = async (table: string): Promise<BenchOutbox> => {
    const outbox = await database.open(table);
    await mq.relay(outbox.store, { pollIntervalMs: POLL_MS }).start();
    return outbox;
  };
  const here = await relayed("woken_here");
  const { addElsewhere: notify } = await relayed("woken_by_notify");
  const added = (by: BenchOutbox["add"]): Announcer["announce"] => async (payload, messageId) =>
    by(await publisher.prepare(payload, { messageId }));
  return [
    { name: OURS, announce: added(here.add) },
    ...notify === undefined ? [] : [{ name: "NOTIFY", announce: added(notify) }],
    // Counts from the moment in which it is handed over.
    { name: BARE, announce: async (payload, messageId) => void publisher.send(payload, { messageId }) },
  ];
}

async function roundOf(
  announcers: readonly Announcer[],
  arrivals: Arrivals,
): Promise<readonly (readonly [name: string, sample: Sample])[]> {
  const startedMs = performance.now();
  const stepMs = TICK_MS / announcers.length;
  const inTime = async ({ name, announce }: Announcer, turn: number): Promise<readonly [string, Sample]> => {
    const latencies: Promise<number>[] = [];
    for (const [tick, payload] of MESSAGES.entries()) {
      await wait(Math.max(0, startedMs + TICK_MS * tick + stepMs * turn - performance.now()));
      latencies.push(latencyOf(announce, payload, arrivals));
    }
    const ms = await Promise.all(latencies);
    const perSecond = 1_000 * ms.length / (performance.now() - startedMs);
    return [name, { perSecond, cpuUs: NaN, latencyMs: { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) } }];
  };
  return await Promise.all(announcers.map(inTime));
}

/** None where the message was there before the answer to the commit was. */
async function latencyOf(
  announce: Announcer["announce"],
  payload: BenchPayload,
  arrivals: Arrivals,
): Promise<number> {
  const messageId = randomUuid();
  const arrived = arrivals.of(messageId);
  await announce(payload, messageId);
  const committedMs = performance.now();
  return Math.max(0, await arrived - committedMs);
}
