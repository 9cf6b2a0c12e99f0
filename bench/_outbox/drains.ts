/**
 * The drain of a table, against its two halves.
 *
 * @module
 */
import type { Connection } from "../../src/connection.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { BrokerConnection } from "../../src/ports/broker.ts";
import { runRounds, type Sample, type Samples } from "../_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "../_line.ts";
import type { QueueKind, Queues } from "../_queues.ts";
import { claimer, type Mover, relay, sender } from "./movers.ts";
import type { BenchDatabase } from "./stores.ts";

/** The two halves together, alone and one after the other, are what `bare` is. */
const CLAIM = "claim and mark";
const PUBLISH = "publish";
const SLOWER = "the slower of the two";

/** On a classic queue nothing is asked for. */
const BUDGETS: Readonly<Record<QueueKind, Budget>> = { quorum: { timeToBare: 0.8 }, classic: {} };

/** What the messages go to. */
export interface Target {
  readonly kind: QueueKind;
  readonly queue: string;
  readonly rows: readonly Outbound[];
}

/** What is open while it is measured. */
export interface Drains {
  readonly rounds: number;
  readonly queues: Queues;
  readonly targets: readonly Target[];
  /** What relays run on. */
  readonly mq: Connection;
  /** What is published on without one. */
  readonly link: BrokerConnection;
}

/** Prints a line for each kind of queue and unit. */
export async function measureDrains(
  drains: Drains,
  database: BenchDatabase,
  peers: readonly Mover[],
): Promise<void> {
  const movers = [...await moversOf(drains, database), ...peers];
  const samples = await runRounds(movers, drains, ({ move }) => move());
  for (const { kind } of drains.targets) {
    const name = `${database.title} to a ${kind} queue`;
    const measured = { bench: "outbox", case: name, budget: BUDGETS[kind] };
    const compared = comparedOn(kind, samples);
    console.log(JSON.stringify(lineOf(measured, "s/10,000", compared)));
    console.log(JSON.stringify(lineOf(measured, "us CPU/message", compared)));
  }
}

/** Everybody who moves rows out of one database, and who publishes them. */
async function moversOf({ targets, mq, link, queues }: Drains, database: BenchDatabase): Promise<readonly Mover[]> {
  const outbox = await database.open("drained");
  const emptied = (mover: Mover, target: Target): Mover => ({
    ...mover,
    move: async () => {
      const sample = await mover.move();
      await assertArrived(queues, target);
      return sample;
    },
  });
  return [
    claimer(CLAIM, outbox, targets[0]?.rows ?? []),
    ...targets.map((target) => emptied(sender(`${PUBLISH}, ${target.kind}`, link, target.rows), target)),
    ...targets.map((target) => emptied(relay(`${OURS}, ${target.kind}`, mq, { outbox, rows: target.rows }), target)),
  ];
}

/** A turn after which anything is missing, or there twice, says nothing. Empties the queue. */
export async function assertArrived(queues: Queues, { queue, rows }: Target): Promise<void> {
  const arrived = await queues.purge(queue);
  if (arrived !== rows.length) throw new Error(`Cannot count the turn: ${arrived} of ${rows.length} messages arrived`);
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
