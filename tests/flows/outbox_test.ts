/** Outboxes on a real broker: what is in the queue, what is left in the table, and what a failure costs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryIdempotencyStore, type MemoryOutboxStore, memoryOutboxStore } from "../../adapters/memory/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { postgresOutboxStore, postgresSession } from "../../adapters/postgres/mod.ts";
import { StoreError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { OutboxStore } from "../../src/ports/outbox_store.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { FaultyOutbox } from "../support/faulty_outbox.ts";
import { idsOf, outboundOf } from "../support/outbox_world.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { deferred, until } from "../support/until.ts";

const skip = await missing("rabbitmq");
const skipPostgres = skip || await missing("postgresql");
const PREFIX = "acemq-outbox";
const HOUR_MS = 3_600_000;

/** Adds a message for each id in one transaction. */
async function add(
  outbox: MemoryOutboxStore,
  ids: readonly string[],
  { key, ...to }: Partial<Outbound> & { readonly key?: string },
): Promise<void> {
  const messages = ids.map((id) => outboundOf(id, to));
  await outbox.transaction((tx) => outbox.addAll(tx, messages, { orderingKey: key }));
}

/** Takes everything off a queue that holds so many messages: their ids. */
async function taken(scene: RabbitScene, queue: string, count: number): Promise<string[]> {
  await scene.depth(queue, count);
  const ids: string[] = [];
  for (let left = count; left > 0; left--) {
    ids.push(String((await scene.bare.take(queue)).properties["message-id"]));
  }
  return ids;
}

/** Waits until nothing is left to publish. */
async function drained(outbox: Pick<OutboxStore, "stats">): Promise<void> {
  await until("an empty outbox", async () => (await outbox.stats()).pending === 0);
}

describe("an outbox on RabbitMQ", () => {
  for (const confirms of [true, false]) {
    it(
      `keeps a row that no queue took until one is bound, confirms ${
        confirms ? "on" : "off"
      } [OBX-02, OB-43, PUB-01, PUB-02]`,
      { skip },
      () =>
        onRabbit(PREFIX, async (scene) => {
          const mq = await scene.connect({ confirms });
          const [exchange, queue] = [scene.bare.exchangeName("events"), await scene.bare.queue("q")];
          await scene.bare.once((channel) => channel.assertExchange(exchange, "topic"));
          const outbox = memoryOutboxStore();
          await add(outbox, ["a"], { exchange, routingKey: "order.placed" });
          const relay = mq.relay(outbox, { pollIntervalMs: 50 });
          assert.deepEqual(await relay.runOnce(), { published: 0, failed: 1, remaining: 1 });
          await scene.bare.once((channel) => channel.bindQueue(queue, exchange, "order.*"));
          const running = await relay.start();
          await drained(outbox);
          assert.deepEqual(await taken(scene, queue, 1), ["a"]);
          await running.close();
        }),
    );
  }

  it(
    "publishes what is added here within moments of the commit, though it polls once an hour",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const mq = await scene.connect();
        const queue = await scene.bare.queue("q");
        const outbox = memoryOutboxStore();
        const running = await mq.relay(outbox, { pollIntervalMs: HOUR_MS }).start();
        for (const id of idsOf("m", 20)) {
          await outbox.transaction((tx) => outbox.add(tx, outboundOf(id, { routingKey: queue })));
          await drained(outbox);
        }
        assert.deepEqual(await taken(scene, queue, 20), idsOf("m", 20));
        await running.close();
      }),
  );

  it(
    "spends an attempt of the one message the broker closes the channel over, and not of those in flight beside it",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const mq = await scene.connect();
        const queue = await scene.bare.queue("q");
        const outbox = memoryOutboxStore({ maxAttempts: 3 });
        await add(outbox, idsOf("before", 50), { routingKey: queue });
        await add(outbox, ["guilty"], { exchange: scene.bare.exchangeName("missing") });
        await add(outbox, idsOf("behind", 50), { routingKey: queue });
        const running = await mq.relay(outbox, { pollIntervalMs: 20 }).start();
        await until("the guilty row to be retired", async () => (await outbox.stats()).retired === 1);
        await until("the others to be published", async () => (await outbox.stats()).pending === 1);
        for await (const { id, lastError = "" } of outbox.retired()) {
          assert.equal(id, "guilty");
          assert.match(lastError, /^refused: 404 NOT_FOUND/);
        }
        assert.equal(scene.sink.count("acemq.outbox.total", { outcome: "failed" }), 3);
        assert.equal(scene.sink.count("acemq.outbox.total", { outcome: "published" }), 100);
        const depth = await scene.bare.depth(queue) ?? 0;
        // Those in flight when the channel was closed for the first time may have arrived before: once more, and no more often.
        assert.ok(depth >= 100 && depth <= 200, `${depth} messages`);
        const ids = new Set(await taken(scene, queue, depth));
        assert.deepEqual([...ids].sort(), [...idsOf("before", 50), ...idsOf("behind", 50)].sort());
        await running.close();
      }),
  );

  it(
    "counts a broker's nack as an attempt, and goes on when there is room [PUB-03]",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const mq = await scene.connect();
        const queue = await scene.bare.queue("full", { "x-max-length": 1, "x-overflow": "reject-publish" });
        await scene.bare.put(queue, "in the way");
        const outbox = memoryOutboxStore();
        await add(outbox, ["a"], { routingKey: queue });
        const relay = mq.relay(outbox, { pollIntervalMs: 10 });
        assert.deepEqual(await relay.runOnce(), { published: 0, failed: 1, remaining: 1 });
        await scene.bare.take(queue);
        const running = await relay.start();
        await drained(outbox);
        assert.deepEqual(await taken(scene, queue, 1), ["a"]);
        await running.close();
      }),
  );

  it(
    "spends no attempt on a connection that is cut again and again, and publishes everything when it stands [OB-18, OB-21]",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const proxy = await TcpProxy.open(AMQP_URL);
        try {
          const mq = await scene.connect({ url: proxy.url });
          const queue = await scene.bare.queue("q");
          const outbox = memoryOutboxStore({ maxAttempts: 1 });
          const running = await mq.relay(outbox, { pollIntervalMs: HOUR_MS, batchSize: 10 }).start();
          for (let round = 0; round < 8; round++) {
            await add(outbox, idsOf(`r${round}`, 50), { routingKey: queue });
            proxy.cut();
            await until("the connection to be back", async () => (await mq.health()).status !== "down");
          }
          await drained(outbox);
          const wanted = Array.from({ length: 8 }, (_, round) => idsOf(`r${round}`, 50)).flat();
          const found = new Set(await taken(scene, queue, await settledDepth(scene, queue)));
          assert.deepEqual([...found].sort(), [...wanted].sort());
          assert.equal(scene.sink.count("acemq.outbox.total", { outcome: "failed" }), 0);
          await running.close();
        } finally {
          await proxy.close();
        }
      }),
  );

  it(
    "has one effect though its relay dies between publish and mark: both copies have one id [OBX-06]",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const mq = await scene.connect();
        const queue = await scene.bare.queue("q");
        const outbox = memoryOutboxStore();
        const dying = new FaultyOutbox(outbox);
        const dead = deferred();
        dying.before = async (call) => {
          if (call !== "markPublished") return;
          await first.close({ budget: AbortSignal.abort() });
          dead.resolve();
          throw new StoreError("the process is gone");
        };
        await add(outbox, ["a"], { routingKey: queue });
        const first = await mq.relay(dying, { leaseMs: 2_000 }).start();
        await dead.promise;
        await scene.depth(queue, 1);
        const second = await mq.relay(outbox, { pollIntervalMs: 50 }).start();
        await scene.depth(queue, 2);
        await drained(outbox);
        let handled = 0;
        await mq.consume(queue, () => void handled++, { idempotency: memoryIdempotencyStore(), codec: "bytes" });
        await mq.idle();
        assert.equal(handled, 1);
        await second.close();
      }),
  );

  it(
    "publishes each row once with four relays on connections of their own, in the order of its key [OB-01, OBX-07]",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const queue = await scene.bare.queue("q");
        const outbox = memoryOutboxStore();
        const keys = ["a", "b", "c", "d", "e"];
        for (const key of keys) await add(outbox, idsOf(key, 100), { key, routingKey: queue });
        const relays = await Promise.all([1, 2, 3, 4].map(async () => {
          const mq = await scene.connect();
          return await mq.relay(outbox, { mode: "in_order", batchSize: 20, pollIntervalMs: 20 }).start();
        }));
        await drained(outbox);
        const ids = await taken(scene, queue, 500);
        for (const key of keys) assert.deepEqual(ids.filter((id) => id.startsWith(key)), idsOf(key, 100));
        for (const relay of relays) await relay.close();
      }),
  );
});

describe("a relayed message", () => {
  /** Adds what a publisher makes through a store over SQL, and takes it and the same message, sent, off the queue. */
  async function compare(
    scene: RabbitScene,
    { store, session }: { readonly store: OutboxStore<SqlSession>; readonly session: SqlSession },
  ): Promise<void> {
    const mq = await scene.connect();
    const queue = await scene.bare.queue("q");
    const placed = mq.publisher("", queue);
    const options = { messageId: "m-1", headers: { tenant: "acme", count: 3, big: 2 ** 40, ratio: 1.5, flag: true } };
    const outbound = await placed.prepare({ id: "A-1", text: "Zoë \u0000 ☃" }, options);
    await placed.sendPrepared(outbound);
    await session.transaction((tx) => store.add(tx, outbound));
    assert.deepEqual(await mq.relay(store).runOnce(), { published: 1, failed: 0, remaining: 0 });
    const [sent, relayed] = [await scene.bare.take(queue), await scene.bare.take(queue)];
    assert.deepEqual(relayed.body, sent.body);
    assert.deepEqual(relayed.properties, sent.properties);
    const sorted = (headers: typeof sent.headers) => [...headers].sort(([one], [other]) => one < other ? -1 : 1);
    assert.deepEqual(sorted(relayed.headers), sorted(sent.headers));
  }

  it(
    "is byte for byte what a direct publish sends, kinds of headers included, from SQLite [OBX-09, OBX-10]",
    { skip },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const file = sqliteFile();
        try {
          const store = sqliteOutboxStore(file.open());
          await store.createSchemaIfAbsent();
          await compare(scene, { store, session: sqliteSession(file.open()) });
        } finally {
          await scene.quit();
          file.close();
        }
      }),
  );

  it(
    "is byte for byte what a direct publish sends, kinds of headers included, from PostgreSQL [OBX-09, OBX-10]",
    { skip: skipPostgres },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const tables = await scratch();
        try {
          const sql = tables.postgresJs();
          const store = postgresOutboxStore(sql);
          await store.createSchemaIfAbsent();
          await compare(scene, { store, session: postgresSession(sql) });
        } finally {
          await scene.quit();
          await tables.close();
        }
      }),
  );

  it(
    "leaves PostgreSQL once, with two relays while eight transactions write at a time, and in the order of its key [OB-10, OBX-07]",
    { skip: skipPostgres },
    () =>
      onRabbit(PREFIX, async (scene) => {
        const tables = await scratch();
        try {
          const sql = tables.postgresJs({ max: 10 });
          const store = postgresOutboxStore(sql);
          await store.createSchemaIfAbsent();
          const queue = await scene.bare.queue("q");
          const relays = await Promise.all([1, 2].map(async () => {
            const mq = await scene.connect();
            return await mq.relay(postgresOutboxStore(tables.postgresJs()), { mode: "in_order", pollIntervalMs: 20 })
              .start();
          }));
          const session = postgresSession(sql);
          const write = async (key: string): Promise<void> => {
            for (const id of idsOf(key, 25)) {
              await session.transaction(async (tx) => {
                await store.add(tx, outboundOf(id, { routingKey: queue }), { orderingKey: key });
              });
            }
          };
          const keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
          await Promise.all(keys.map(write));
          await drained(store);
          const ids = await taken(scene, queue, 200);
          for (const key of keys) assert.deepEqual(ids.filter((id) => id.startsWith(key)), idsOf(key, 25));
          for (const relay of relays) await relay.close();
        } finally {
          await scene.quit();
          await tables.close();
        }
      }),
  );
});

/** How many messages there are once no more come: the broker counts a little late. */
async function settledDepth(scene: RabbitScene, queue: string): Promise<number> {
  let last = -1;
  return await until("a depth that stays", async () => {
    const depth = await scene.bare.depth(queue) ?? 0;
    const stays = depth === last && depth > 0;
    last = depth;
    return stays ? depth : false;
  });
}
