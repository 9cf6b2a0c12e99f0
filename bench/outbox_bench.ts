/**
 * How long does a relay take from the rows of an outbox to the queue, and how soon does it begin?
 *
 * The drain of 10,000 rows stands against its two halves, each alone: claiming and marking the rows, and publishing what is in them.
 *
 * @module
 */
import { connect } from "../mod.ts";
import { AMQP_URL } from "./_clients/client.ts";
import { type OutboxArguments, outboxArguments } from "./_outbox/arguments.ts";
import { measureDrains, type Target } from "./_outbox/drains.ts";
import { measureLatency } from "./_outbox/latency.ts";
import { openLink } from "./_outbox/movers.ts";
import { openPeers } from "./_outbox/peers.ts";
import { measureRelayCounts } from "./_outbox/relay_counts.ts";
import { outboundsFor, payloads } from "./_outbox/rows.ts";
import { type BenchDatabase, postgresDatabase, sqliteDatabase } from "./_outbox/stores.ts";
import { type QueueKind, Queues } from "./_queues.ts";

const KINDS: readonly QueueKind[] = ["quorum", "classic"];

async function measure(queues: Queues, databases: readonly BenchDatabase[], wanted: OutboxArguments): Promise<void> {
  const { rounds, rows, relays } = wanted;
  const all = payloads(rows);
  const targetOf = async (kind: QueueKind): Promise<Target> => {
    const queue = await queues.declare("outbox", kind);
    return { kind, queue, rows: await outboundsFor(queue, all) };
  };
  if (relays.length > 0) {
    const target = await targetOf("quorum");
    for (const database of databases) await measureRelayCounts({ rounds, relays, queues, target }, database);
    return;
  }
  const targets = await Promise.all(KINDS.map(targetOf));
  const mq = await connect(AMQP_URL, { name: "bench" });
  const link = await openLink();
  const peers = await openPeers(all);
  try {
    const [first] = databases;
    for (const database of databases) {
      await measureDrains({ rounds, queues, targets, mq, link }, database, database === first ? peers : []);
    }
  } finally {
    for (const closing of [...peers, mq, link]) await closing.close();
  }
  const queue = await queues.declare("latency", "quorum");
  for (const database of databases) await measureLatency({ rounds, queue }, database);
}

async function main(): Promise<void> {
  const queues = await Queues.open();
  const databases = [await postgresDatabase(), sqliteDatabase()];
  try {
    await measure(queues, databases, outboxArguments());
  } finally {
    for (const closing of [...databases, queues]) await closing.close();
  }
}

await main();
