/**
 * Arguments of declarations and subscriptions, as the client writes them without changing a value.
 *
 * @module
 */

import type { Field } from "@cloudamqp/amqp-client";
import { utf8Length } from "../../src/internal/bytes.ts";
import type { HeaderValue } from "../../src/message/header_value.ts";
import type { DeclareArguments } from "../../src/topology/specs.ts";
import { ByteWriter, LONGEST_SHORT_TEXT } from "./wire/byte_writer.ts";
import { writeTable } from "./wire/table_writer.ts";
import { Unwritable } from "./wire/unwritable.ts";

/** A table as the client takes it. */
export type ClientTable = Record<string, Field>;

/** The client writes a call into 4,096 bytes: frame, names and flags beside the arguments. */
const ROOM_FOR_A_CALL = 4_096;
const FIXED_PART = 32;

/**
 * Checks and converts the arguments of a call that also carries `names`; throws {@linkcode Unwritable} before anything is sent.
 *
 * The client writes whole numbers between 2^31 and 2^32 as 32 bits, which wraps them, and fractions in single precision: the
 * former go out as 64 bits, and of the latter only those that stay what they are.
 */
export function clientArguments(args: DeclareArguments, names: readonly string[]): ClientTable {
  for (const name of names) assertShort(name);
  const writer = new ByteWriter(ROOM_FOR_A_CALL);
  writer.limit(ROOM_FOR_A_CALL - names.reduce((bytes, name) => bytes + 1 + utf8Length(name), FIXED_PART));
  try {
    writeTable(writer, args);
  } catch (error) {
    throw error instanceof Unwritable ? new Unwritable(`argument ${error.message}`) : error;
  }
  return clientTable(args);
}

function clientTable(table: { readonly [name: string]: HeaderValue }): ClientTable {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, clientField(name, value)]));
}

function clientField(name: string, value: HeaderValue): Field {
  if (typeof value === "number") return clientNumber(name, value);
  if (Array.isArray(value)) return value.map((item: HeaderValue) => clientField(name, item));
  const isTable = typeof value === "object" && value !== null && !(value instanceof Date) &&
    !(value instanceof Uint8Array);
  return isTable ? clientTable(value as { readonly [name: string]: HeaderValue }) : value;
}

function clientNumber(name: string, value: number): number | bigint {
  if (value === (value | 0)) return value;
  if (Number.isInteger(value)) return BigInt(value);
  if (Math.fround(value) === value) return value;
  throw new Unwritable(`argument ${JSON.stringify(name)} is a fraction that single precision does not hold: ${value}`);
}

function assertShort(name: string): void {
  const bytes = utf8Length(name);
  if (bytes > LONGEST_SHORT_TEXT) throw new Unwritable(`a name must fit ${LONGEST_SHORT_TEXT} bytes, found ${bytes}`);
  if (!name.isWellFormed()) throw new Unwritable("a name holds half a surrogate pair");
}
