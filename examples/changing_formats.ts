/**
 * A queue that goes from JSON to Avro and never stands still: orders are sent all the while, two services read them, and each of them is
 * handled once.
 *
 * What a service reads is changed first, then what is written, and the old format goes when nothing of it is left. The broker is in
 * memory, the schemas stand in a SQLite file. Every count is asserted, so that the exit code is 1 when an order is lost, or set aside
 * where none may be.
 *
 *     deno run --allow-read --allow-write --allow-env examples/changing_formats.ts
 *
 * @module
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { avroDefinition, registeredAvroCodec } from "@acemq/amqp/avro";
import {
  type Codec,
  compositeCodec,
  connect,
  type Connection,
  type Consumer,
  jsonCodec,
  type Publisher,
  systemClock,
  topology,
} from "@acemq/amqp/core";
import { type MemoryBroker, memoryBroker } from "@acemq/amqp/memory";
import { sqliteSchemaRegistry, type SqlSchemaRegistry } from "@acemq/amqp/sqlite";

interface Order {
  readonly id: string;
  readonly totalCents: number;
}

const QUEUE = "orders.new";
const SUBJECT = "order.placed";
const SCHEMA = {
  type: "record",
  name: "Order",
  namespace: "shop",
  fields: [{ name: "id", type: "string" }, { name: "totalCents", type: "long" }],
};

/** A replica that reads the queue, and can be started anew with another codec. */
class Reader {
  readonly #mq: Connection;
  readonly #handled: string[];
  #consumer: Consumer<Order> | undefined;

  constructor(mq: Connection, handled: string[]) {
    this.#mq = mq;
    this.#handled = handled;
  }

  /** What it has in hand is handled; what it has not is the other replica's. */
  async restart(codec: Codec<Order>): Promise<void> {
    await this.#consumer?.close();
    const handle = (
      { payload, contentType }: { readonly payload: Order; readonly contentType: string | undefined },
    ) => {
      this.#handled.push(`${payload.id} as ${contentType}`);
    };
    this.#consumer = await this.#mq.consume<Order>(QUEUE, handle, { codec, prefetch: 2 });
  }
}

/** The shop: orders are placed by whoever writes, and counted by their format when they are handled. */
class Shop {
  readonly handled: string[] = [];
  readonly mq: Connection;
  readonly readers: readonly Reader[];
  readonly #broker: MemoryBroker;
  #placed = 0;

  private constructor(broker: MemoryBroker, mq: Connection) {
    this.#broker = broker;
    this.mq = mq;
    this.readers = [new Reader(mq, this.handled), new Reader(mq, this.handled)];
  }

  static async open(): Promise<Shop> {
    const broker = memoryBroker();
    const mq = await connect(broker);
    await mq.declare(topology().queue(QUEUE, { deadLetter: true }));
    return new Shop(broker, mq);
  }

  async place(publisher: Publisher<Order>, count = 4): Promise<void> {
    for (let one = 0; one < count; one++) {
      await publisher.send({ id: `A-${++this.#placed}`, totalCents: 1_250 });
    }
  }

  /** Waits until nothing waits and nobody has anything in hand; says what was handled since, by format. */
  async report(step: string): Promise<void> {
    const isBusy = (): boolean => {
      const { waiting, unsettled } = this.#broker.inspect(QUEUE) ?? { waiting: [], unsettled: 0 };
      return waiting.length > 0 || unsettled > 0;
    };
    while (isBusy()) await systemClock().delay(5);
    const count = (type: string): number => this.handled.filter((one) => one.endsWith(` as ${type}`)).length;
    const [json, avro] = [count("application/json"), count("application/vnd.acemq.avro")];
    console.log(`${step}: ${json} as JSON, ${avro} as Avro, ${await this.setAside()} set aside`);
  }

  /** Messages that lie beside the queue: some of them may still be in the old format. */
  async setAside(): Promise<number> {
    let count = 0;
    for (const from of ["dlq", "parked"] as const) {
      for await (const _ of this.mq.peek(QUEUE, { from })) count++;
    }
    return count;
  }

  /** Every order once. */
  assertComplete(): void {
    const ids = this.handled.map((one) => one.split(" ")[0]);
    assert.equal(ids.length, this.#placed);
    assert.equal(new Set(ids).size, this.#placed);
  }
}

/** The schema is registered by the build, before anything writes with it. */
async function register(registry: SqlSchemaRegistry): Promise<void> {
  await registry.createSchemaIfAbsent(); // development only
  const { id } = await registry.register(SUBJECT, avroDefinition(SCHEMA), { compatibility: "backward" });
  console.log(`registered "${SUBJECT}" with id ${id}`);
}

async function migrate(registry: SqlSchemaRegistry): Promise<void> {
  const json: Codec<Order> = jsonCodec();
  const avro = registeredAvroCodec<Order>(registry, { subject: SUBJECT, schema: SCHEMA, register: false });
  const both = compositeCodec([json, avro]);
  const shop = await Shop.open();
  const writers = {
    json: shop.mq.publisher<Order>("", QUEUE),
    avro: shop.mq.publisher<Order>("", QUEUE, { codec: avro }),
  };
  const [first, second] = shop.readers;
  assert.ok(first !== undefined && second !== undefined);

  for (const reader of shop.readers) await reader.restart(json);
  await shop.place(writers.json);
  await shop.report("before");

  // Somebody was too early: no reader knows the format yet, so it is set aside, and nothing is lost.
  await shop.place(writers.avro, 1);
  await shop.report("a writer that goes first");

  // Readers first, one replica after the other.
  await Promise.all([shop.place(writers.json), first.restart(both)]);
  await Promise.all([shop.place(writers.json), second.restart(both)]);
  await shop.mq.replay(QUEUE, { from: "parked" });
  await shop.report("every reader has both");

  // Then writers; for a while there are some of either kind.
  await Promise.all([shop.place(writers.json), shop.place(writers.avro)]);
  await shop.place(writers.avro);
  await shop.report("every writer has Avro");

  // The old format goes when nothing of it waits: in the queue, on a rung of its retries, or set aside.
  assert.equal(await shop.setAside(), 0);
  for (const reader of shop.readers) await reader.restart(avro);
  await shop.place(writers.avro);
  await shop.report("without JSON");

  shop.assertComplete();
  await shop.mq.close();
}

const folder = mkdtempSync(join(tmpdir(), "acemq-formats-"));
const database = new DatabaseSync(join(folder, "schemas.sqlite"));
try {
  const registry = sqliteSchemaRegistry(database);
  await register(registry);
  await migrate(registry);
} finally {
  database.close();
  rmSync(folder, { recursive: true });
}
