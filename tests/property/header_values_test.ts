/** What holds for every header value an application reads or writes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type HeaderValue,
  type OutgoingHeaders,
  readableHeaders,
  writableHeaders,
} from "../../src/message/header_value.ts";
import { headerValue, outgoingHeaders, wireTable } from "../support/arbitraries.ts";

function problemOf(headers: unknown): string | undefined {
  const result = writableHeaders(headers as OutgoingHeaders);
  return "problem" in result ? result.problem : undefined;
}

/** What no AMQP kind holds. */
const unencodable: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(NaN, Infinity, -Infinity, 2 ** 63, 1e300, -1e300),
  fc.bigInt({ min: 2n ** 63n }),
  fc.bigInt({ max: -(2n ** 63n) - 1n }),
  fc.constantFrom(() => 1, Symbol("s"), undefined),
  fc.constantFrom(new Map(), new Set(), new WeakMap(), new DataView(new ArrayBuffer(2)), new ArrayBuffer(2)),
  fc.constantFrom(
    new Float64Array(1),
    new Int8Array(1),
    /x/,
    new Error("e"),
    new URL("amqp://b"),
    new (class Order {})(),
  ),
  fc.constant(new Date(NaN)),
  fc.constantFrom("\ud800", "a\udfff", "\udc00\ud800"),
  fc.string({ minLength: 256, maxLength: 300 }).map((name) => ({ [name]: 1 })),
  fc.string({ minLength: 128, maxLength: 140, unit: fc.constantFrom("ü", "ß") }).map((name) => ({ [name]: 1 })),
  fc.constant({ "\ud800": 1 }),
);

/** A place inside a header: a key of a table or an index of a list for each step down. */
const path = fc.array(fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.nat(3)), { maxLength: 5 });

/** The value at its place, sound neighbours before it. */
function placed(value: unknown, steps: readonly (string | number)[], neighbour: HeaderValue): unknown {
  const [step, ...deeper] = steps;
  if (step === undefined) return value;
  const inner = placed(value, deeper, neighbour);
  return typeof step === "string" ? { [step]: inner } : [...Array<HeaderValue>(step).fill(neighbour), inner];
}

describe("every header an application may send", () => {
  it("reads back equal", () => {
    fc.assert(
      fc.property(outgoingHeaders, (headers) => {
        const result = writableHeaders(headers);
        if ("problem" in result) assert.fail(result.problem);
        assert.deepEqual({ ...readableHeaders(result.table) }, headers);
      }),
      { numRuns: 500 },
    );
  });

  it("is a table of its own: nothing of the caller's is shared", () => {
    fc.assert(fc.property(outgoingHeaders, (headers) => {
      const result = writableHeaders(headers);
      if ("problem" in result) assert.fail(result.problem);
      const shared = objectsIn(result.table).filter((one) => objectsIn(headers).includes(one));
      assert.deepEqual(shared, []);
    }));
  });
});

describe("every value that no AMQP kind holds", () => {
  it("is refused with the name of its header, at the top and nested", () => {
    fc.assert(
      fc.property(unencodable, path, headerValue, (value, steps, neighbour) => {
        fc.pre(value !== undefined || typeof steps.at(-1) === "number");
        const problem = problemOf({ "x-good": neighbour, "x-bad": placed(value, steps, neighbour) });
        assert.match(problem ?? "accepted", /"x-bad"|header name/);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is refused with its place", () => {
    fc.assert(fc.property(path, (steps) => {
      const place = steps.map((step) => typeof step === "string" ? `.${step}` : `[${step}]`).join("");
      const problem = problemOf({ "x-bad": placed(NaN, steps, 1) });
      assert.equal(problem, `header "x-bad"${place} is NaN, which no AMQP kind holds`);
    }));
  });
});

describe("every header table that can arrive", () => {
  it("is read without a failure, and what was read is frozen and can be sent again", () => {
    fc.assert(
      fc.property(wireTable, (table) => {
        const headers = readableHeaders(table);
        assert.ok(Object.isFrozen(headers));
        for (const [name, value] of Object.entries(headers)) {
          const problem = problemOf({ h: value });
          const unsendable = /is (NaN|-?Infinity), |does not fit a signed 64-bit integer$/;
          if (problem !== undefined) assert.match(problem, unsendable, name);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Every object in a value that could be changed through it. */
function objectsIn(value: unknown): readonly object[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = value instanceof Uint8Array || value instanceof Date ? [] : Object.values(value);
  return [value, ...inner.flatMap(objectsIn)];
}
