/** Avro of registered schemas: what is asked of the registry, when, and what becomes of each answer. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  avroCodec,
  avroDefinition,
  fingerprint,
  registeredAvroCodec,
  type RegisteredAvroCodecOptions,
} from "../../../adapters/avro/mod.ts";
import { memoryBroker, memorySchemaRegistry, virtualClock } from "../../../adapters/memory/mod.ts";
import { openConnection } from "../../../src/connection.ts";
import { DecodeError, EncodeError, isRetryable, StoreError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import type { RegisteredSchema, SchemaRegistry } from "../../../src/ports/schema_registry.ts";
import { fixedRetry } from "../../../src/retry/policy.ts";
import { topology } from "../../../src/topology/topology.ts";
import { codecContract } from "../../contract/codec.ts";
import { bytesOfHex } from "../../support/fixtures.ts";
import { until } from "../../support/until.ts";

const SUBJECT = "order.placed";
const ORDER = order(["id", "string"], ["total", "long"]);
const WITH_DEFAULT = order(["id", "string"], ["total", "long"], ["currency", "string", "GBP"]);

function order(...fields: readonly (readonly [string, unknown, unknown?])[]): object {
  const all = fields.map(([name, type, otherwise]) => ({
    name,
    type,
    ...otherwise === undefined ? {} : { default: otherwise },
  }));
  return { type: "record", name: "Order", fields: all };
}

/** A registry in memory that counts what it is asked, and is away when it is told to be. */
class CountingRegistry implements SchemaRegistry {
  readonly #inner = memorySchemaRegistry();
  asked: string[] = [];
  isAway = false;
  answer: ((schema: RegisteredSchema) => RegisteredSchema) | undefined;

  async register(...args: Parameters<SchemaRegistry["register"]>): Promise<RegisteredSchema> {
    return this.#answer("register", await this.#ask("register", () => this.#inner.register(...args)));
  }
  async byId(...args: Parameters<SchemaRegistry["byId"]>): Promise<RegisteredSchema> {
    return this.#answer("byId", await this.#ask("byId", () => this.#inner.byId(...args)));
  }
  latest(...args: Parameters<SchemaRegistry["latest"]>): Promise<RegisteredSchema> {
    return this.#inner.latest(...args);
  }
  versions(...args: Parameters<SchemaRegistry["versions"]>): Promise<readonly RegisteredSchema[]> {
    return this.#inner.versions(...args);
  }
  idFor(...args: Parameters<SchemaRegistry["idFor"]>): Promise<number> {
    return this.#ask("idFor", () => this.#inner.idFor(...args));
  }
  exportSchemas(...args: Parameters<SchemaRegistry["exportSchemas"]>): ReturnType<SchemaRegistry["exportSchemas"]> {
    return this.#inner.exportSchemas(...args);
  }
  importSchemas(...args: Parameters<SchemaRegistry["importSchemas"]>): ReturnType<SchemaRegistry["importSchemas"]> {
    return this.#inner.importSchemas(...args);
  }

  #ask<T>(name: string, call: () => Promise<T>): Promise<T> {
    this.asked.push(name);
    return this.isAway ? Promise.reject(new StoreError("Cannot read the schemas: the database is away")) : call();
  }

  #answer(_name: string, schema: RegisteredSchema): RegisteredSchema {
    return this.answer?.(schema) ?? schema;
  }
}

function refuses(type: typeof DecodeError | typeof EncodeError, words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof type, String(error));
    assert.match(error.message, words);
    return true;
  };
}

async function decoded(codec: Codec, hex: string, contentType?: string): Promise<unknown> {
  return await codec.decode(bytesOfHex(hex), { contentType });
}

codecContract("Avro of registered schemas", async () => ({
  codec: registeredAvroCodec(memorySchemaRegistry(), { subject: SUBJECT, schema: ORDER }),
  holds: [{ payload: { id: "o-1", total: 1250 } }, { payload: { id: "größe", total: 2n ** 62n } }],
  refuses: [undefined, "4242", { id: "4242", total: 1.5 }, { id: "x", total: 1, card: "4242" }],
  unreadable: ["", "00", "0000000000", "0134323432", "0000000007063432", "c3010102030405060708066f2d31c413"].map(
    bytesOfHex,
  ),
  reads: ["application/avro", "application/vnd.shop.order+avro", "application/x-avro"],
  leaves: ["avro/binary", "avro/other", "application/json", "application/octet-stream", undefined],
}));

describe("Avro of registered schemas", () => {
  it("puts a zero byte and four bytes of the id in front [AVR-14]", async () => {
    const registry = memorySchemaRegistry();
    await registry.register(SUBJECT, avroDefinition(ORDER), { id: 258 });
    const codec: Codec = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER });
    assert.equal(codec.contentType, "application/vnd.acemq.avro");
    assert.deepEqual((await codec.encode({ id: "o-1", total: 1250 })).body, bytesOfHex("0000000102066f2d31c413"));
    assert.deepEqual(await decoded(codec, "0000000102066f2d31c413", codec.contentType), { id: "o-1", total: 1250 });
  });

  it("asks for its own id once, however many payloads come at once", async () => {
    const registry = new CountingRegistry();
    const codec = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER });
    const payload = { id: "o-1", total: 1250 };
    const bodies = await Promise.all(Array.from({ length: 10 }, () => codec.encode(payload)));
    for (const { body } of bodies) assert.deepEqual(body, bytesOfHex("0000000001066f2d31c413"));
    assert.ok(!(codec.encode(payload) instanceof Promise));
    assert.deepEqual(registry.asked, ["register"]);
  });

  it("asks for the schema of an id once for a thousand bodies [AVR-13]", async () => {
    const registry = new CountingRegistry();
    await registry.register(SUBJECT, avroDefinition(ORDER));
    const codec = registeredAvroCodec(registry, { readerSchema: WITH_DEFAULT });
    const body = bytesOfHex("0000000001066f2d31c413");
    registry.asked = [];
    await Promise.all(Array.from({ length: 500 }, () => codec.decode(body, {})));
    for (let turn = 0; turn < 500; turn++) assert.ok(!(codec.decode(body, {}) instanceof Promise));
    assert.deepEqual(registry.asked, ["byId"]);
  });

  it("registers nothing to read [AVR-06]", async () => {
    const registry = new CountingRegistry();
    await registry.register(SUBJECT, avroDefinition(WITH_DEFAULT));
    const pinned: Codec = registeredAvroCodec(registry, {
      subject: SUBJECT,
      schema: WITH_DEFAULT,
      readerSchema: ORDER,
    });
    const reading: Codec = registeredAvroCodec(registry, { readerSchema: ORDER });
    for (const codec of [pinned, reading]) {
      assert.deepEqual(await decoded(codec, "0000000001066f2d31c41306475250"), { id: "o-1", total: 1250 });
    }
    assert.equal((await registry.versions(SUBJECT)).length, 1);
    assert.throws(() => reading.encode({ id: "o-1", total: 1 }), refuses(EncodeError, /only to read/));
  });

  const WRITERS = {
    101: ORDER,
    102: order(["id", "string"], ["total", "long"], ["currency", "string"], ["channel", "string"]),
  };
  const BODIES = { 101: "0000000065066f2d31c413", 102: "0000000066066f2d32bc0f064555520c6d6f62696c65" };
  const EXPECTED: readonly (readonly [string, Omit<RegisteredAvroCodecOptions, "subject">, readonly unknown[]])[] = [
    ["onto its own schema unless it is told otherwise", { schema: WITH_DEFAULT }, [
      { id: "o-1", total: 1250, currency: "GBP" },
      { id: "o-2", total: 990, currency: "EUR" },
    ]],
    ["onto a reader's schema", { schema: ORDER, readerSchema: WITH_DEFAULT }, [
      { id: "o-1", total: 1250, currency: "GBP" },
      { id: "o-2", total: 990, currency: "EUR" },
    ]],
    ["in the writer's shape with none", { schema: WITH_DEFAULT, readerSchema: null }, [
      { id: "o-1", total: 1250 },
      { id: "o-2", total: 990, currency: "EUR", channel: "mobile" },
    ]],
  ];
  for (const [how, options, [first, second]] of EXPECTED) {
    it(`reads two schemas of one queue, each by its own, ${how} [AVR-03, AVR-07, AVR-12]`, async () => {
      const registry = memorySchemaRegistry();
      for (const [id, schema] of Object.entries(WRITERS)) {
        await registry.register("elsewhere", avroDefinition(schema), { id: Number(id) });
      }
      const codec: Codec = registeredAvroCodec(registry, { subject: SUBJECT, ...options });
      for (const _ of [1, 2]) {
        assert.deepEqual(await decoded(codec, BODIES[101]), first);
        assert.deepEqual(await decoded(codec, BODIES[102]), second);
      }
    });
  }

  it("refuses what the other mode wrote [AVR-01]", async () => {
    const codec: Codec = registeredAvroCodec(memorySchemaRegistry(), { subject: SUBJECT, schema: ORDER });
    const { body } = await codec.encode({ id: "o-1", total: 1250 });
    for (const type of ["avro/binary", "AVRO/x; v=1"]) {
      await assert.rejects(
        async () => await codec.decode(body, { contentType: type }),
        refuses(DecodeError, /without an id/),
      );
    }
    await assert.rejects(
      decoded(codec, "066f2d31c413", "application/avro"),
      refuses(DecodeError, /must begin with 00/),
    );
    assert.throws(() => avroCodec(ORDER).decode(body, { contentType: codec.contentType }), DecodeError);
  });

  it("names an id that nobody registered, and reads it once somebody has [AVR-08]", async () => {
    const registry = memorySchemaRegistry();
    const codec: Codec = registeredAvroCodec(registry, { readerSchema: null });
    const reading = (): Promise<unknown> => decoded(codec, "000000004d066f2d31c413");
    await assert.rejects(reading, refuses(DecodeError, /schema 77: it is not registered/));
    await registry.register(SUBJECT, avroDefinition(ORDER), { id: 77 });
    assert.deepEqual(await reading(), { id: "o-1", total: 1250 });
    await assert.rejects(
      decoded(codec, "00ffffffff06"),
      refuses(DecodeError, /schema 4294967295: no schema can have this id/),
    );
    await assert.rejects(decoded(codec, "0000000000066f2d31c413"), refuses(DecodeError, /ids begin with 1/));
  });

  it("lets a registry that is away retry the message, and asks it again", async () => {
    const registry = new CountingRegistry();
    const codec: Codec = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER });
    registry.isAway = true;
    const writing = async (): Promise<unknown> => await codec.encode({ id: "o-1", total: 1250 });
    const reading = (): Promise<unknown> => decoded(codec, "0000000001066f2d31c413");
    for (const call of [writing, reading]) await assert.rejects(call, isRetryable);
    registry.isAway = false;
    await writing();
    assert.deepEqual(await reading(), { id: "o-1", total: 1250 });
  });

  it("reads only what is registered as Avro, under the id, with the text of its fingerprint", async () => {
    const answers: readonly (readonly [(schema: RegisteredSchema) => RegisteredSchema, RegExp])[] = [
      [(schema) => ({ ...schema, format: "protobuf" }), /schema 1: it is of format "protobuf", not "avro"/],
      [(schema) => ({ ...schema, definition: `${schema.definition} ` }), /schema 1: its text is not the one/],
      [(schema) => ({ ...schema, id: 2 }), /schema 1: the registry answered with schema 2/],
    ];
    for (const [answer, words] of answers) {
      const registry = new CountingRegistry();
      await registry.register(SUBJECT, avroDefinition(ORDER));
      registry.answer = answer;
      const codec = registeredAvroCodec(registry, { readerSchema: ORDER });
      await assert.rejects(decoded(codec, "0000000001066f2d31c413"), refuses(DecodeError, words));
    }
  });

  it("writes under no id that the registry has for another schema", async () => {
    const registry = new CountingRegistry();
    const codec = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER });
    registry.answer = (schema) => ({ ...schema, fingerprint: "0".repeat(64) });
    const writing = async (): Promise<unknown> => await codec.encode({ id: "o-1", total: 1250 });
    await assert.rejects(writing, refuses(EncodeError, /the registry gave another schema's/));
    registry.answer = (schema) => ({ ...schema, id: 2_147_483_648 });
    await assert.rejects(writing, refuses(EncodeError, /a number that no frame holds/));
    registry.answer = undefined;
    await writing();
  });

  it("names the id and both schemas when one cannot be read as the other [AVR-10]", async () => {
    const registry = memorySchemaRegistry();
    const { definition } = await registry.register(
      SUBJECT,
      avroDefinition(order(["id", "string"], ["total", "string"])),
    );
    const codec = registeredAvroCodec(registry, { readerSchema: ORDER });
    for (const _ of [1, 2]) {
      await assert.rejects(decoded(codec, "0000000001066f2d310634243432"), (error: unknown) => {
        refuses(DecodeError, /schema 1, .*total: string cannot be read as long$/)(error);
        for (const text of [definition, JSON.stringify(ORDER)]) assert.ok((error as Error).message.includes(text));
        return true;
      });
    }
  });

  it("tells a body that ends too early from one that cannot be resolved [AVR-10]", async () => {
    const registry = memorySchemaRegistry();
    await registry.register(SUBJECT, avroDefinition(ORDER));
    const codec = registeredAvroCodec(registry, { readerSchema: WITH_DEFAULT });
    await assert.rejects(
      decoded(codec, "0000000001066f2d31"),
      refuses(DecodeError, /^Cannot read the body as Avro of schema 1: total: the body ends too early$/),
    );
  });

  it("parks what is registered as Avro and is none", async () => {
    const registry = memorySchemaRegistry();
    await registry.register(SUBJECT, { format: "avro", definition: '{"type":"rec"}' });
    const codec = registeredAvroCodec(registry, { readerSchema: null });
    for (const _ of [1, 2]) {
      await assert.rejects(decoded(codec, "000000000102"), refuses(DecodeError, /schema 1: nothing before/));
    }
  });

  it("writes with an id that a build registered, and with none before that", async () => {
    const registry = new CountingRegistry();
    const codec = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER, register: false });
    const writing = async (): Promise<unknown> => await codec.encode({ id: "o-1", total: 1250 });
    await assert.rejects(
      writing,
      refuses(EncodeError, /no id for the schema of "order.placed": the registry has none/),
    );
    const built = await registry.register(SUBJECT, avroDefinition(ORDER), { id: 7 });
    assert.equal(built.fingerprint, await fingerprint(avroDefinition(ORDER).definition));
    assert.deepEqual(await writing(), { body: bytesOfHex("0000000007066f2d31c413") });
    assert.deepEqual(registry.asked, ["idFor", "register", "idFor"]);
  });

  it("says in its options what belongs together", () => {
    const registry = memorySchemaRegistry();
    const cases: readonly (readonly [RegisteredAvroCodecOptions, RegExp])[] = [
      [{ schema: ORDER }, /'schema' without 'subject'/],
      [{ subject: SUBJECT }, /'subject' without 'schema'/],
      [{ subject: "", schema: ORDER }, /'subject'/],
      [{ subject: SUBJECT, schema: { type: "rec" } }, /'schema': nothing before it is called "rec"/],
      [{ readerSchema: '{"type":' }, /'readerSchema': it is not JSON/],
    ];
    for (const [options, words] of cases) {
      assert.throws(() => registeredAvroCodec(registry, options), (error: unknown) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, words);
        return true;
      });
    }
    assert.throws(() => registeredAvroCodec({} as SchemaRegistry, { readerSchema: ORDER }), TypeError);
  });

  it("parks an unknown id on a queue, and retries while the registry is away [AVR-08]", async () => {
    const [clock, registry] = [virtualClock(), new CountingRegistry()];
    const broker = memoryBroker({ clock });
    const mq = await openConnection(broker, { clock });
    const retry = fixedRetry(3);
    await mq.declare(topology().queue("orders", { deadLetter: true, retry }));
    const writer = registeredAvroCodec(registry, { subject: SUBJECT, schema: ORDER });
    const seen: unknown[] = [];
    const codec = registeredAvroCodec(registry, { readerSchema: WITH_DEFAULT });
    await mq.consume("orders", ({ payload }) => void seen.push(payload), { codec, retry });
    const publisher = mq.publisher("", "orders", { codec: writer });
    const { body } = await writer.encode({ id: "o-1", total: 1250 });
    registry.isAway = true;
    await publisher.send({ id: "o-1", total: 1250 });
    await until("the registry to be asked", () => registry.asked.includes("byId"));
    registry.isAway = false;
    // A fingerprint takes its time beside the clock of the test.
    await until("the message to be read", () => clock.advance(1_000).then(() => seen.length > 0));
    assert.deepEqual(seen, [{ id: "o-1", total: 1250, currency: "GBP" }]);
    body[4] = 77;
    await publisher.sendEncoded({ body });
    const parked: unknown[] = [];
    await until("the message to be parked", async () => {
      for await (const one of mq.peek("orders.parked")) parked.push(one);
      return parked.length > 0;
    });
    assert.equal(parked.length, 1);
    assert.match(JSON.stringify(parked), /schema 77: it is not registered/);
    await mq.close();
  });
});
