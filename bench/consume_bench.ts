/**
 * What does it cost to consume through the library rather than through the bare client?
 *
 * Each client takes the same number of waiting 1 KB messages off a queue, with a prefetch of 100 and one acknowledgement a message.
 *
 * @module
 */
import { openClients } from "./_clients/all.ts";
import { openBare } from "./_clients/bare.ts";
import { type BenchClient, BODY } from "./_clients/client.ts";
import { keepInFlight, roundsFromArguments, runRounds, type Sample, Stopwatch } from "./_harness.ts";
import { type Budget, lineOf } from "./_line.ts";
import { Queues } from "./_queues.ts";

/** Messages of a round: about a second's worth. */
const MESSAGES = 15_000;

/** How many are on their way at once while the queue is filled. */
const FILL_WINDOW = 256;

const BUDGET: Budget = { cpuOverBareUs: 8, rateToBare: 0.95, aheadOf: "rabbitmq-client" };

/**
 * From the first delivery to the last acknowledgement; subscribing and leaving are not counted. What a quorum queue has taken back
 * from the client before may come on top of what it was filled with, and is left there.
 */
async function consumeRound(client: BenchClient, queue: string): Promise<Sample> {
  const stopwatch = new Stopwatch();
  let seen = 0;
  let bytes = 0;
  let resolve = (_sample: Sample): void => {};
  const measured = new Promise<Sample>((done) => resolve = done);
  const receiver = await client.openReceiver(queue, (bodyBytes) => {
    if (seen === 0) stopwatch.start();
    bytes += bodyBytes;
    if (++seen === MESSAGES) resolve(stopwatch.stop(MESSAGES));
  });
  const sample = await measured;
  await receiver.close();
  if (bytes !== seen * BODY.byteLength) {
    throw new Error(`Cannot count the round of ${client.name}: ${seen} messages had ${bytes} bytes`);
  }
  return sample;
}

async function main(): Promise<void> {
  const queues = await Queues.open();
  const clients = await openClients();
  const filler = await openBare();
  try {
    for (const kind of ["classic", "quorum"] as const) {
      const queue = await queues.declare("consume", kind);
      const sender = await filler.openSender(queue, { persistent: true });
      const samples = await runRounds(clients, { rounds: roundsFromArguments() }, async (client) => {
        await queues.purge(queue);
        await keepInFlight(sender.send, { messages: MESSAGES, window: FILL_WINDOW });
        return await consumeRound(client, queue);
      });
      const measured = { bench: "consume", case: `${kind}, prefetch 100`, budget: BUDGET };
      console.log(JSON.stringify(lineOf(measured, "messages/s", samples)));
      console.log(JSON.stringify(lineOf(measured, "us CPU/message", samples)));
    }
  } finally {
    await queues.close();
    for (const client of [...clients, filler]) await client.close();
  }
}

await main();
