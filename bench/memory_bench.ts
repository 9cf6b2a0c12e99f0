/**
 * What does a message cost on the broker in memory, published and consumed?
 *
 * `bare` is the least that a broker could do: it copies the headers and the body on their way in and on their way out, confirms with
 * a promise, and knows no exchange, no limit and no second consumer.
 *
 * @module
 */
import { memoryBroker } from "../adapters/memory/mod.ts";
import { randomUuid, systemClock } from "../src/clock.ts";
import { openConnection } from "../src/connection.ts";
import type { Outbound } from "../src/message/outbound.ts";
import type { BrokerConnection } from "../src/ports/broker.ts";
import { topology } from "../src/topology/topology.ts";
import { BODY, CONTENT_TYPE, messageHeaders } from "./_clients/client.ts";
import { type Contestant, keepInFlight, roundsFromArguments, runRounds, type Sample, Stopwatch } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";
import type { QueueKind } from "./_queues.ts";

/** Messages of a round; on the order of a second. */
const MESSAGES = 100_000;

/** Publishes that wait for their confirm, and deliveries that wait for their acknowledgement, at most. */
const WINDOW = 256;

const QUEUE = "bench.memory";

/** 100,000 messages a second on one core. */
const BUDGET: Budget = { cpuUs: 10 };

/** Different messages, so that no runtime can take one answer for all. */
const OUTBOUNDS: readonly Outbound[] = Array.from({ length: 64 }, () => {
  const messageId = randomUuid();
  return {
    exchange: "",
    routingKey: QUEUE,
    body: BODY,
    contentType: CONTENT_TYPE,
    messageId,
    headers: messageHeaders(messageId, QUEUE, 1),
    persistent: true,
    mandatory: true,
  };
});

/** Somebody who publishes, and calls back for every message that has arrived and is acknowledged. */
interface Path extends Contestant {
  readonly publish: (index: number) => Promise<unknown>;
  /** Called with the bytes of every body; set for each round. */
  onMessage: (bodyBytes: number) => void;
}

function bare(): Path {
  const waiting: { readonly headers: object; readonly body: Uint8Array }[] = [];
  const path: Path = { name: BARE, publish, onMessage: () => {} };
  function publish(index: number): Promise<unknown> {
    const { headers, body } = OUTBOUNDS[index & 63] as Outbound;
    waiting.push({ headers: { ...headers }, body: body.slice() });
    if (waiting.length === 1) queueMicrotask(deliver);
    return Promise.resolve({ outcome: "confirmed" });
  }
  function deliver(): void {
    for (const { headers, body } of waiting.splice(0)) {
      const message = { headers: { ...headers }, body: body.slice() };
      path.onMessage(message.body.byteLength);
    }
  }
  return path;
}

async function port(type: QueueKind): Promise<Path> {
  const broker = await memoryBroker().open({ name: "bench", clock: systemClock(), onEvent: () => {} });
  await declare(broker, type);
  const path: Path = {
    name: OURS,
    publish: (index) => broker.publish(OUTBOUNDS[index & 63] as Outbound, { lane: 1, confirm: true }),
    onMessage: () => {},
  };
  await broker.subscribe(QUEUE, {
    prefetch: WINDOW,
    consumerTag: "bench",
    onDelivery: (delivery) => {
      delivery.settle("ack");
      path.onMessage(delivery.message.body.byteLength);
    },
    onLost: () => {},
    onRecovered: () => {},
  });
  return path;
}

async function library(type: QueueKind): Promise<Path> {
  const mq = await openConnection(memoryBroker(), { name: "bench", codec: "bytes" });
  await mq.declare(topology().queue(QUEUE, { type }));
  const publisher = mq.publisher<Uint8Array>("", QUEUE);
  const path: Path = { name: OURS, publish: () => publisher.send(BODY), onMessage: () => {} };
  await mq.consume<Uint8Array>(QUEUE, ({ payload }) => path.onMessage(payload.byteLength), { prefetch: WINDOW });
  return path;
}

async function declare(broker: BrokerConnection, type: QueueKind): Promise<void> {
  const spec = {
    name: QUEUE,
    durable: true,
    exclusive: false,
    autoDelete: false,
    arguments: { "x-queue-type": type },
  };
  await broker.declareQueue(spec);
}

/** From the first publish to the last confirm and the last delivery. */
async function round(path: Path): Promise<Sample> {
  let seen = 0;
  let bytes = 0;
  let sent = 0;
  const stopwatch = new Stopwatch();
  const consumed = new Promise<void>((resolve) => {
    path.onMessage = (bodyBytes) => {
      bytes += bodyBytes;
      if (++seen === MESSAGES) resolve();
    };
  });
  stopwatch.start();
  await keepInFlight(() => path.publish(sent++), { messages: MESSAGES, window: WINDOW });
  await consumed;
  const sample = stopwatch.stop(MESSAGES);
  if (bytes !== MESSAGES * BODY.byteLength) {
    throw new Error(`Cannot count the round of ${path.name}: ${seen} messages had ${bytes} bytes`);
  }
  return sample;
}

const CASES: readonly { readonly name: string; readonly open: () => Promise<Path>; readonly budget: Budget }[] = [
  { name: "port, classic, window 256", open: () => port("classic"), budget: BUDGET },
  { name: "port, quorum, window 256", open: () => port("quorum"), budget: BUDGET },
  { name: "library, quorum, window 256", open: () => library("quorum"), budget: {} },
];

for (const { name, open, budget } of CASES) {
  const samples = await runRounds([await open(), bare()], { rounds: roundsFromArguments() }, round);
  const measured = { bench: "memory", case: name, budget };
  console.log(JSON.stringify(lineOf(measured, "messages/s", samples)));
  console.log(JSON.stringify(lineOf(measured, "us CPU/message", samples)));
}
