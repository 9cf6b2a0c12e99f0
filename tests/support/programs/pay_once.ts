/**
 * A program of its own: pays for every message of the queue it is told, once, as a row in the transaction of the message's record.
 *
 * At the point it is told it prints a line, waits there for a line of input, and goes on. It ends when its input does.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { amqpBroker } from "../../../adapters/amqp/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import type { Message } from "../../../src/message/message.ts";
import type { IdempotencyStore } from "../../../src/ports/idempotency_store.ts";
import { openSharedClaims } from "../shared_claims.ts";
import { deferred } from "../until.ts";

const [url = "", queue = "", address = "", point = "", claimTimeoutMs = ""] = process.argv.slice(2);
const [goOn, over] = [deferred(), deferred()];
createInterface({ input: process.stdin }).on("line", () => goOn.resolve()).on("close", () => over.resolve());

const say = (what: string, id: string): void => console.log(JSON.stringify({ what, id, at: Date.now() }));

/** Nothing of the consumer goes on while its handler, or its store, waits here. */
async function passes(here: string, id: string): Promise<void> {
  if (here !== point) return;
  say("point", id);
  await goOn.promise;
}

const claims = openSharedClaims(address, { claimTimeoutMs: Number(claimTimeoutMs), inProgressDelayMs: 100 });
const { session, store } = claims;

/** The store, with a point on either side of the confirmation. */
const confirming: IdempotencyStore = {
  claimTimeoutMs: store.claimTimeoutMs,
  retentionMs: store.retentionMs,
  inProgressDelayMs: store.inProgressDelayMs,
  check: (options) => store.check(options),
  tryClaim: (id, options) => store.tryClaim(id, options),
  confirm: async (id, token, options) => {
    await passes("before the confirmation", id);
    const fate = await store.confirm(id, token, options);
    await passes("before the acknowledgement", id);
    return fate;
  },
  release: (id, token, options) => store.release(id, token, options),
  renew: (id, token, options) => store.renew(id, token, options),
  isConfirmed: (id, options) => store.isConfirmed(id, options),
  purgeExpired: (options) => store.purgeExpired(options),
  count: (options) => store.count(options),
};

async function pay(message: Message): Promise<void> {
  const { id } = message.envelope;
  say("handling", id);
  await passes("before the work", id);
  await session.transaction(async (tx) => {
    await claims.work(tx, id);
    await passes("before the record", id);
    await store.onceWithin(tx, message);
    await passes("before the commit", id);
  });
}

const mq = await openConnection(amqpBroker(url));
await mq.consume(queue, pay, { idempotency: confirming, prefetch: 1 });
await over.promise;
await mq.close();
await claims.close();
