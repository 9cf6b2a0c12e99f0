/** One family of errors, and what each says: contract core 2.6 and 4.7. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AceMqError,
  type BatchItem,
  ClaimUnconfirmedError,
  CodecMissingError,
  ConnectionError,
  DecodeError,
  describeError,
  EncodeError,
  FatalError,
  isFatal,
  isRetryable,
  LayoutError,
  LeaseLostError,
  PublishBatchError,
  PublishError,
  type PublishErrorCode,
  RetryableError,
  SecurityError,
  StoreError,
  TopologyError,
} from "../../src/errors.ts";

class Boom extends Error {}

function publishError(code: PublishErrorCode, exchange = "orders"): PublishError {
  return new PublishError({
    code,
    exchange,
    routingKey: "order.placed",
    messageId: "7f3a",
    reason: "no queue is bound",
  });
}

function sent(index: number): BatchItem {
  return { index, status: "sent", messageId: `id-${index}` };
}

function failed(index: number, error: unknown): BatchItem {
  return { index, status: "failed", error };
}

describe("an error of this library", () => {
  const members: readonly (readonly [AceMqError, string, string])[] = [
    [new FatalError("m"), "FatalError", "ACEMQ_FATAL"],
    [new RetryableError("m"), "RetryableError", "ACEMQ_RETRYABLE"],
    [publishError("ACEMQ_PUBLISH_NACKED"), "PublishError", "ACEMQ_PUBLISH_NACKED"],
    [new PublishBatchError([failed(0, new Boom("m"))]), "PublishBatchError", "ACEMQ_PUBLISH_BATCH"],
    [new EncodeError("m"), "EncodeError", "ACEMQ_ENCODE"],
    [new DecodeError("m"), "DecodeError", "ACEMQ_DECODE"],
    [new ConnectionError("ACEMQ_CONNECT_AUTH", "m"), "ConnectionError", "ACEMQ_CONNECT_AUTH"],
    [new TopologyError("ACEMQ_TOPOLOGY_DRIFT", "m"), "TopologyError", "ACEMQ_TOPOLOGY_DRIFT"],
    [new CodecMissingError("m"), "CodecMissingError", "ACEMQ_CODEC_MISSING"],
    [new SecurityError("m"), "SecurityError", "ACEMQ_SECURITY"],
    [new StoreError("m"), "StoreError", "ACEMQ_STORE"],
    [new LayoutError("m"), "LayoutError", "ACEMQ_TABLE_LAYOUT"],
    [new LeaseLostError("m"), "LeaseLostError", "ACEMQ_LEASE_LOST"],
    [new ClaimUnconfirmedError("m"), "ClaimUnconfirmedError", "ACEMQ_CLAIM_UNCONFIRMED"],
  ];
  for (const [error, name, code] of members) {
    it(`has a name, a code and the family: ${name}`, () => {
      assert.ok(error instanceof AceMqError && error instanceof Error);
      assert.deepEqual([error.name, error.code], [name, code]);
    });
  }

  it("keeps its cause", () => {
    const cause = new Boom("driver");
    for (const error of [new FatalError("m", { cause }), new DecodeError("m", { cause })]) {
      assert.equal(error.cause, cause);
    }
  });

  it("is named after the class a caller derives from it", () => {
    class OutOfStock extends FatalError {}
    assert.equal(new OutOfStock("m").name, "OutOfStock");
  });
});

describe("a failed publish", () => {
  it("says in words what the broker's 312 NO_ROUTE means, and keeps the broker's own as its reason", () => {
    const failure = { code: "ACEMQ_PUBLISH_UNROUTABLE", messageId: "7f3a", reason: "312 NO_ROUTE" } as const;
    const bound = new PublishError({ ...failure, exchange: "orders", routingKey: "order.lost" });
    const named = new PublishError({ ...failure, exchange: "", routingKey: "orders.new" });
    assert.match(bound.message, /"order\.lost": no queue is bound for this key \(312 NO_ROUTE\)$/);
    assert.match(named.message, /"orders\.new": there is no queue of that name \(312 NO_ROUTE\)$/);
    assert.deepEqual([bound.reason, named.reason], ["312 NO_ROUTE", "312 NO_ROUTE"]);
  });

  it("says what went where and why, and has the facts as fields", () => {
    const error = publishError("ACEMQ_PUBLISH_NACKED");
    assert.equal(
      error.message,
      'Cannot publish message "7f3a" to exchange "orders" with key "order.placed": no queue is bound',
    );
    const { exchange, routingKey, messageId, reason } = error;
    assert.deepEqual([exchange, routingKey, messageId, reason], [
      "orders",
      "order.placed",
      "7f3a",
      "no queue is bound",
    ]);
  });

  it("names the queue behind the default exchange", () => {
    assert.equal(
      publishError("ACEMQ_PUBLISH_NACKED", "").message,
      'Cannot publish message "7f3a" to queue "order.placed": no queue is bound',
    );
  });

  it("is unroutable or paused by its code alone", () => {
    const flags = (
      code: PublishErrorCode,
    ): readonly boolean[] => [publishError(code).unroutable, publishError(code).paused];
    assert.deepEqual(flags("ACEMQ_PUBLISH_UNROUTABLE"), [true, false]);
    assert.deepEqual(flags("ACEMQ_PUBLISH_PAUSED"), [false, true]);
    for (const code of ["ACEMQ_PUBLISH_NACKED", "ACEMQ_PUBLISH_REFUSED", "ACEMQ_PUBLISH_UNKNOWN"] as const) {
      assert.deepEqual(flags(code), [false, false]);
    }
  });
});

describe("a failed batch", () => {
  it("counts what failed and what did not, and keeps every result in payload order", () => {
    const results = [sent(0), failed(1, new Boom("first")), sent(2), failed(3, new Boom("second"))];
    const error = new PublishBatchError(results);
    assert.deepEqual([error.total, error.failed, error.confirmed], [4, 2, 2]);
    assert.deepEqual(error.results, results);
    assert.equal((error.cause as Error).message, "first");
    assert.equal(error.message, "2 of 4 messages were not confirmed; 2 were. The first failure was: first");
  });

  class Silent extends Error {
    override readonly name = "SilentError";
  }
  const silent: readonly (readonly [string, unknown, RegExp])[] = [
    ["a class with a name", new Silent(), /The first failure was: SilentError$/],
    ["a class without one of its own", new Boom(), /The first failure was: Boom$/],
    ["an error of the language", new TypeError(), /The first failure was: TypeError$/],
    ["a blank text", new Boom("  \n"), /The first failure was: Boom$/],
  ];
  for (const [what, error, sentence] of silent) {
    it(`names the class of a first failure without words: ${what} [PUB-20]`, () => {
      assert.match(new PublishBatchError([sent(0), failed(1, error)]).message, sentence);
    });
  }

  it("has words for a first failure that is no error at all", () => {
    assert.match(new PublishBatchError([failed(0, "down")]).message, /: down$/);
    assert.match(new PublishBatchError([failed(0, undefined)]).message, /: undefined$/);
    assert.match(new PublishBatchError([failed(0, Object.create(null))]).message, /: object$/);
  });

  it("is unroutable only if every failure was, and paused only if every failure was [PUB-24]", () => {
    const flags = (...errors: readonly unknown[]): readonly boolean[] => {
      const error = new PublishBatchError([sent(0), ...errors.map((one, index) => failed(index + 1, one))]);
      return [error.unroutable, error.paused];
    };
    const unroutable = publishError("ACEMQ_PUBLISH_UNROUTABLE");
    const nacked = publishError("ACEMQ_PUBLISH_NACKED");
    const paused = publishError("ACEMQ_PUBLISH_PAUSED");
    assert.deepEqual(flags(unroutable, unroutable), [true, false]);
    assert.deepEqual(flags(paused, paused), [false, true]);
    assert.deepEqual(flags(unroutable, nacked), [false, false]);
    assert.deepEqual(flags(unroutable, paused), [false, false]);
    assert.deepEqual(flags(unroutable, new Boom("m")), [false, false]);
    assert.deepEqual(flags(paused, "down"), [false, false]);
  });
});

describe("a mark in a chain of causes", () => {
  const wrapped = (cause: unknown, depth: number): unknown =>
    depth === 0 ? cause : new Error("outer", { cause: wrapped(cause, depth - 1) });

  it("is found at the top and however deep", () => {
    for (const depth of [0, 1, 5, 40]) {
      assert.equal(isFatal(wrapped(new FatalError("m"), depth)), true);
      assert.equal(isRetryable(wrapped(new RetryableError("m"), depth)), true);
    }
  });

  it("is not there when nobody set it", () => {
    for (const error of [new Error("m"), new DecodeError("m"), wrapped(new Boom("m"), 3), "text", null, undefined]) {
      assert.equal(isFatal(error), false);
      assert.equal(isRetryable(error), false);
    }
    assert.equal(isFatal(new RetryableError("m")), false);
    assert.equal(isRetryable(new FatalError("m")), false);
  });

  it("is looked for to the end of a chain that is a ring", () => {
    const first = new Error("first");
    first.cause = new Error("second", { cause: first });
    assert.equal(isFatal(first), false);
    const own = new FatalError("m");
    own.cause = own;
    assert.equal(isFatal(own), true);
  });

  it("is not looked for behind a cause that is no error", () => {
    assert.equal(isFatal(new Error("m", { cause: { cause: new FatalError("m") } })), false);
  });
});

describe("an error in words", () => {
  class Silent extends Error {
    override readonly name = "SilentError";
  }
  const words: readonly (readonly [unknown, string])[] = [
    [new TypeError("x is not a function"), "TypeError: x is not a function"],
    [new FatalError("No such product"), "FatalError: No such product"],
    [new Boom("payment gateway did not answer"), "Boom: payment gateway did not answer"],
    [new Error("plain"), "Error: plain"],
    [new Silent("m"), "SilentError: m"],
    [new Silent(), "SilentError"],
    [new TypeError(), "TypeError"],
    [new Boom(" \n"), "Boom"],
    [new (class extends Error {})("m"), "Error: m"],
    [Object.assign(new Error(), { message: undefined }), "Error"],
    [Object.assign(new Error(), { message: { code: 7 }, name: "" }), "Error: [object Object]"],
    ["a text", "a text"],
    [42, "42"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [Object.create(null), "object"],
  ];
  for (const [error, text] of words) {
    it(`is "${text}"`, () => assert.equal(describeError(error), text));
  }

  it("is said of a thing whose text throws", () => {
    const hostile = {
      toString(): string {
        throw new Error("no");
      },
    };
    assert.equal(describeError(hostile), "object");
  });
});
