/**
 * Every function of the public interface that takes an object of options looks at it: an option that there is not is refused, and
 * so is one of another kind. Which functions there are, and which options they have, is read from the sources.
 */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { avroCodec, registeredAvroCodec } from "../adapters/avro/mod.ts";
import {
  memoryBroker,
  memoryClaimCheckStore,
  memoryIdempotencyStore,
  memoryOutboxStore,
  memorySchemaRegistry,
  virtualClock,
} from "../adapters/memory/mod.ts";
import {
  postgresIdempotencyStore,
  postgresOutboxStore,
  postgresSchemaRegistry,
  postgresSession,
} from "../adapters/postgres/mod.ts";
import { fileClaimCheckStore } from "../adapters/filesystem/mod.ts";
import { idempotencySchemaSql, outboxOrderingSql, outboxSchemaSql, registrySchemaSql } from "../adapters/sql/mod.ts";
import { tomlCodec } from "../adapters/toml/mod.ts";
import { xmlCodec } from "../adapters/xml/mod.ts";
import { yamlCodec } from "../adapters/yaml/mod.ts";
import { protobufCodec } from "../adapters/protobuf/mod.ts";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  sqliteIdempotencyStore,
  sqliteOutboxStore,
  sqliteSchemaRegistry,
  sqliteSession,
  type SqlSchemaRegistry,
} from "../adapters/sqlite/mod.ts";
import { amqpBroker, connect } from "../connect.ts";
import type { Connection } from "../src/connection.ts";
import { randomUuid } from "../src/clock.ts";
import { openConnection } from "../src/connection.ts";
import { claimCheckCodec } from "../src/codec/claim_check.ts";
import { jsonCodec } from "../src/codec/json.ts";
import { keyring } from "../src/codec/keyring.ts";
import { streamCodec } from "../src/codec/stream.ts";
import { accept, retry } from "../src/consume/ack.ts";
import { SecurityError } from "../src/errors.ts";
import { jsonLogSink } from "../src/health/json_log_sink.ts";
import { aggregateHealth } from "../src/health/report.ts";
import { newEnvelope } from "../src/message/envelope.ts";
import type { Message } from "../src/message/message.ts";
import type { ClaimCheckStore } from "../src/ports/claim_check_store.ts";
import type { IdempotencyStore } from "../src/ports/idempotency_store.ts";
import type { OutboxStore } from "../src/ports/outbox_store.ts";
import type { SchemaRegistry } from "../src/ports/schema_registry.ts";
import { exponentialRetry, fixedRetry } from "../src/retry/policy.ts";
import { topology } from "../src/topology/topology.ts";
import * as contracts from "./contract/mod.ts";
import { MemoryWorld } from "./support/memory_world.ts";
import { callsWithOptions } from "./support/public_calls.ts";

/** An object of options as a program without types has it. */
type Given = never;

/** A call with these options last. */
interface Call {
  readonly call: (options: Given, scene: Scene) => unknown;
  /** What the call cannot do without. @default {{}} */
  readonly needs?: object;
  /** The call shares the object with somebody else, and leaves names alone that it does not know. @default {false} */
  readonly shares?: boolean;
  /** The call does something that has no place in a test once its options are right. @default {false} */
  readonly acts?: boolean;
  /** Options that take any value. @default {[]} */
  readonly takesAny?: readonly string[];
  /** Names it has only to refuse them in words of their own. @default {[]} */
  readonly refuses?: readonly string[];
}

/** What a call needs around it, in memory, on a clock that stands still. */
class Scene {
  readonly world = new MemoryWorld();
  readonly #databases: DatabaseSync[] = [];
  #mq: Promise<Connection> | undefined;

  /** A connection, and a queue with its failure side and a message in it. */
  mq(): Promise<Connection> {
    return this.#mq ??= this.world.withQueue("q", { queue: { deadLetter: true } });
  }

  /** The message, in a handler that has returned. */
  async message(): Promise<Message> {
    const mq = await this.mq();
    this.world.put("q", 1);
    return await new Promise((resolve, reject) => {
      mq.consume("q", (message) => resolve(message)).then(() => this.world.settled()).catch(reject);
    });
  }

  database(): DatabaseSync {
    const database = new DatabaseSync(":memory:");
    this.#databases.push(database);
    return database;
  }

  async sqlSeen(): Promise<IdempotencyStore> {
    const store = sqliteIdempotencyStore(this.database());
    await store.createSchemaIfAbsent();
    return store;
  }

  async sqlOutbox(): Promise<Opened> {
    const tx = this.database();
    const store = sqliteOutboxStore(tx);
    await store.createSchemaIfAbsent();
    return { store: store as OutboxStore, tx };
  }

  async sqlSchemas(): Promise<SqlSchemaRegistry> {
    const registry = sqliteSchemaRegistry(this.database());
    await registry.createSchemaIfAbsent();
    return registry;
  }

  async close(): Promise<void> {
    await this.world.close();
    for (const database of this.#databases) database.close();
  }
}

const CLAIMS = join(tmpdir(), `acemq-options-${randomUuid()}`);
after(() => rmSync(CLAIMS, { recursive: true, force: true }));

const OUTBOUND = {
  exchange: "",
  routingKey: "q",
  headers: {},
  messageId: "m-1",
  persistent: true,
  mandatory: true,
  body: new Uint8Array(),
};

/** A handle of postgres.js whose database is away. */
const SQL = {
  unsafe: () => Promise.reject(new Error("the database is away")),
  begin: () => Promise.reject(new Error("the database is away")),
} as unknown as Parameters<typeof postgresSession>[0];

function ofConnection(call: (mq: Connection, options: Given) => unknown): Call {
  return { call: async (options, scene) => await call(await scene.mq(), options) };
}

/** The calls of a store of claims, under the name of its class. */
function claims(name: string, open: (scene: Scene) => IdempotencyStore | Promise<IdempotencyStore>): [string, Call][] {
  const of = (method: string, call: (store: IdempotencyStore, options: Given) => unknown): [string, Call] => [
    `${name}.${method}`,
    { call: async (options, scene) => await call(await open(scene), options) },
  ];
  return [
    of("check", (store, options) => store.check(options)),
    of("tryClaim", (store, options) => store.tryClaim("a", options)),
    of("confirm", (store, options) => store.confirm("a", "t", options)),
    of("release", (store, options) => store.release("a", "t", options)),
    of("renew", (store, options) => store.renew("a", "t", options)),
    of("isConfirmed", (store, options) => store.isConfirmed("a", options)),
    of("purgeExpired", (store, options) => store.purgeExpired(options)),
    of("count", (store, options) => store.count(options)),
  ];
}

/** The calls of an outbox, under the name of its class. */
function rows(name: string, open: (scene: Scene) => Opened | Promise<Opened>): [string, Call][] {
  const of = (
    method: string,
    call: (opened: Opened, options: Given) => unknown,
    needs: object = {},
  ): [string, Call] => [
    `${name}.${method}`,
    { call: async (options, scene) => await call(await open(scene), options), needs },
  ];
  return [
    of("check", ({ store }, options) => store.check(options)),
    of("add", ({ store, tx }, options) => store.add(tx, OUTBOUND, options), { outsideTransaction: true }),
    of("addAll", ({ store, tx }, options) => store.addAll(tx, [OUTBOUND], options), { outsideTransaction: true }),
    of("claim", ({ store }, options) => store.claim(options), {
      limit: 1,
      leaseMs: 1,
      mode: "continue",
      onRetired: "release",
    }),
    of("markPublished", ({ store }, options) => store.markPublished("t", ["a"], options)),
    of("markFailed", ({ store }, options) => store.markFailed("t", [], options)),
    of("giveBack", ({ store }, options) => store.giveBack("t", ["a"], options)),
    of("retired", ({ store }, options) => store.retired(options)[Symbol.asyncIterator]().next()),
    of("release", ({ store }, options) => store.release("a", options)),
    of("stats", ({ store }, options) => store.stats(options)),
    of("purgePublished", ({ store }, options) => store.purgePublished(options), { olderThanMs: 0 }),
  ];
}

/** The calls of a registry of schemas, under the name of its class. */
function payloads(name: string, open: () => ClaimCheckStore): [string, Call][] {
  const of = (method: string, call: (store: ClaimCheckStore, options: Given) => unknown): [string, Call] => [
    `${name}.${method}`,
    { call: async (options) => await call(open(), options) },
  ];
  return [
    of("put", (store, options) => store.put(new Uint8Array(), options)),
    of("get", (store, options) => store.get("k", options)),
    of("delete", (store, options) => store.delete("k", options)),
    of("exists", (store, options) => store.exists?.("k", options)),
  ];
}

function schemas(
  name: string,
  open: (scene: Scene) => SchemaRegistry | Promise<SchemaRegistry>,
): [string, Call][] {
  const of = (method: string, call: (registry: SchemaRegistry, options: Given) => unknown): [string, Call] => [
    `${name}.${method}`,
    {
      call: async (options, scene) => {
        const registry = await open(scene);
        await registry.register("s", SCHEMA);
        await call(registry, options);
      },
    },
  ];
  return [
    of("byId", (registry, options) => registry.byId(1, options)),
    of("exportSchemas", (registry, options) => registry.exportSchemas(options)),
    of("idFor", (registry, options) => registry.idFor("s", SCHEMA, options)),
    of("importSchemas", (registry, options) => registry.importSchemas([], options)),
    of("latest", (registry, options) => registry.latest("s", options)),
    of("register", (registry, options) => registry.register("s", SCHEMA, options)),
    of("versions", (registry, options) => registry.versions("s", options)),
  ];
}

const SCHEMA = { format: "avro", definition: '"string"' };

/** An outbox, and what stands for a transaction where none is wanted. */
interface Opened {
  readonly store: OutboxStore;
  readonly tx: unknown;
}

const notOpened = (): Promise<never> => Promise.reject(new Error("It was opened"));

const CALLS: Readonly<Record<string, Call>> = {
  "Connection.close": ofConnection((mq, options) => mq.close(options)),
  "Connection.consume": ofConnection((mq, options) => mq.consume("q", accept, options)),
  "Connection.declare": ofConnection((mq, options) => mq.declare(topology().queue("r"), options)),
  "Connection.deliveries": ofConnection(async (mq, options) => {
    const loop = mq.deliveries("q", options);
    await mq.publisher("", "q").send(1);
    await loop.next();
    await loop.return?.();
  }),
  "Connection.events": ofConnection((mq, options) => mq.events(options)),
  "Connection.health": ofConnection((mq, options) => mq.health(options)),
  "Connection.idle": ofConnection((mq, options) => mq.idle(options)),
  "Connection.peek": ofConnection((mq, options) => mq.peek("q", options).next()),
  "Connection.plan": ofConnection((mq, options) => mq.plan(topology().queue("q"), options)),
  "Connection.publisher": ofConnection((mq, options) => mq.publisher("", "q", options)),
  "Connection.relay": ofConnection((mq, options) => mq.relay(memoryOutboxStore(), options)),
  "Connection.replay": ofConnection((mq, options) => mq.replay("q", options)),
  "Connection.validate": ofConnection((mq, options) => mq.validate(topology(), options)),
  "Consumer.close": ofConnection(async (mq, options) => await (await mq.consume("q", accept)).close(options)),
  "Consumer.retune": {
    ...ofConnection(async (mq, options) => await (await mq.consume("q", accept)).retune(options)),
  },
  ...Object.fromEntries(claims("MemoryIdempotencyStore", () => memoryIdempotencyStore())),
  ...Object.fromEntries(claims("SqlIdempotencyStore", (scene) => scene.sqlSeen())),
  ...Object.fromEntries(
    rows("MemoryOutboxStore", () => ({ store: memoryOutboxStore() as OutboxStore, tx: undefined })),
  ),
  ...Object.fromEntries(rows("SqlOutboxStore", (scene) => scene.sqlOutbox())),
  ...Object.fromEntries(payloads("MemoryClaimCheckStore", () => memoryClaimCheckStore())),
  ...Object.fromEntries(payloads("FileClaimCheckStore", () => fileClaimCheckStore(CLAIMS))),
  ...Object.fromEntries(schemas("MemorySchemaRegistry", () => memorySchemaRegistry())),
  ...Object.fromEntries(schemas("SqlSchemaRegistry", (scene) => scene.sqlSchemas())),
  "SqlSchemaRegistry.check": { call: async (options, scene) => await (await scene.sqlSchemas()).check(options) },
  "Message.with": {
    call: async (options, scene) => (await scene.message()).with(options),
    takesAny: ["payload"],
  },
  "Publisher.prepare": ofConnection((mq, options) => mq.publisher("", "q").prepare(1, options)),
  "Publisher.send": ofConnection((mq, options) => mq.publisher("", "q").send(1, options)),
  "Publisher.sendAll": {
    ...ofConnection((mq, options) => mq.publisher("", "q").sendAll([1], options)),
    refuses: ["messageId"],
  },
  "Publisher.sendEncoded": ofConnection((mq, options) =>
    mq.publisher("", "q").sendEncoded({ body: new Uint8Array() }, options)
  ),
  "Publisher.sendPrepared": ofConnection((mq, options) => mq.publisher("", "q").sendPrepared(OUTBOUND, options)),
  "Relay.runOnce": ofConnection((mq, options) => mq.relay(memoryOutboxStore()).runOnce(options)),
  "RunningRelay.close": ofConnection(async (mq, options) =>
    await (await mq.relay(memoryOutboxStore()).start()).close(options)
  ),
  "Topology.bind": {
    call: (options) => topology().queue("q").bind("q", options),
    needs: { exchange: "amq.topic" },
  },
  "Topology.exchange": { call: (options) => topology().exchange("x", "topic", options) },
  "Topology.queue": { call: (options) => topology().queue("q", options) },
  acknowledgementTimeoutContract: {
    call: (options) => contracts.acknowledgementTimeoutContract("a", notOpened, options),
    acts: true,
  },
  aggregateHealth: { call: (options) => aggregateHealth({}, options) },
  amqpBroker: { call: (options) => amqpBroker("amqps://127.0.0.1:1", options), shares: true },
  blockedBrokerContract: {
    call: (options) => contracts.blockedBrokerContract("a", notOpened, options),
    acts: true,
  },
  avroCodec: { call: (options) => avroCodec('"string"', options) },
  brokerContract: { call: (options) => contracts.brokerContract("a", notOpened, options), acts: true },
  codecContract: { call: (options) => contracts.codecContract("a", notOpened, options), acts: true },
  connect: { call: (options) => connect("amqps://127.0.0.1:1", options), acts: true },
  deadLetterRetryContract: {
    call: (options) => contracts.deadLetterRetryContract("a", notOpened, options),
    acts: true,
  },
  exponentialRetry: { call: (options) => exponentialRetry(3, options) },
  fixedRetry: { call: (options) => fixedRetry(3, options) },
  idempotencySchemaSql: { call: (options) => idempotencySchemaSql("sqlite", options) },
  idempotencyStoreContract: {
    call: (options) => contracts.idempotencyStoreContract("a", notOpened, options),
    acts: true,
  },
  claimCheckCodec: { call: (options) => claimCheckCodec(jsonCodec(), memoryClaimCheckStore(), options) },
  claimCheckStoreContract: {
    call: (options) => contracts.claimCheckStoreContract("a", notOpened, options),
    acts: true,
  },
  fileClaimCheckStore: { call: (options) => fileClaimCheckStore("claims", options) },
  memoryClaimCheckStore: { call: (options) => memoryClaimCheckStore(options) },
  jsonCodec: { call: (options) => jsonCodec(options) },
  keyring: { call: (options) => keyring(options as never), needs: { current: "k", keys: { k: new Uint8Array(32) } } },
  streamCodec: { call: (options) => streamCodec(options) },
  jsonLogSink: { call: (options) => jsonLogSink(() => {}, options) },
  memoryBroker: { call: (options) => memoryBroker(options) },
  memoryIdempotencyStore: { call: (options) => memoryIdempotencyStore(options) },
  memoryOutboxStore: { call: (options) => memoryOutboxStore(options) },
  memorySchemaRegistry: { call: (options) => memorySchemaRegistry(options) },
  newEnvelope: { call: (options) => newEnvelope({ type: "order.placed" }, options) },
  openConnection: {
    call: async (options) => await (await openConnection(memoryBroker({ clock: virtualClock() }), options)).close(),
    shares: true,
  },
  outboxOrderingSql: { call: (options) => outboxOrderingSql("sqlite", options) },
  outboxSchemaSql: { call: (options) => outboxSchemaSql("sqlite", options) },
  outboxStoreContract: { call: (options) => contracts.outboxStoreContract("a", notOpened, options), acts: true },
  postgresIdempotencyStore: { call: (options) => postgresIdempotencyStore(SQL, options) },
  postgresOutboxStore: { call: (options) => postgresOutboxStore(SQL, options) },
  postgresSchemaRegistry: { call: (options) => postgresSchemaRegistry(SQL, options) },
  postgresSession: { call: (options) => postgresSession(SQL, options) },
  registeredAvroCodec: {
    call: (options) => registeredAvroCodec(memorySchemaRegistry(), options),
    needs: { subject: "s", schema: '"string"' },
    takesAny: ["readerSchema"],
  },
  registrySchemaSql: { call: (options) => registrySchemaSql("sqlite", options) },
  retry: { call: (options) => retry("busy", options) },
  schemaRegistryContract: { call: (options) => contracts.schemaRegistryContract("a", notOpened, options), acts: true },
  sqlSessionContract: { call: (options) => contracts.sqlSessionContract("a", notOpened, options), acts: true },
  sqliteIdempotencyStore: { call: (options, scene) => sqliteIdempotencyStore(scene.database(), options) },
  sqliteOutboxStore: { call: (options, scene) => sqliteOutboxStore(scene.database(), options) },
  sqliteSchemaRegistry: { call: (options, scene) => sqliteSchemaRegistry(scene.database(), options) },
  sqliteSession: { call: (options, scene) => sqliteSession(scene.database(), options) },
  tomlCodec: { call: (options) => tomlCodec(options) },
  xmlCodec: { call: (options) => xmlCodec(options) },
  protobufCodec: { call: (options) => protobufCodec(TimestampSchema, options) },
  yamlCodec: { call: (options) => yamlCodec(options) },
};

/** Called by the connection alone, with options that it has looked at. */
const OURS: readonly string[] = ["Consumer.open"];

const FOUND = callsWithOptions(new URL("../", import.meta.url)).filter(({ name }) => !OURS.includes(name));

/** Of no kind that any option has. */
const WRONG = Symbol("of another kind");

describe("an object of options", () => {
  it("is known here for every public function that takes one", () => {
    assert.deepEqual(Object.keys(CALLS).toSorted(), FOUND.map(({ name }) => name));
  });

  for (const { name, options } of FOUND) {
    const { call, needs = {}, shares = false, acts = false, takesAny = [], refuses = [] } = CALLS[name] ??
      { call: () => {} };
    const asked = (given: unknown): Promise<void> => inScene((scene) => call(given as Given, scene));

    it(`is wanted by ${name}, and nothing else in its place`, async () => {
      for (const wrong of [null, "text", 5, true, [], WRONG]) {
        await assert.rejects(asked(wrong), isRefusal("an object"), String(wrong));
      }
    });

    it(`has in ${name} the options that its type says, and no other`, async () => {
      if (shares) return await asked({ ...needs, ["prefetchCount"]: 1 });
      for (const unknown of ["prefetchCount", "__proto", "toString", "constructor"]) {
        await assert.rejects(asked({ ...needs, [unknown]: 1 }), (error: unknown) => {
          isRefusal(`'${unknown}'`)(error);
          const [, known = ""] = / has (.+), and none of that name$/.exec((error as Error).message) ?? [];
          assert.deepEqual(known.split(", ").toSorted(), [...options, ...refuses].toSorted());
          return true;
        });
      }
    });

    it(`is refused by ${name} for an option of another kind`, async () => {
      for (const option of [...options, ...refuses]) {
        if (takesAny.includes(option)) continue;
        await assert.rejects(asked({ ...needs, [option]: WRONG }), isRefusal(option), option);
        await assert.rejects(asked({ ...needs, [option]: null }), isRefusal(option), `${option}: null`);
      }
    });

    if (acts) continue;
    it(`is taken by ${name} where what is not set is undefined`, () => asked({ prefetchCount: undefined, ...needs }));
  }
});

/** Options that are objects of options themselves, where each belongs, and what each has. */
const WITHIN: readonly (readonly [name: string, call: Call["call"], options: readonly string[]])[] = [
  [
    "the interceptors of a connection",
    (interceptors) => openConnection(memoryBroker({ clock: virtualClock() }), { interceptors }),
    ["consume", "publish"],
  ],
  [
    "the way back of a connection",
    (reconnect) => amqpBroker("amqp://127.0.0.1:1", { reconnect }),
    ["initialDelayMs", "maxDelayMs", "multiplier"],
  ],
  [
    "the TLS of a connection",
    (tls) => amqpBroker("amqps://127.0.0.1:1", { tls }),
    ["allowDevelopmentCertificates", "ca", "certificate", "key", "passphrase", "serverName", "verification"],
  ],
  [
    "the idempotency of a consumer",
    async (options, scene) =>
      await (await scene.mq()).consume("q", accept, {
        idempotency: Object.assign({ store: memoryIdempotencyStore() }, options),
      }),
    ["key", "renewLease", "store"],
  ],
];

describe("an object of options within another", () => {
  for (const [name, call, options] of WITHIN) {
    it(`has its own, and no other: ${name}`, async () => {
      await assert.rejects(
        inScene((scene) => call({ prefetchCount: 1 } as Given, scene)),
        (error: unknown) => {
          isRefusal("'prefetchCount'")(error);
          const [, known = ""] = / has (.+), and none of that name$/.exec((error as Error).message) ?? [];
          assert.deepEqual(known.split(", ").toSorted(), options);
          return true;
        },
      );
    });

    it(`is refused for one of another kind: ${name}`, async () => {
      for (const option of options) {
        for (const wrong of [WRONG, null]) {
          await assert.rejects(inScene((scene) => call({ [option]: wrong } as Given, scene)), (error: unknown) => {
            assert.ok(error instanceof TypeError || error instanceof RangeError || error instanceof SecurityError);
            assert.ok(error.message.includes(option), error.message);
            return true;
          }, `${option}: ${String(wrong)}`);
        }
      }
    });
  }
});

/** The fault is the call's, and the words say what it is about. */
function isRefusal(about: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
    assert.match(error.message, /^Cannot [a-z]/);
    assert.ok(error.message.includes(about), `${error.message} does not say ${about}`);
    return true;
  };
}

async function inScene(run: (scene: Scene) => unknown): Promise<void> {
  const scene = new Scene();
  try {
    await run(scene);
  } finally {
    await scene.close();
  }
}
