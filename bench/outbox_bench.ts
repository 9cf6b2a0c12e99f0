/**
 * How long does a relay take from the rows of an outbox to the queue, and how soon does it begin?
 *
 * The drain of 10,000 rows stands against its two halves, each alone: claiming and marking the rows, and publishing what is in them.
 *
 * @module
 */
import { connect } from "../mod.ts";
import type { Connection } from "../src/connection.ts";
import type { Outbound } from "../src/message/outbound.ts";
import type { BrokerConnection } from "../src/ports/broker.ts";
import { AMQP_URL } from "./_clients/client.ts";
import { runRounds, type Sample, type Samples } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";
import { outboxArguments } from "./_outbox/arguments.ts";
import { claimer, type Mover, openLink, relay, sender } from "./_outbox/movers.ts";
import { openPeers } from "./_outbox/peers.ts";
import { outboundsFor, payloads } from "./_outbox/rows.ts";
import { type BenchDatabase, postgresDatabase, sqliteDatabase } from "./_outbox/stores.ts";
import { type QueueKind, Queues } from "./_queues.ts";

const KINDS: readonly QueueKind[] = ["quorum", "classic"];

/** The two halves together, alone and one after the other, are what `bare` is. */
const CLAIM = "claim and mark";
const PUBLISH = "publish";
const SLOWER = "the slower of the two";

/** On a classic queue nothing is asked for. */
const BUDGETS: Readonly<Record<QueueKind, Budget>> = { quorum: { timeToBare: 0.8 }, classic: {} };

/** What the messages go to. */
interface Target {
  readonly kind: QueueKind;
  readonly queue: string;
  readonly rows: readonly Outbound[];
}

/** What is open while it is measured. */
interface Open {
  readonly rounds: number;
  readonly queues: Queues;
  readonly targets: readonly Target[];
  readonly mq: Connection;
  readonly link: BrokerConnection;
}

/** Everybody who moves rows out of one database, and who publishes them. */
async function moversOf({ targets, mq, link, queues }: Open, database: BenchDatabase): Promise<readonly Mover[]> {
  const outbox = await database.open("drained");
  const [first] = targets;
  if (first === undefined) return [];
  const emptied = (mover: Mover, { queue, rows }: Target): Mover => ({
    ...mover,
    move: async () => {
      const sample = await mover.move();
      const arrived = await queues.purge(queue);
      if (arrived !== rows.length) {
        throw new Error(`Cannot count the turn of ${mover.name}: ${arrived} messages arrived`);
      }
      return sample;
    },
  });
  return [
    claimer(CLAIM, outbox, first.rows),
    ...targets.map((target) => emptied(sender(`${PUBLISH}, ${target.kind}`, link, target.rows), target)),
    ...targets.map((target) => emptied(relay(`${OURS}, ${target.kind}`, mq, { outbox, rows: target.rows }), target)),
  ];
}

/** What one kind of queue is compared by, taken round by round. */
function comparedOn(kind: QueueKind, samples: Samples): Samples {
  const of = (name: string): readonly Sample[] => samples.get(name) ?? [];
  const claiming = of(CLAIM);
  const publishing = of(`${PUBLISH}, ${kind}`);
  const pairs = claiming.map((claimed, round) => [claimed, publishing[round] ?? claimed] as const);
  const others = [...samples].filter(([name]) => !name.startsWith(OURS) && !name.startsWith(PUBLISH));
  return new Map([
    [OURS, of(`${OURS}, ${kind}`)],
    [BARE, pairs.map(([one, other]) => oneAfterTheOther(one, other))],
    [SLOWER, pairs.map(([one, other]) => one.perSecond < other.perSecond ? one : other)],
    [PUBLISH, publishing],
    ...others,
  ]);
}

function oneAfterTheOther(one: Sample, other: Sample): Sample {
  return { perSecond: 1 / (1 / one.perSecond + 1 / other.perSecond), cpuUs: one.cpuUs + other.cpuUs };
}

async function measureDrains(open: Open, database: BenchDatabase, peers: readonly Mover[]): Promise<void> {
  const movers = [...await moversOf(open, database), ...peers];
  const samples = await runRounds(movers, { rounds: open.rounds }, ({ move }) => move());
  for (const { kind } of open.targets) {
    const name = `${database.title} to a ${kind} queue`;
    const measured = { bench: "outbox", case: name, budget: BUDGETS[kind] };
    const compared = comparedOn(kind, samples);
    console.log(JSON.stringify(lineOf(measured, "s/10,000", compared)));
    console.log(JSON.stringify(lineOf(measured, "us CPU/message", compared)));
  }
}

async function main(): Promise<void> {
  const { rounds, rows } = outboxArguments();
  const all = payloads(rows);
  const queues = await Queues.open();
  const targets = await Promise.all(KINDS.map(async (kind) => {
    const queue = await queues.declare("outbox", kind);
    return { kind, queue, rows: await outboundsFor(queue, all) };
  }));
  const mq = await connect(AMQP_URL, { name: "bench" });
  const link = await openLink();
  const postgres = await postgresDatabase();
  const sqlite = sqliteDatabase();
  const peers = await openPeers(all);
  try {
    await measureDrains({ rounds, queues, targets, mq, link }, postgres, peers);
    await measureDrains({ rounds, queues, targets, mq, link }, sqlite, []);
  } finally {
    for (const closing of [...peers, postgres, sqlite, mq, link, queues]) await closing.close();
  }
}

await main();
