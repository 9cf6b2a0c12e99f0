/** What the compiler tells a user of the library: types that are inferred, and mistakes that do not get as far as a broker. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compile } from "./support/compiler.ts";

const HEAD = `
import { accept, AceMqError, bytesCodec, claimCheckCodec, type ClaimCheckStore, type Codec, compositeCodec, type Connection, encryptedCodec, jsonCodec, type Keyring, streamCodec, type Message, reject, textCodec } from "@acemq/amqp/core";
import type { StandardSchema } from "@acemq/amqp/core";
import { tomlCodec } from "@acemq/amqp/toml";
import { xmlCodec } from "@acemq/amqp/xml";
import { yamlCodec } from "@acemq/amqp/yaml";
import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import type { ConsumeInterceptor, PublishInterceptor } from "@acemq/amqp/core";
interface Order { readonly id: string; readonly totalCents: number }
declare const mq: Connection;
declare const codec: Codec<Order>;
declare const order: Order;
declare const caught: unknown;
declare const keys: Keyring;
declare const claims: ClaimCheckStore;
`;

const programs = compile(HEAD, {
  publishing: `
    const placed = mq.publisher("orders", "order.placed", { codec });
    await placed.send(order);
    await placed.sendAll([order, order]);
    await placed.sendPrepared(placed.prepare(order));
    const { outcome } = await placed.send(order);
    outcome;
  `,
  "wrong payloads": `
    const placed = mq.publisher("orders", "order.placed", { codec });
    await placed.send({ id: 19, totalCents: 1 });
    await placed.send({ id: "A-19" });
    await placed.prepare("A-19");
    await placed.sendAll([order, 19]);
    await mq.publisher<Order>("orders", "order.placed").send({ id: "A-19", cents: 1, totalCents: 1 });
    await mq.publisher("orders", "order.placed", { codec: "text" }).sendEncoded("A-19");
  `,
  handling: `
    await mq.consume("orders.new", (message) => { message.payload; }, { codec });
    await mq.consume("orders.new", async ({ payload: inferred }) => { inferred; return accept(); }, { codec });
    await mq.consume("orders.new", (given: Message<Order>) => { given.payload; });
    await mq.consume("orders.new", ({ payload }) => payload.totalCents > 0 ? accept() : reject("free"), {
      codec: jsonCodec<Order>(),
    });
    for await (const delivery of mq.deliveries("orders.new", { codec })) delivery.payload;
  `,
  "a schema": `
    declare const schema: StandardSchema<{ id: string; count?: number }, { id: string; count: number }>;
    const placed = mq.publisher("orders", "order.placed", { schema, version: 2 });
    await placed.send({ id: "A-19" });
    await placed.send({ id: 19 });
    await mq.consume("orders.new", (validated) => void validated.payload, { schema, prefetch: 5 });
    await mq.consume("orders.new", ({ payload: beside }) => void beside, { schema, codec: jsonCodec() });
    await mq.consume("orders.new", ({ payload: named }) => void named, { schema, codec: "json" });
    await mq.consume("orders.new", (message: Message<{ id: number }>) => {}, { schema });
    for await (const checked of mq.deliveries("orders.new", { schema })) checked.payload;
  `,
  "a schema of zod": `
    const Order = z.object({ id: z.string(), due: z.string().transform((due) => new Date(due)) });
    const placed = mq.publisher("orders", "order.placed", { schema: Order });
    await placed.send({ id: "A-19", due: "2026-03-04" });
    await placed.send({ id: "A-19", due: new Date() });
    await mq.consume("orders.new", (message) => void message.payload.due.getTime(), { schema: Order });
  `,
  "schemas of valibot and arktype": `
    await mq.consume("a", (one) => void one.payload, { schema: v.object({ id: v.string() }) });
    await mq.consume("a", (other) => void other.payload, { schema: type({ id: "string" }) });
  `,
  "formats that write more than they read": `
    await mq.consume("notes", (note) => void note.payload, { codec: textCodec() });
    await mq.consume("files", (file) => void file.payload, { codec: bytesCodec() });
    await mq.publisher("", "notes", { codec: textCodec() }).send(19);
    await mq.publisher("", "files", { codec: bytesCodec() }).send("text");
  `,
  "what JSON does not hold": `
    interface Bill { id: string; due: Date; cents: bigint; scan?: Uint8Array; paid: readonly (Date | null)[] }
    declare const bill: Bill;
    const bills = jsonCodec<Bill>();
    await mq.publisher("", "bills", { codec: bills }).send(bill);
    await mq.consume("bills", ({ payload: read }) => { read.due; read.cents; read.scan; read.paid; }, { codec: bills });
    await mq.consume("bills", (lies: Message<Bill>) => {}, { codec: bills });
    await mq.consume("bills", ({ payload }) => payload.due.getTime(), { codec: bills });
    await mq.consume("bills", ({ payload: sealed }) => void sealed.due, { codec: encryptedCodec(bills, keys) });
  `,
  "what other texts do not hold": `
    interface Bill { id: string; due: Date; cents: bigint; scan: Uint8Array; lines: { sku: string; count: number }[] }
    await mq.consume("bills", ({ payload: yaml }) => { yaml.due; yaml.cents; yaml.scan; yaml.lines; }, { codec: yamlCodec<Bill>() });
    await mq.consume("bills", ({ payload: toml }) => { toml.due; toml.cents; toml.scan; toml.lines; }, { codec: tomlCodec<Bill>() });
    await mq.consume("bills", ({ payload: xml }) => { xml.due; xml.cents; xml.scan; xml.lines; }, { codec: xmlCodec<Bill>() });
    await mq.consume("bills", ({ payload: held }) => void held, { codec: yamlCodec<Order>() });
    await mq.consume("bills", (lies: Message<Order>) => {}, { codec: xmlCodec<Order>() });
  `,
  "what can be sealed": `
    const sealed = encryptedCodec(jsonCodec<Order>(), keys);
    await mq.consume("orders.new", (opened) => void opened.payload, { codec: sealed });
    await mq.consume("orders.new", (mixed) => void mixed.payload, { codec: compositeCodec([sealed, jsonCodec<Order>()]) });
    encryptedCodec(streamCodec(), keys);
    encryptedCodec(claimCheckCodec(jsonCodec(), claims), keys);
    await mq.consume("scans", (scan) => void scan.payload, { codec: claimCheckCodec(streamCodec(), claims) });
    await mq.publisher("", "scans", { codec: claimCheckCodec(streamCodec(), claims) }).send(new Blob([]));
    encryptedCodec(jsonCodec(), { current: "k", keys: {} });
  `,
  "looking and putting back": `
    for await (const dead of mq.peek("orders.new", { codec })) {
      const body = await dead.decode();
      if (body.status === "decoded") body.payload;
    }
    const result = await mq.replay("orders.new", {
      codec,
      filter: async (message) => {
        const read = await message.decode();
        return read.status === "decoded" && read.payload.totalCents > 0;
      },
    });
    if (result.reason === "failed") result.error;
    else result.reason;
    result.error;
    await mq.replay("orders.new", { from: "queue" });
    await mq.replay("orders.new", { filter: () => "all" });
    await mq.peek("orders.new", { filter: () => true });
  `,
  "a payload nobody described": `
    await mq.consume("orders.new", (message) => { message.payload; message.headers["tenant"]; });
    await mq.consume("orders.new", (other) => other.payload.id);
    for await (const delivery of mq.deliveries("orders.new")) delivery.payload;
    const stamp: PublishInterceptor = (context, next) => { context.payload; return next(context); };
    const look: ConsumeInterceptor = (seen, next) => { seen.payload; return next(seen); };
  `,
  "wrong handlers": `
    interface Invoice { readonly number: string }
    await mq.consume("orders.new", (message) => void message.payload.totalEuros, { codec });
    await mq.consume("orders.new", (message: Message<Invoice>) => {}, { codec });
    await mq.consume("orders.new", () => "reject");
    await mq.consume("orders.new", async () => false);
    await mq.consume("orders.new", { codec });
    for await (const delivery of mq.deliveries("orders.new", { codec })) await delivery.settle();
  `,
  "wrong options": `
    mq.publisher("orders", "order.placed", { codec: "jsno" });
    mq.publisher("orders", "order.placed", { durable: true });
    await mq.publisher("orders", "order.placed").send(order, { expiration: 60 });
    await mq.publisher("orders", "order.placed").send(order, { headers: { tenant: Symbol() } });
    await mq.consume("orders.new", () => {}, { prefetchCount: 10 });
    await mq.publisher("orders", "order.placed").sendAll([order], { messageId: "A-19" });
  `,
  errors: `
    if (caught instanceof AceMqError) {
      caught.code;
      if (caught.code === "ACEMQ_PUBLISH_UNROUTED") throw caught;
    }
  `,
});
describe("a typed codec", () => {
  it("gives a publisher the type of its payloads, and nothing less than a success as the outcome [TS-01]", () => {
    const { errors, typeOf } = programs.publishing;
    assert.deepEqual(errors, []);
    assert.equal(typeOf("placed"), "Publisher<Order>");
    assert.equal(typeOf("outcome"), '"confirmed" | "published"');
  });

  it("gives a handler and an iterated delivery the type of their payload [TS-01]", () => {
    const { errors, typeOf } = programs.handling;
    assert.deepEqual(errors, []);
    for (const expression of ["message.payload", "inferred", "given.payload", "payload", "delivery.payload"]) {
      assert.equal(typeOf(expression), "Order", expression);
    }
  });

  it("gives a message that is looked at the type of its body, once it could be read [TS-01]", () => {
    const { errors, typeOf } = programs["looking and putting back"];
    assert.deepEqual(errors, ["error (2339)", "from (2322)", "filter (2322)", "filter (2353)"]);
    for (const expression of ["body.payload", "read.payload"]) assert.equal(typeOf(expression), "Order", expression);
    const reasons = ["cancelled", "deadline", "drained", "failed", "limit"].map((reason) => JSON.stringify(reason));
    assert.deepEqual(typeOf("result.reason").split(" | ").toSorted(), reasons);
    assert.equal(typeOf("result.error"), "unknown");
  });

  it("makes a wrong payload an error where it is handed over [TS-01]", () => {
    assert.deepEqual(programs["wrong payloads"].errors, [
      "id (2322)",
      '{ id: "A-19" } (2345)',
      '"A-19" (2345)',
      "[order, 19] (2345)",
      "cents (2353)",
      '"A-19" (2345)',
    ]);
  });

  it("makes a wrong handler an error: another payload, a word that is no settlement, none at all [TS-01]", () => {
    assert.deepEqual(programs["wrong handlers"].errors, [
      "totalEuros (2339)",
      "(message: Message<Invoice>) => {} (2345)",
      '"reject" (2322)',
      "false (2322)",
      "codec (2353)",
      "settle (2554)",
    ]);
  });
});

describe("a schema", () => {
  it("gives a publisher what it reads, and a handler what it makes of that [TS-01]", () => {
    const { errors, typeOf } = programs["a schema"];
    assert.deepEqual(errors, ["id (2322)", "(message: Message<{ id: number }>) => {} (2345)"]);
    assert.equal(typeOf("placed"), "Publisher<{ id: string; count?: number; }>");
    for (const expression of ["validated.payload", "beside", "named", "checked.payload"]) {
      assert.equal(typeOf(expression), "{ id: string; count: number; }", expression);
    }
  });

  it("of zod, valibot or arktype is one", () => {
    const { errors, typeOf } = programs["a schema of zod"];
    assert.deepEqual(errors, ["due (2322)"]);
    assert.equal(typeOf("placed"), "Publisher<{ id: string; due: string; }>");
    const others = programs["schemas of valibot and arktype"];
    assert.deepEqual(others.errors, []);
    assert.equal(others.typeOf("one.payload"), "{ id: string; }");
    assert.equal(others.typeOf("other.payload"), "{ id: string; }");
  });
});

describe("a codec that writes more than it reads", () => {
  it("takes the one, and gives the other [TS-01]", () => {
    const { errors, typeOf } = programs["formats that write more than they read"];
    assert.deepEqual(errors, []);
    assert.equal(typeOf("note.payload"), "string");
    assert.match(typeOf("file.payload"), /^Uint8Array/);
  });
});

describe("a type that JSON does not hold", () => {
  it("is read as what it was written as, and not as what it was [TS-01, SR-13]", () => {
    const { errors, typeOf } = programs["what JSON does not hold"];
    assert.deepEqual(errors, ["(lies: Message<Bill>) => {} (2345)", "getTime (2339)"]);
    const types = ["read.due", "read.cents", "read.scan", "read.paid", "sealed.due"].map((expression) =>
      typeOf(expression)
    );
    assert.deepEqual(types, [
      "string",
      "number | bigint",
      "string | undefined",
      "readonly (string | null)[]",
      "string",
    ]);
  });
});

describe("a type that YAML, TOML or XML does not hold", () => {
  it("is read as what it was written as, and not as what it was [TS-01, SR-13]", () => {
    const { errors, typeOf } = programs["what other texts do not hold"];
    assert.deepEqual(errors, ["(lies: Message<Order>) => {} (2345)"]);
    const members = ["due", "cents", "scan"];
    const types = (name: string): string[] => members.map((member) => typeOf(`${name}.${member}`));
    assert.deepEqual(types("yaml"), ["string | Date", "number | bigint", "string"]);
    assert.deepEqual(types("toml"), ["Date", "number | bigint", "string"]);
    assert.deepEqual(types("xml"), ["string", "string", "string"]);
    assert.equal(typeOf("yaml.lines"), "{ sku: string; count: number; }[]");
    const line = "{ sku: string; count: string; }";
    assert.equal(typeOf("xml.lines"), `${line} | ${line}[]`);
    assert.equal(typeOf("held"), "Order");
  });
});

describe("sealing", () => {
  it("keeps the type of the payload, and takes no stream and no other keyring [TS-01]", () => {
    const { errors, typeOf } = programs["what can be sealed"];
    assert.deepEqual(errors, ["streamCodec() (2379)", "claimCheckCodec(jsonCodec(), claims) (2379)", "current (2322)"]);
    for (const expression of ["opened.payload", "mixed.payload"]) assert.equal(typeOf(expression), "Order");
    assert.match(typeOf("scan.payload"), /^ReadableStream<Uint8Array/);
  });
});

describe("without a type", () => {
  it("a payload is unknown, never any: handlers, deliveries, interceptors [TS-01]", () => {
    const { errors, typeOf } = programs["a payload nobody described"];
    assert.deepEqual(errors, ["other.payload (18046)"]);
    for (const expression of ["message.payload", "delivery.payload", "context.payload", "seen.payload"]) {
      assert.equal(typeOf(expression), "unknown", expression);
    }
    assert.equal(typeOf('message.headers["tenant"]'), "HeaderValue | undefined");
  });
});

describe("the compiler", () => {
  it("knows every option and every codec name", () => {
    assert.deepEqual(programs["wrong options"].errors, [
      "codec (2322)",
      "durable (2353)",
      "expiration (2561)",
      "tenant (2322)",
      "prefetchCount (2353)",
      "messageId (2353)",
    ]);
  });

  it("knows every code an error can have", () => {
    const { errors, typeOf } = programs.errors;
    assert.deepEqual(errors, ['caught.code === "ACEMQ_PUBLISH_UNROUTED" (2367)']);
    assert.equal(typeOf("caught.code"), "AceMqErrorCode");
  });
});
