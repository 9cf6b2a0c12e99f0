/** Interceptors around a handler: contract core 9. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { accept, park, reject, retry } from "../../../src/consume/ack.ts";
import { type ConsumeInterceptor, type Handler, runHandler } from "../../../src/consume/interceptor.ts";
import { newEnvelope } from "../../../src/message/envelope.ts";
import { Message } from "../../../src/message/message.ts";
import { stoppedSources } from "../../support/sources.ts";

const MESSAGE = new Message<unknown>({ n: 1 }, newEnvelope({ type: "order.placed" }, stoppedSources()), {
  queue: "orders.new",
  received: {
    exchange: "",
    routingKey: "orders.new",
    redelivered: false,
    properties: {},
    headers: {},
    body: new Uint8Array(),
  },
  signal: () => new AbortController().signal,
});

const nothing: Handler = () => {};

describe("a handler", () => {
  it("that returns, at once or later, has returned what it returned", async () => {
    for (const value of [undefined, accept(), reject("no")]) {
      assert.deepEqual(await runHandler(MESSAGE, () => value, []), { status: "returned", value });
      assert.deepEqual(await runHandler(MESSAGE, () => Promise.resolve(value), []), { status: "returned", value });
    }
  });

  it("that throws, at once or later, whatever it throws, has thrown it", async () => {
    for (const error of [new Error("no"), "no", undefined, null, 0, { no: true }]) {
      const throwing: Handler = () => {
        throw error;
      };
      const thrown = { status: "threw", error, by: "handler" };
      for (const handler of [throwing, () => Promise.reject(error)]) {
        assert.deepEqual(await runHandler(MESSAGE, handler, []), thrown);
        assert.deepEqual(await runHandler(MESSAGE, handler, [(message, next) => next(message)]), thrown);
      }
    }
  });
});

describe("interceptors", () => {
  it("run around the handler, the first outermost", async () => {
    const order: string[] = [];
    const traced = (name: string): ConsumeInterceptor => async (message, next) => {
      order.push(`${name} in`);
      const result = await next(message);
      order.push(`${name} out`);
      return result;
    };
    await runHandler(MESSAGE, () => void order.push("handler"), [traced("a"), traced("b")]);
    assert.deepEqual(order, ["a in", "b in", "handler", "b out", "a out"]);
  });

  it("hand on another payload or envelope, and the original stays as it was", async () => {
    const seen: unknown[] = [];
    const changing: ConsumeInterceptor = (message, next) => next(message.with({ payload: { n: 2 } }));
    await runHandler(MESSAGE, ({ payload }) => void seen.push(payload), [changing]);
    assert.deepEqual([seen, MESSAGE.payload], [[{ n: 2 }], { n: 1 }]);
  });

  it("may answer instead of the handler", async () => {
    const refusing: ConsumeInterceptor = () => Promise.resolve(reject("not today"));
    const handled = await runHandler(MESSAGE, () => assert.fail("It must not run"), [refusing]);
    assert.deepEqual(handled, { status: "returned", value: { kind: "reject", reason: "not today" } });
  });

  it("that throw, at once or later, before or after the handler, are told from a handler that threw", async () => {
    const error = new Error("no tenant");
    const spoilers: readonly ConsumeInterceptor[] = [
      () => {
        throw error;
      },
      () => Promise.reject(error),
      async (message, next) => {
        await next(message);
        throw error;
      },
    ];
    for (const spoiler of spoilers) {
      assert.deepEqual(await runHandler(MESSAGE, nothing, [spoiler]), { status: "threw", error, by: "interceptor" });
    }
  });

  it("that turn the handler's error into a word of their own have the last word", async () => {
    const forgiving: ConsumeInterceptor = (message, next) => next(message).catch(() => reject("forgiven"));
    const handled = await runHandler(MESSAGE, () => Promise.reject(new Error("no")), [forgiving]);
    assert.deepEqual(handled, { status: "returned", value: { kind: "reject", reason: "forgiven" } });
  });

  it("that do not wait for the handler leave no rejection behind that nobody hears of", async () => {
    const careless: ConsumeInterceptor = (message, next) => {
      void next(message);
      return Promise.resolve(accept());
    };
    const unheard: unknown[] = [];
    const listen = (error: unknown): number => unheard.push(error);
    process.on("unhandledRejection", listen);
    const handled = await runHandler(MESSAGE, () => Promise.reject(new Error("no")), [careless]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    assert.deepEqual([handled, unheard], [{ status: "returned", value: { kind: "accept" } }, []]);
  });
});

describe("an interceptor that forgets to return", () => {
  it("leaves the word of the handler standing, and accepts only where nobody said anything", async () => {
    const forgetful = (async (message, next) => {
      await next(message);
    }) as ConsumeInterceptor;
    for (const word of [reject("no"), park("whose?"), retry("busy"), accept(), undefined]) {
      assert.deepEqual(await runHandler(MESSAGE, () => word, [forgetful, forgetful]), {
        status: "returned",
        value: word,
      });
    }
    const silent: ConsumeInterceptor = () => Promise.resolve();
    assert.deepEqual(await runHandler(MESSAGE, () => reject("no"), [silent]), { status: "returned", value: undefined });
  });
});
