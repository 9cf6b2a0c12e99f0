/**
 * What does it cost to publish through the library rather than through the bare client?
 *
 * Each client keeps a window of 1 KB messages in flight: as soon as one is confirmed, the next is sent.
 *
 * @module
 */
import { deepEqual } from "node:assert/strict";
import type { AMQPMessage } from "@cloudamqp/amqp-client";
import { openClients } from "./_clients/all.ts";
import type { BenchClient, Sender } from "./_clients/client.ts";
import { keepInFlight, roundsFromArguments, runRounds, type Samples, Stopwatch } from "./_harness.ts";
import { type Budget, lineOf } from "./_line.ts";
import { type QueueKind, Queues } from "./_queues.ts";

/** One case: a window on a kind of queue. */
interface PublishCase {
  readonly kind: QueueKind;
  readonly persistent: boolean;
  readonly window: number;
  /** Messages of a turn. */
  readonly messages: number;
}

/** Windows of one come last: what they measure is the wait for the broker, on code that is warm. */
const CASES: readonly PublishCase[] = [
  { kind: "classic", persistent: true, window: 100, messages: 1_000 },
  { kind: "classic", persistent: true, window: 256, messages: 1_000 },
  { kind: "classic", persistent: false, window: 100, messages: 1_500 },
  { kind: "quorum", persistent: true, window: 100, messages: 1_000 },
  { kind: "quorum", persistent: true, window: 256, messages: 1_000 },
  { kind: "classic", persistent: true, window: 1, messages: 100 },
  { kind: "quorum", persistent: true, window: 1, messages: 100 },
];

/** Turns of a round: about a second's worth of messages. */
const TURNS = 8;

const RATES: Budget = { rateToBare: 0.95, aheadOf: "rabbitmq-client" };

/** A client, and its sender to the queue of the case. */
interface Publishing {
  readonly name: string;
  readonly sender: Sender;
}

/** With one message in flight the process sleeps and wakes for each: its CPU figure is the system's more than anybody's. */
function budgetOf({ window }: PublishCase): Budget {
  return window === 1 ? RATES : { ...RATES, cpuOverBareUs: 8 };
}

async function measureCase(one: PublishCase, clients: readonly BenchClient[], queues: Queues): Promise<Samples> {
  const queue = await queues.declare("publish", one.kind);
  const contestants = await Promise.all(
    clients.map(async (client) => ({ name: client.name, sender: await client.openSender(queue, one) })),
  );
  await assertSameMessages(contestants, queue, queues);
  const samples = await runRounds(contestants, { rounds: roundsFromArguments(), turns: TURNS }, async ({ sender }) => {
    await queues.purge(queue);
    const stopwatch = new Stopwatch();
    stopwatch.start();
    await keepInFlight(sender.send, one);
    return stopwatch.stop(one.messages);
  });
  for (const { sender } of contestants) await sender.close();
  return samples;
}

/** A comparison of clients that send different messages would say nothing. */
async function assertSameMessages(contestants: readonly Publishing[], queue: string, queues: Queues): Promise<void> {
  await queues.purge(queue);
  const facts: unknown[] = [];
  for (const { sender } of contestants) {
    await sender.send();
    facts.push(factsOf(await queues.take(queue)));
  }
  for (const fact of facts) deepEqual(fact, facts[0]);
}

/** Ids and times differ from message to message: what has to agree of them is their length. */
function factsOf(message: AMQPMessage | null): unknown {
  if (message === null) throw new Error("Cannot compare the clients' messages: the queue is empty");
  const { contentType, deliveryMode, messageId, headers = {} } = message.properties;
  const { "x-acemq-id": id, "x-acemq-correlation": correlation, "x-acemq-first-seen": seen, ...others } = headers;
  const lengths = [messageId, id, correlation, seen].map((value) => String(value).length);
  return { contentType, deliveryMode, lengths, isOneId: messageId === id && id === correlation, others };
}

async function main(): Promise<void> {
  const queues = await Queues.open();
  const clients = await openClients();
  try {
    for (const one of CASES) {
      const samples = await measureCase(one, clients, queues);
      const name = `${one.kind}, ${one.persistent ? "persistent" : "transient"}, window ${one.window}`;
      const measured = { bench: "publish", case: name, budget: budgetOf(one) };
      console.log(JSON.stringify(lineOf(measured, "messages/s", samples)));
      console.log(JSON.stringify(lineOf(measured, "us CPU/message", samples)));
    }
  } finally {
    await queues.close();
    for (const client of clients) await client.close();
  }
}

await main();
