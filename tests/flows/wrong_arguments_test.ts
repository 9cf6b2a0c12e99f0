/**
 * What a program without types can hand in: every entry point answers with a `TypeError` or a `RangeError` that says what was found
 * and what is wanted, before anything is sent, declared or dialled. What is there to be found out later is found out now.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memoryBroker, virtualClock } from "../../adapters/memory/mod.ts";
import { connect } from "../../connect.ts";
import { retry } from "../../src/consume/ack.ts";
import { openConnection } from "../../src/connection.ts";
import { exponentialRetry, fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { MemoryWorld } from "../support/memory_world.ts";

type Method =
  | "publisher"
  | "send"
  | "sendAll"
  | "sendEncoded"
  | "sendPrepared"
  | "prepare"
  | "consume"
  | "retune"
  | "deliveries"
  | "peek"
  | "next"
  | "replay"
  | "declare"
  | "plan"
  | "validate"
  | "events"
  | "health"
  | "close";

/** A connection, and whatever comes of it, as a program without types has it: anything can be handed to anything. */
type Untyped = { readonly [name in Method]: (...args: readonly unknown[]) => Untyped };

/** Never an object of options. */
const NO_OPTIONS: readonly unknown[] = [null, 5, "text", true, [], () => {}, Symbol("s")];

/** Never text. */
const NO_TEXT: readonly unknown[] = [undefined, null, 5, {}, [], true, Symbol("s")];

/** For each kind of option, what is not of it. */
const WRONG = {
  text: [null, 5, {}, ["a"]],
  boolean: [null, "false", 0],
  functions: [null, () => {}, [5], {}],
  record: [null, 5, "a", [], new Map([["a", 1]]), new Headers({ a: "1" })],
  signal: [null, {}, "now", new AbortController()],
  number: [null, "5", NaN, -1, 1.5, {}],
  codec: [null, 5, {}, [], () => {}],
  object: [null, 5, "a"],
  list: [null, 5, "a", {}],
} as const;

type Kind = keyof typeof WRONG;

const MESSAGE_OPTIONS: Readonly<Record<string, Kind>> = {
  type: "text",
  correlationId: "text",
  messageId: "text",
  replyTo: "text",
  claim: "text",
  headers: "record",
  priority: "number",
  expirationMs: "number",
  persistent: "boolean",
  mandatory: "boolean",
  signal: "signal",
  causedBy: "object",
};

const RECEIVE_OPTIONS: Readonly<Record<string, Kind>> = {
  codec: "codec",
  retry: "object",
  rungsMs: "list",
  prefetch: "number",
  declare: "boolean",
  consumerTag: "text",
  arguments: "record",
  signal: "signal",
};

/** A call that takes an object of options last. */
interface Verb {
  readonly name: string;
  readonly options: Readonly<Record<string, Kind>>;
  readonly call: (mq: Untyped, options: unknown) => unknown;
  /** Names it does not know are left alone. @default {false} */
  readonly takesOthers?: boolean;
}

const VERBS: readonly Verb[] = [
  {
    name: "mq.publisher",
    options: {
      codec: "codec",
      type: "text",
      version: "number",
      mandatory: "boolean",
      persistent: "boolean",
      headers: "record",
      interceptors: "functions",
    },
    call: (mq, options) => mq.publisher("", "q", options),
  },
  { name: "publisher.send", options: MESSAGE_OPTIONS, call: (mq, options) => mq.publisher("", "q").send(1, options) },
  {
    name: "publisher.sendAll",
    options: MESSAGE_OPTIONS,
    call: (mq, options) => mq.publisher("", "q").sendAll([1], options),
  },
  {
    name: "publisher.sendEncoded",
    options: MESSAGE_OPTIONS,
    call: (mq, options) => mq.publisher("", "q").sendEncoded({ body: new Uint8Array() }, options),
  },
  {
    name: "publisher.prepare",
    options: MESSAGE_OPTIONS,
    call: (mq, options) => mq.publisher("", "q").prepare(1, options),
  },
  {
    name: "publisher.sendPrepared",
    options: { signal: "signal" },
    call: (mq, options) => mq.publisher("", "q").sendPrepared(mq.publisher("", "q").prepare(1), options),
  },
  {
    name: "mq.consume",
    options: { ...RECEIVE_OPTIONS, concurrency: "number", idempotency: "object", interceptors: "functions" },
    call: (mq, options) => mq.consume("q", () => {}, options),
  },
  { name: "mq.deliveries", options: RECEIVE_OPTIONS, call: (mq, options) => mq.deliveries("q", options).next() },
  {
    name: "mq.peek",
    options: { codec: "codec", limit: "number", signal: "signal", from: "object" },
    call: (mq, options) => mq.peek("q", options).next(),
  },
  {
    name: "mq.replay",
    options: { codec: "codec", limit: "number", signal: "signal", dryRun: "boolean", keepAttempts: "boolean" },
    call: (mq, options) => mq.replay("q", options),
  },
  { name: "mq.events", options: { signal: "signal" }, call: (mq, options) => mq.events(options) },
  { name: "mq.health", options: { signal: "signal" }, call: (mq, options) => mq.health(options) },
  {
    name: "consumer.retune",
    options: { prefetch: "number", concurrency: "number" },
    call: async (mq, options) => (await mq.consume("q", () => new Promise(() => {}))).retune(options),
  },
  { name: "retry", options: { delayMs: "number" }, call: (_mq, options) => retry("busy", options as never) },
  {
    name: "fixedRetry",
    options: { delayMs: "number", jitterFactor: "number" },
    call: (_mq, options) => fixedRetry(3, options as never),
  },
  {
    name: "exponentialRetry",
    options: { initialDelayMs: "number", multiplier: "number" },
    call: (_mq, options) => exponentialRetry(3, options as never),
  },
  {
    name: "topology().exchange",
    options: { durable: "boolean", autoDelete: "boolean", arguments: "record" },
    call: (_mq, options) => topology().exchange("x", "topic", options as never),
  },
  {
    name: "topology().queue",
    options: {
      deadLetter: "boolean",
      durable: "boolean",
      exclusive: "boolean",
      autoDelete: "boolean",
      retry: "object",
      rungsMs: "list",
      arguments: "record",
    },
    call: (_mq, options) => topology().queue("q", options as never),
  },
  {
    name: "topology().bind",
    options: { exchange: "text", routingKey: "text", arguments: "record" },
    call: (_mq, options) =>
      topology().queue("q").bind(
        "q",
        (typeof options === "object" && options !== null && !Array.isArray(options)
          ? { exchange: "amq.topic", ...options }
          : options) as never,
      ),
  },
  {
    name: "connect, to a broker",
    options: {
      name: "text",
      codec: "codec",
      codecs: "list",
      confirms: "boolean",
      publishTimeoutMs: "number",
      drainTimeoutMs: "number",
      interceptors: "object",
      telemetry: "object",
      signal: "signal",
      clock: "object",
    },
    call: (_mq, options) => connect(memoryBroker({ clock: virtualClock() }), options as never),
  },
  {
    name: "connect, by URL",
    options: { hostName: "text", reconnect: "object", tls: "object", connectTimeoutMs: "number", name: "text" },
    call: (_mq, options) => connect("amqps://127.0.0.1:1", options as never),
  },
  {
    name: "connect of the core",
    options: { name: "text", codecs: "list", confirms: "boolean", interceptors: "object" },
    call: (_mq, options) => openConnection(memoryBroker({ clock: virtualClock() }), options as never),
    takesOthers: true,
  },
];

/** Numbers for which a whole number is not wanted. */
const FRACTIONS: readonly string[] = [
  "jitterFactor",
  "multiplier",
  "delayMs",
  "initialDelayMs",
  "publishTimeoutMs",
  "drainTimeoutMs",
];

describe("an argument of the wrong kind", () => {
  for (const { name, options, call, takesOthers = false } of VERBS) {
    it(`is refused in the words of the house: ${name} without an object of options`, async () => {
      for (const wrong of NO_OPTIONS) await assertRefused(() => withQueue((mq) => call(mq, wrong)), shown(wrong));
    });

    it(`is refused in the words of the house: every option of ${name}`, async () => {
      for (const [option, kind] of Object.entries(options)) {
        for (const wrong of WRONG[kind]) {
          if (FRACTIONS.includes(option) && wrong === 1.5) continue;
          await assertRefused(
            () => withQueue((mq) => call(mq, { [option]: wrong })),
            `${option}: ${shown(wrong)}`,
            option,
          );
        }
      }
    });

    if (takesOthers) continue;
    it(`is refused in the words of the house: an option that ${name} does not have`, async () => {
      for (const unknown of ["prefetchCount", "messageID", "__proto", "toString"]) {
        await assertRefused(() => withQueue((mq) => call(mq, { [unknown]: 1 })), unknown, unknown);
      }
    });
  }

  const named: readonly (readonly [what: string, call: (mq: Untyped, text: unknown) => unknown])[] = [
    ["the exchange of a publisher", (mq, text) => mq.publisher(text, "q")],
    ["the routing key of a publisher", (mq, text) => mq.publisher("", text)],
    ["the queue of a consumer", (mq, text) => mq.consume(text, () => {})],
    ["the queue of deliveries", (mq, text) => mq.deliveries(text)],
    ["the queue of a look", (mq, text) => mq.peek(text)],
    ["the queue of a replay", (mq, text) => mq.replay(text)],
    ["the name of an exchange", (_mq, text) => topology().exchange(text as string)],
    ["the name of a queue", (_mq, text) => topology().queue(text as string)],
    ["the queue of a binding", (_mq, text) => topology().bind(text as string, { exchange: "amq.topic" })],
    ["the exchange of a binding", (_mq, text) => topology().queue("q").bind("q", { exchange: text as string })],
  ];
  for (const [what, call] of named) {
    it(`is refused in the words of the house: ${what}`, async () => {
      for (const wrong of NO_TEXT) await assertRefused(() => withQueue((mq) => call(mq, wrong)), shown(wrong));
    });
  }

  const others: readonly (readonly [what: string, call: (mq: Untyped) => unknown])[] = [
    ["no handler", (mq) => mq.consume("q")],
    ["a handler that is none", (mq) => mq.consume("q", { handle: () => {} })],
    ["no topology to declare", (mq) => mq.declare()],
    ["the text of a topology", (mq) => mq.declare("q")],
    ["what a topology says instead of it", (mq) => mq.declare(topology().queue("q").spec)],
    ["no topology to plan", (mq) => mq.plan(null)],
    ["no topology to validate", (mq) => mq.validate({})],
    ["no payloads", (mq) => mq.publisher("", "q").sendAll()],
    ["one payload as a batch", (mq) => mq.publisher("", "q").sendAll({ id: 1 })],
    ["no prepared message", (mq) => mq.publisher("", "q").sendPrepared()],
    ["a payload as a prepared message", (mq) => mq.publisher("", "q").sendPrepared(Promise.resolve({ id: 1 }))],
    ["an envelope as the cause", (mq) => mq.publisher("", "q").send(1, { causedBy: { id: "a", correlationId: "b" } })],
    ["no retry policy", (mq) => mq.consume("q", () => {}, { retry: {} })],
    ["no broker", () => openConnection(undefined as never)],
    ["a URL where only brokers are", () => openConnection("amqp://localhost" as never)],
    ["no signal to close with", (mq) => mq.close({ signal: "now" })],
  ];
  for (const [what, call] of others) {
    it(`is refused in the words of the house: ${what}`, () => assertRefused(() => withQueue(call), what));
  }

  const changes: readonly (readonly [what: string, change: object])[] = [
    ["no exchange", { exchange: undefined }],
    ["a number for a routing key", { routingKey: 5 }],
    ["no envelope", { envelope: null }],
    ["an envelope of nothing", { envelope: {} }],
    ["a reply address that is none", { replyTo: {} }],
    ["no headers", { headers: null }],
    ["a Map of headers", { headers: new Map() }],
  ];
  for (const [what, change] of changes) {
    it(`is refused in the words of the house: an interceptor that hands on ${what}`, () =>
      assertRefused(() =>
        withQueue((mq) =>
          mq.publisher("", "q", {
            interceptors: [(context: object, next: (changed: object) => unknown) => next({ ...context, ...change })],
          }).send(1)
        ), what));
  }
});

describe("an argument of the right kind", () => {
  it("is what it was: undefined is not set, and an object without a prototype or of a message's headers will do", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("q");
    const bare: Record<string, unknown> = Object.assign(Object.create(null), { headers: Object.create(null) });
    await mq.publisher("", "q", bare).send(1, { type: undefined, ["unknown" as string]: undefined } as never);
    const [message] = world.waiting("q");
    assert.ok(message !== undefined);
    await mq.consume("q", async ({ headers, envelope }) => {
      if (envelope.causationId === undefined) await mq.publisher("", "q").send(2, { headers, causedBy: { envelope } });
    });
    await world.settled();
    assert.equal(world.sink.count("acemq.consume.total", { outcome: "acked" }), 2);
    await world.close();
  });
});

/** Runs something with a connection to a broker that has a queue and its failure side, and closes it. */
async function withQueue(run: (mq: Untyped) => unknown): Promise<void> {
  const world = new MemoryWorld();
  const mq = await world.withQueue("q");
  world.put("q", 1);
  try {
    await run(mq as unknown as Untyped);
  } finally {
    assert.deepEqual([world.faults.published, world.depth("q") + world.unsettled("q")], [[], 1], "Nothing was sent");
    await world.close();
  }
}

async function assertRefused(call: () => Promise<unknown>, what: string, named = ""): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof TypeError || error instanceof RangeError, `${what}: ${error}`);
    assert.match(error.message, /^Cannot [a-z]/, what);
    assert.ok(error.message.includes(named), `${what}: ${error.message}`);
    return true;
  }, what);
}

function shown(value: unknown): string {
  return `${typeof value} ${Object.prototype.toString.call(value)}`;
}
