/** Somebody ends the handle of a database while a relay works on it: the relay says so, waits, and can still be closed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { postgresOutboxStore } from "../../adapters/postgres/mod.ts";
import { sqliteOutboxStore } from "../../adapters/sqlite/mod.ts";
import { openConnection } from "../../src/connection.ts";
import { topology } from "../../src/topology/topology.ts";
import type { OutboxStore } from "../../src/ports/outbox_store.ts";
import { outboundOf, QUEUE } from "../support/outbox_world.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { Complaints } from "../support/residue.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";
import { until } from "../support/until.ts";

const skip = await missing("postgresql");

const POLL_MS = 20;

/** A store over a handle of its own, and the handle's end. */
interface Ending {
  readonly store: OutboxStore<never> & { createSchemaIfAbsent(): Promise<void> };
  readonly add: (id: string) => Promise<void>;
  readonly end: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const HANDLES: Readonly<Record<string, { readonly skip: string | false; readonly open: () => Promise<Ending> }>> = {
  "node:sqlite": {
    skip: false,
    open: async () => {
      const file = sqliteFile();
      const database = file.open();
      const store = sqliteOutboxStore(database);
      const add = (id: string): Promise<void> => store.add(database, outboundOf(id), { outsideTransaction: true });
      return { store, add, end: async () => database.close(), close: async () => file.close() };
    },
  },
  "postgres": {
    skip,
    open: async () => {
      const place = await scratch();
      const sql = place.postgresJs();
      const store = postgresOutboxStore(sql);
      const add = (id: string): Promise<void> => store.add(sql, outboundOf(id), { outsideTransaction: true });
      return { store, add, end: () => sql.end({ timeout: 5 }), close: place.close };
    },
  },
  "pg": {
    skip,
    open: async () => {
      const place = await scratch();
      const pool = place.pool();
      const store = postgresOutboxStore(pool);
      const add = (id: string): Promise<void> => store.add(pool, outboundOf(id), { outsideTransaction: true });
      return { store, add, end: () => pool.end(), close: place.close };
    },
  },
};

for (const [name, { skip, open }] of Object.entries(HANDLES)) {
  describe(`a relay whose handle of '${name}' is ended by somebody`, () => {
    it("says that its store is away, and closes", { skip, timeout: 60_000 }, async () => {
      const complaints = new Complaints();
      const { store, add, end, close } = await open();
      await store.createSchemaIfAbsent();
      const sink = new RecordingSink();
      const mq = await openConnection(memoryBroker(), { telemetry: sink });
      await mq.declare(topology().queue(QUEUE));
      let ending: Promise<unknown> | undefined;
      const running = await mq.relay(store, { pollIntervalMs: POLL_MS }).start();
      try {
        await add("a");
        await until("the row to leave", async () => (await store.stats()).pending === 0);
        ending = end();
        await until("the relay to say it", () => sink.events("acemq.outbox.store_away").length > 0);
        await until("health to say it", async () => (await mq.health()).status !== "up");
        assert.equal(sink.events("acemq.outbox.store_away").length, 1);
        await assert.rejects(add("b"), { code: "ACEMQ_STORE" });
      } finally {
        await running.close({ signal: AbortSignal.timeout(10_000) });
        // That of a pool of pg waits for the connection that listens.
        await ending;
        await mq.close();
        await close();
        complaints.close();
      }
      assert.deepEqual(complaints.heard, []);
    });
  });
}
