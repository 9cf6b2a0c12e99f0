/**
 * The logical types of the specification as values of JavaScript that lose nothing (Avro 1.11, "Logical types").
 *
 * @module
 */

import { formatDecimal, parseDecimal } from "./decimal.ts";
import type { LogicalConverter, LogicalTypes } from "./logical_type.ts";
import { dayOf, textOfDay, textOfTime, timeOf } from "./time_text.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The last millisecond a `Date` has, either way. */
const DATE_LIMIT = 8.64e15;

/**
 * Converters for the `logicalTypes` of a codec. What a `Date` or a `number` would cut off is text:
 *
 * | logical type       | value                                                                    |
 * | ------------------ | ------------------------------------------------------------------------ |
 * | `timestamp-millis` | a `Date`                                                                 |
 * | `timestamp-micros` | text, `2026-03-04T05:06:07.890123Z`; a `Date` is written as well         |
 * | `date`             | text, `2026-03-04`                                                       |
 * | `time-millis`      | text, `05:06:07.890`                                                     |
 * | `time-micros`      | text, `05:06:07.890123`                                                  |
 * | `decimal`          | text with as many digits behind the point as the schema has, `12.34`     |
 * | `uuid`             | text; of 16 bytes as well as of text                                     |
 *
 * Every other logical type stays raw.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { avroCodec, standardLogicalTypes } from "@acemq/amqp/avro";
 *
 * const amount = { type: "bytes", logicalType: "decimal", precision: 9, scale: 2 };
 * const codec = avroCodec(amount, { logicalTypes: standardLogicalTypes() });
 * const { body } = await codec.encode("12.34");
 * assert.deepEqual(body, Uint8Array.of(0x04, 0x04, 0xd2));
 * assert.equal(await codec.decode(body, { contentType: "avro/binary" }), "12.34");
 * ```
 */
export function standardLogicalTypes(): LogicalTypes {
  return {
    "timestamp-millis": TIMESTAMP_MILLIS,
    "timestamp-micros": TIMESTAMP_MICROS,
    "date": { read: (raw) => textOfDay(Number(raw)), write: dayOf },
    "time-millis": {
      read: (raw) => textOfTime(BigInt(raw as number), 3),
      write: (value) => numberOf(timeOf(value, 3)),
    },
    "time-micros": {
      read: (raw) => textOfTime(BigInt(raw as number), 6),
      write: (value) => numberOf(timeOf(value, 6)),
    },
    "decimal": { read: formatDecimal, write: parseDecimal },
    "uuid": UUID_TEXT,
  };
}

const TIMESTAMP_MILLIS: LogicalConverter = {
  read: (raw) => {
    if (Math.abs(Number(raw)) > DATE_LIMIT) throw new RangeError("No Date is that far away");
    return new Date(Number(raw));
  },
  write: (value) => value instanceof Date && !Number.isNaN(value.getTime()) ? value.getTime() : undefined,
};

const TIMESTAMP_MICROS: LogicalConverter = {
  read: (raw) => {
    const micros = BigInt(raw as number | bigint);
    const days = micros / 86_400_000_000n - (micros % 86_400_000_000n < 0n ? 1n : 0n);
    return `${textOfDay(Number(days))}T${textOfTime(micros - days * 86_400_000_000n, 6)}Z`;
  },
  write: (value) => {
    if (value instanceof Date) {
      return Number.isNaN(value.getTime()) ? undefined : narrow(BigInt(value.getTime()) * 1_000n);
    }
    const [, day, time] = /^(.+)T(.+)Z$/.exec(typeof value === "string" ? value : "") ?? [];
    const [days, micros] = [dayOf(day), timeOf(time, 6)];
    return days === undefined || micros === undefined ? undefined : narrow(BigInt(days) * 86_400_000_000n + micros);
  },
};

const UUID_TEXT: LogicalConverter = {
  read: (raw) => {
    const text = typeof raw === "string" ? raw : textOfBytes(raw as Uint8Array);
    if (!UUID.test(text)) throw new RangeError("This is no UUID");
    return text;
  },
  write: (value, { size }) => {
    if (typeof value !== "string" || !UUID.test(value)) return undefined;
    return size === undefined ? value : bytesOfText(value);
  },
};

function textOfBytes(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function bytesOfText(uuid: string): Uint8Array {
  return Uint8Array.from(uuid.replaceAll("-", "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function numberOf(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** The form in which a long is read and written: a `number` where that is exact. */
function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
