/**
 * The default of a field as the bytes it would be written as: read, it is a value of its own every time (Avro 1.11, "Complex types").
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import { ByteWriter } from "./byte_writer.ts";
import { Fault, within } from "./fault.ts";
import type { AvroType, RecordType } from "./schema.ts";

const LONG_LIMIT = 2n ** 63n;

/** The bytes of a default; throws a `Fault` when it is no value of the type. */
export function defaultBytes(type: AvroType, json: unknown): Uint8Array {
  const into = new ByteWriter();
  into.begin(0);
  write(type, json, into);
  return into.end();
}

function write(type: AvroType, json: unknown, into: ByteWriter): void {
  switch (type.kind) {
    case "null":
      return assertKind(json === null, "null", json);
    case "boolean":
      assertKind(typeof json === "boolean", "true or false", json);
      return into.boolean(json as boolean);
    case "int":
      assertKind(json === Number(json) && json === (json | 0), "an int", json);
      return into.whole(json as number);
    case "long":
      return writeLong(json, into);
    case "float":
    case "double":
      assertKind(typeof json === "number" || typeof json === "bigint", "a number", json);
      return type.kind === "float" ? into.float(Number(json)) : into.double(Number(json));
    case "string":
      assertKind(typeof json === "string" && json.isWellFormed(), "text", json);
      return into.text(json as string);
    case "bytes":
      return into.byteString(bytesOf(json));
    case "fixed":
      assertKind(typeof json === "string" && json.length === type.size, `text of ${type.size} characters`, json);
      return into.fixed(bytesOf(json));
    case "enum":
      assertKind(typeof json === "string" && type.symbols.includes(json), "one of the symbols", json);
      return into.whole(type.symbols.indexOf(json as string));
    case "array":
      assertKind(Array.isArray(json), "a list", json);
      return writeBlocks(json as unknown[], into, (item) => write(type.items, item, into));
    case "map":
      return writeBlocks(Object.entries(objectOf(json)), into, ([key, value]) => {
        into.text(key);
        write(type.values, value, into);
      });
    case "union":
      return writeBranch(type.branches, json, into);
    case "record":
      return writeRecord(type, objectOf(json), into);
  }
}

function writeLong(json: unknown, into: ByteWriter): void {
  if (typeof json === "bigint" && json >= -LONG_LIMIT && json < LONG_LIMIT) return into.big(json);
  assertKind(Number.isSafeInteger(json), "a long", json);
  into.whole(json as number);
}

/** The first branch of which it can be a value: the specification asked for the first one for years, and for any one since. */
function writeBranch(branches: readonly AvroType[], json: unknown, into: ByteWriter): void {
  for (const [index, branch] of branches.entries()) {
    try {
      const bytes = defaultBytes(branch, json);
      into.whole(index);
      return into.fixed(bytes);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  throw new Fault("it is a value of no branch");
}

function writeRecord({ fields }: RecordType, json: Readonly<Record<string, unknown>>, into: ByteWriter): void {
  into.enter();
  for (const { name, type, otherwise } of fields) {
    const has = Object.hasOwn(json, name);
    if (!has && otherwise === undefined) throw new Fault(`it has no "${name}"`);
    try {
      write(type, has ? json[name] : otherwise?.json, into);
    } catch (error) {
      throw within(error, name);
    }
  }
  into.leave();
}

function writeBlocks<T>(items: readonly T[], into: ByteWriter, writeOne: (item: T) => void): void {
  into.enter();
  if (items.length > 0) into.whole(items.length);
  for (const item of items) writeOne(item);
  into.whole(0);
  into.leave();
}

/** Bytes are text of the characters U+0000 to U+00FF in a schema. */
function bytesOf(json: unknown): Uint8Array {
  assertKind(typeof json === "string", "text", json);
  const units = Array.from({ length: (json as string).length }, (_, index) => (json as string).charCodeAt(index));
  assertKind(units.every((unit) => unit <= 0xff), "text of characters below U+0100", json);
  return Uint8Array.from(units);
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  assertKind(typeof json === "object" && json !== null && !Array.isArray(json), "an object", json);
  return json as Readonly<Record<string, unknown>>;
}

function assertKind(fits: boolean, wanted: string, found: unknown): void {
  if (!fits) throw new Fault(`the default must be ${wanted}, found ${describeKind(found)}`);
}
