/**
 * Who moves rows: the two halves of a relay's work, each alone, and the relay.
 *
 * @module
 */
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import type { Connection } from "../../src/connection.ts";
import { systemClock } from "../../src/clock.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { BrokerConnection } from "../../src/ports/broker.ts";
import { AMQP_URL } from "../_clients/client.ts";
import { type Contestant, keepInFlight, type Sample, Stopwatch } from "../_harness.ts";
import type { BenchOutbox } from "./stores.ts";

/** Moves everything there is; what goes before is not counted. */
export interface Mover extends Contestant {
  readonly move: () => Promise<Sample>;
}

/** Somebody else's queue. */
export interface Peer extends Mover {
  readonly close: () => Promise<void>;
}

/** Rows of a claim: a relay's default. */
const BATCH = 100;

/** Messages in flight: a relay's own. */
const WINDOW = 256;

const LEASE_MS = 60_000;

/** Longer than any turn. */
const BUDGET_MS = 300_000;

/** The database's half: claims a batch and marks it, one after the other. */
export function claimer(name: string, { store, fill }: BenchOutbox, rows: readonly Outbound[]): Mover {
  const claim = () => store.claim({ limit: BATCH, leaseMs: LEASE_MS, mode: "continue", onRetired: "release" });
  return {
    name,
    move: async () => {
      await fill(rows);
      const stopwatch = new Stopwatch();
      stopwatch.start();
      let marked = 0;
      for (let batch = await claim(); batch.rows.length > 0; batch = await claim()) {
        marked += await store.markPublished(batch.token, batch.rows.map(({ id }) => id));
      }
      return counted(stopwatch.stop(rows.length), { name, found: marked, wanted: rows.length });
    },
  };
}

/** A connection for publishing alone. */
export async function openLink(): Promise<BrokerConnection> {
  return await amqpBroker(AMQP_URL).open({ name: "bench-publisher", clock: systemClock(), onEvent: () => {} });
}

/** The broker's half: publishes what a row would hold, and waits for the confirms. */
export function sender(name: string, link: BrokerConnection, rows: readonly Outbound[]): Mover {
  const send = async (outbound: Outbound | undefined): Promise<void> => {
    if (outbound === undefined) throw new Error("Cannot count the turn: there are more messages than rows");
    const receipt = await link.publish(outbound, { lane: 1, confirm: true });
    if (receipt.outcome !== "confirmed") throw new Error(`Cannot count the turn: a message was ${receipt.outcome}`);
  };
  return {
    name,
    move: async () => {
      let next = 0;
      const stopwatch = new Stopwatch();
      stopwatch.start();
      await keepInFlight(() => send(rows[next++]), { messages: rows.length, window: WINDOW });
      return stopwatch.stop(rows.length);
    },
  };
}

/** Both at once: a relay with its defaults. */
export function relay(name: string, mq: Connection, { outbox, rows }: {
  readonly outbox: BenchOutbox;
  readonly rows: readonly Outbound[];
}): Mover {
  return {
    name,
    move: async () => {
      await outbox.fill(rows);
      const stopwatch = new Stopwatch();
      stopwatch.start();
      const { published } = await mq.relay(outbox.store).runOnce({ budgetMs: BUDGET_MS });
      return counted(stopwatch.stop(rows.length), { name, found: published, wanted: rows.length });
    },
  };
}

/** A turn in which something is missing says nothing. */
export function counted(
  sample: Sample,
  { name, found, wanted }: { readonly name: string; readonly found: number; readonly wanted: number },
): Sample {
  if (found === wanted) return sample;
  throw new Error(`Cannot count the turn of ${name}: it moved ${found} of ${wanted} rows`);
}
