/**
 * Whole bodies: a value and nothing behind it.
 *
 * @module
 */

import { DecodeError, EncodeError } from "../../src/errors.ts";
import { ByteReader } from "./byte_reader.ts";
import { ByteWriter } from "./byte_writer.ts";
import { Fault } from "./fault.ts";
import type { LogicalTypes } from "./logical_type.ts";
import type { Read } from "./read.ts";
import type { AvroType } from "./schema.ts";
import { textReader } from "./utf8.ts";
import { Writers } from "./write.ts";

/** Writes a payload behind so many bytes, which are 0; throws an `EncodeError` for what is no value of the schema. */
export type WriteBody = (payload: unknown) => Uint8Array;

/** What writes payloads of a schema. */
export function bodyWriter(type: AvroType, logicalTypes: LogicalTypes, offset: number): WriteBody {
  const { write } = new Writers(logicalTypes).of(type);
  let spare: ByteWriter | undefined = new ByteWriter();
  return (payload) => {
    // A getter of the payload may encode another one while this one is being written.
    const into = spare ?? new ByteWriter();
    spare = undefined;
    into.begin(offset);
    try {
      write(payload, into);
    } catch (error) {
      throw new EncodeError(`Cannot write the payload as Avro: ${reasonOf(error, "its members cannot be read")}`);
    }
    spare = into;
    return into.end();
  };
}

/** Reads a body; throws a `Fault` for what cannot be read. */
export type ReadBody = (body: Uint8Array) => unknown;

/** What reads bodies to their end. */
export function bodyReader(read: Read): ReadBody {
  const readText = textReader();
  let spare: ByteReader | undefined = new ByteReader(readText);
  return (body) => {
    // A converter may read another body while this one is being read.
    const from = spare ?? new ByteReader(readText);
    spare = undefined;
    from.begin(body);
    try {
      const value = read(from);
      if (from.left > 0) throw new Fault("bytes are left over behind the value");
      return value;
    } finally {
      from.begin(NOTHING);
      spare = from;
    }
  };
}

/** A reader holds on to no body. */
const NOTHING: Readonly<Uint8Array> = new Uint8Array(0);

/** A body's fault as the error that parks it; `what` says how it was read. */
export function unreadable(error: unknown, what: string): DecodeError {
  return new DecodeError(
    `Cannot read the body as ${what}: ${reasonOf(error, "a logical type does not take its value")}`,
  );
}

/** The words of a fault. What somebody else's code has thrown may quote the payload. */
function reasonOf(error: unknown, otherwise: string): string {
  return error instanceof Fault ? error.describe() : otherwise;
}
