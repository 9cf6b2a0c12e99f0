/** What holds for every envelope and for every header table, however it was written. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { headersForCopy } from "../../src/message/broker_headers.ts";
import type { DeclaredRoute, Envelope } from "../../src/message/envelope.ts";
import { isReserved } from "../../src/message/header_names.ts";
import { parseEnvelope } from "../../src/message/parse_envelope.ts";
import { renderHeaders } from "../../src/message/render_envelope.ts";
import { WireDecimal, WireDouble, type WireTable, WireText, WireUnsigned } from "../../src/message/wire_value.ts";
import { text, wireTable, wireValue } from "../support/arbitraries.ts";
import { FRESH_ID, NOW_MS, stoppedSources } from "../support/sources.ts";

const present = text.filter((value) => value !== "");
const fromOne = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
/** What the engine counts is written with 32 bits (contract core 1.1). */
const counter = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const stepName = present.filter((name) => name === name.trim() && !name.includes(","));
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const PLAIN = { noNullPrototype: true } as const;

const route: fc.Arbitrary<DeclaredRoute> = fc.array(stepName, { minLength: 1, maxLength: 5 }).chain((steps) =>
  fc.record({ steps: fc.constant(steps), position: fc.nat(steps.length), runId: optional(present) }, PLAIN)
);

const envelope: fc.Arbitrary<Envelope> = fc.record({
  id: present,
  type: present,
  version: fromOne,
  correlationId: present,
  causationId: optional(present),
  attempt: counter,
  firstSeenMs: fromOne,
  origin: optional(present),
  error: optional(present),
  claim: optional(present),
  route: optional(route),
  replayedFrom: optional(present),
  replayedAt: optional(
    fc.date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
  ),
  replayCount: optional(counter),
}, PLAIN);

function parse(headers: WireTable): Envelope {
  return parseEnvelope({ headers, properties: {}, routingKey: "order.placed" }, stoppedSources());
}

/** A table without the names the envelope and the broker own: what an application adds. */
const application = wireTable.map((table) =>
  Object.fromEntries(
    Object.entries(table).filter(([name]) => !/^(x-acemq-|acemq-|x-death|x-delivery|CC$|BCC$)/.test(name)),
  )
);

describe("every envelope", () => {
  it("survives being written and read", () => {
    fc.assert(fc.property(envelope, application, (written, headers) => {
      assert.deepEqual(parse(renderHeaders(written, headers)), written);
    }));
  });

  it("comes out of a copy with the header names that came in, each value as it was", () => {
    fc.assert(fc.property(envelope, application, (written, headers) => {
      const received = renderHeaders(written, headers);
      assert.deepEqual(renderHeaders(parse(received), headersForCopy(received, "onward")), received);
    }));
  });

  it("sheds unknown names of the reserved prefix in a copy, and nothing else", () => {
    const unknown = fc.dictionary(text.map((name) => `x-acemq-~${name}`), wireValue, { minKeys: 1, maxKeys: 3 });
    fc.assert(fc.property(envelope, application, unknown, (written, headers, strange) => {
      const sent = renderHeaders(written, headers);
      const received = { ...sent, ...strange };
      assert.deepEqual(renderHeaders(parse(received), headersForCopy(received, "onward")), sent);
    }));
  });
});

/** The name of every field, and what it is when its header is garbage. */
const DEFAULTS = {
  id: FRESH_ID,
  type: "order.placed",
  version: 1,
  correlationId: FRESH_ID,
  causationId: undefined,
  attempt: 1,
  firstSeenMs: NOW_MS,
  origin: undefined,
  error: undefined,
  claim: undefined,
  route: undefined,
  replayedFrom: undefined,
  replayedAt: undefined,
  replayCount: undefined,
};

const NAMES = [
  "x-acemq-id",
  "x-acemq-type",
  "x-acemq-version",
  "x-acemq-correlation",
  "x-acemq-causation",
  "x-acemq-attempt",
  "x-acemq-first-seen",
  "x-acemq-origin",
  "x-acemq-error",
  "x-acemq-claim",
  "x-acemq-route",
  "x-acemq-route-position",
  "x-acemq-route-id",
  "acemq-replayed-from",
  "acemq-replayed-at",
  "acemq-replay-count",
  "x-acemq-replayed-from",
  "x-acemq-replayed-at",
  "x-acemq-replay-count",
];

/** Of no use to a text field, nor to an integer one, nor to an instant. */
const garbage = fc.oneof(
  fc.boolean(),
  fc.constant(null),
  fc.array(wireValue, { maxLength: 3 }),
  wireTable,
  fc.constantFrom(new WireDouble(NaN), new WireDouble(Infinity), new WireDouble(-Infinity), ""),
);

describe("every header table", () => {
  const anyTable = fc.tuple(wireTable, fc.array(fc.tuple(fc.constantFrom(...NAMES), wireValue), { maxLength: 12 }))
    .map(([table, reserved]): WireTable => ({ ...table, ...Object.fromEntries(reserved) }));

  it("is read without a failure, into an envelope whose numbers keep their ranges", () => {
    fc.assert(
      fc.property(anyTable, (headers) => {
        const { id, type, correlationId, version, attempt, firstSeenMs, replayCount, ...rest } = parse(headers);
        for (const value of [id, type, correlationId]) assert.ok(value.length > 0);
        for (const value of [version, attempt, firstSeenMs, replayCount ?? 1]) {
          assert.ok(Number.isSafeInteger(value) && value >= 1, String(value));
        }
        for (const value of [rest.causationId, rest.origin, rest.error, rest.claim, rest.replayedFrom]) {
          assert.notEqual(value, "");
        }
        if (rest.route !== undefined) {
          assert.ok(rest.route.steps.length > 0);
          assert.ok(rest.route.position >= 0 && rest.route.position <= rest.route.steps.length);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("of garbage in every reserved header gives the default of every field", () => {
    const all = fc.tuple(...NAMES.map(() => garbage));
    fc.assert(fc.property(all, (values) => {
      const headers = Object.fromEntries(NAMES.map((name, index) => [name, values[index] ?? null]));
      assert.deepEqual(parse(headers), DEFAULTS);
    }));
  });

  it("is read once and for all: what is written of it reads the same again, but for an attempt of more than 32 bits", () => {
    fc.assert(
      fc.property(anyTable.map(withoutOldNames), (headers) => {
        const first = parse(headers);
        const again = renderHeaders(first, headersForCopy(headers, "onward"));
        const written = { ...first, attempt: Math.min(first.attempt, 2 ** 31 - 1) };
        assert.deepEqual(parse(again), written);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps every header outside the reserved prefix in a copy, value and kind, but for the broker's own", () => {
    fc.assert(fc.property(anyTable, (headers) => {
      const copy = renderHeaders(parse(headers), headersForCopy(headers, "onward"));
      for (const [name, value] of Object.entries(headers)) {
        if (!isReserved(name)) assert.deepEqual(Object.getOwnPropertyDescriptor(copy, name)?.value, value);
      }
    }));
  });
});

/** An old name is given up with the copy, and an unreadable new one beside it stays as it is: only then less is read again. */
function withoutOldNames(table: WireTable): WireTable {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !name.startsWith("x-acemq-replay")));
}

describe("every whole number in an integer header", () => {
  const spellings: readonly (readonly [string, (value: number) => WireTable[string]])[] = [
    ["a number", (value) => value],
    ["a bigint", (value) => BigInt(value)],
    ["a double", (value) => new WireDouble(value)],
    ["text", (value) => ` ${value} `],
    ["text with a fraction", (value) => `${value}.9`],
    ["bytes of text", (value) => new TextEncoder().encode(String(value))],
    ["text of undecoded bytes", (value) => new WireText(new TextEncoder().encode(String(value)))],
  ];
  for (const [what, spelled] of spellings) {
    it(`is the same number as ${what}`, () => {
      fc.assert(fc.property(fromOne, (value) => {
        const { attempt, version, firstSeenMs } = parse({
          "x-acemq-attempt": spelled(value),
          "x-acemq-version": spelled(value),
          "x-acemq-first-seen": spelled(value),
        });
        assert.deepEqual([attempt, version, firstSeenMs], [value, value, value]);
      }));
    });
  }

  it("is the part before the point of a decimal", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 2_147 }), fc.nat(999_999), (value, rest) => {
      const decimal = new WireDecimal(6, value * 1_000_000 + rest);
      assert.equal(parse({ "x-acemq-attempt": decimal }).attempt, value);
    }));
  });

  it("is its decimal text in a text header, as large as it may be", () => {
    fc.assert(fc.property(fc.bigInt({ min: 2n ** 63n, max: 2n ** 64n - 1n }), (value) => {
      assert.equal(parse({ "x-acemq-id": new WireUnsigned(value) }).id, value.toString());
    }));
  });
});
