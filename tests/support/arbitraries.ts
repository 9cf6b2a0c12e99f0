/**
 * Generators of header values, for property tests: everything that can arrive, everything that may be sent.
 *
 * @module
 */
import fc from "fast-check";
import type { HeaderValue, OutgoingHeaders } from "../../src/message/header_value.ts";
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";

/** The seconds a `Date` reaches in both directions. */
const LARGEST_DATE_SECONDS = 8_640_000_000_000n;

/** Any text that UTF-8 holds, names of `Object.prototype` among it. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "", "\u0000", "\ufeff") },
);

/** A header name: text of at most 255 bytes. */
export const headerName: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom("n".repeat(255), "ü".repeat(127), "🧀".repeat(63)) },
);

/** A whole number that a `number` holds exactly, small ones and the edges of 32 bits preferred. */
export const wholeNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, 1, -1, 127, 128, -129, 32_768, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32),
);

/** A signed 64-bit integer that a `number` does not hold exactly. */
export const largeInteger: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
);

/** Bytes that are no valid UTF-8. */
export const binary: fc.Arbitrary<Uint8Array<ArrayBuffer>> = fc.uint8Array({ maxLength: 20 })
  .map((bytes) => Uint8Array.of(...bytes, 0xff));

/** A timestamp as AMQP has it: whole seconds. */
export const wholeSeconds: fc.Arbitrary<Date> = fc.bigInt({ min: -LARGEST_DATE_SECONDS, max: LARGEST_DATE_SECONDS })
  .map((seconds) => new Date(Number(seconds) * 1_000));

/** A fraction, negative zero left out: it is a whole number and loses its sign as one. */
const fraction = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Number.isInteger(value));

const wireLeaf: fc.Arbitrary<WireValue> = fc.oneof(
  text,
  wholeNumber,
  largeInteger,
  fc.boolean(),
  fc.constant(null),
  wholeSeconds,
  binary,
  text.map((value) => new TextEncoder().encode(value)),
  fc.double().map((value) => new WireDouble(value)),
  fc.record({ scale: fc.nat(255), unscaled: fc.integer() })
    .map(({ scale, unscaled }) => new WireDecimal(scale, unscaled)),
  fc.bigInt({ min: 2n ** 63n, max: 2n ** 64n - 1n }).map((value) => new WireUnsigned(value)),
  fc.bigInt({ min: LARGEST_DATE_SECONDS + 1n, max: 2n ** 63n - 1n }).map((seconds) => new WireTimestamp(seconds)),
  binary.map((bytes) => new WireText(bytes)),
);

/** Any value that can arrive in a header table, nested ones included. */
export const wireValue: fc.Arbitrary<WireValue> = nested<WireValue>(wireLeaf);

/** Any header table that can arrive; names of the reserved prefix only by chance. */
export const wireTable: fc.Arbitrary<WireTable> = tableOf(wireValue);

const headerLeaf: fc.Arbitrary<HeaderValue> = fc.oneof(
  text,
  wholeNumber,
  fc.constantFrom(-(2 ** 63), 2 ** 63 - 1_024),
  fraction,
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.boolean(),
  fc.constant(null),
  fc.date({ noInvalidDate: true }),
  binary,
);

/** Any value an application may send, bytes that are valid UTF-8 left out: those are read as text. */
export const headerValue: fc.Arbitrary<HeaderValue> = nested<HeaderValue>(headerLeaf);

/** Headers an application may send: no reserved name, none of the broker's, no further routing keys. */
export const outgoingHeaders: fc.Arbitrary<OutgoingHeaders> = fc.array(fc.tuple(headerName, headerValue), {
  maxLength: 6,
}).map((entries) => Object.fromEntries(entries.filter(([name]) => !/^(x-|CC$|BCC$)/.test(name))));

/** A value somewhere in lists and tables. */
function nested<T>(leaf: fc.Arbitrary<T>): fc.Arbitrary<T> {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 6, arbitrary: leaf },
      { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
      { weight: 1, arbitrary: tableOf(tie("value")) },
    ),
  }));
  return value as fc.Arbitrary<T>;
}

function tableOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(headerName, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));
}
