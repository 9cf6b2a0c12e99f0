/**
 * The five bytes in front of a body whose schema is registered (contract codecs 2.7, patterns 6.5): `00`, then the id, four bytes,
 * big-endian. Confluent's layout, and that of the Java, Python, Go, Ruby and .NET libraries.
 *
 * @module
 */

import { DecodeError } from "../errors.ts";

/** Bytes in front of the body. */
export const FRAME_BYTES = 5;

/** The largest id that is written: some libraries read the four bytes as a signed number. */
export const MAX_SCHEMA_ID = 2_147_483_647;

/** A framed body taken apart. */
export interface FramedBody {
  /** Of the schema the body was written with; from 1. */
  readonly id: number;
  /** A view of the bytes behind the frame. */
  readonly body: Uint8Array;
}

/** Whether a number can be the id of a schema. */
export function isSchemaId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_SCHEMA_ID;
}

/** Writes the frame into the first five bytes. */
export function writeFrame(into: Uint8Array, id: number): void {
  into[0] = 0;
  into[1] = id >>> 24;
  into[2] = id >>> 16;
  into[3] = id >>> 8;
  into[4] = id;
}

/** Takes a framed body apart; throws a `DecodeError` for what is none. */
export function readFrame(bytes: Uint8Array): FramedBody {
  if (bytes.byteLength < FRAME_BYTES || bytes[0] !== 0) {
    throw new DecodeError(
      `Cannot read the body as one of a registered schema: it must begin with 00 and four bytes of an id, found ${
        beginningOf(bytes)
      }`,
    );
  }
  const id = new DataView(bytes.buffer, bytes.byteOffset, FRAME_BYTES).getUint32(1);
  if (id === 0) throw new DecodeError("Cannot read the body as one of a registered schema: ids begin with 1, found 0");
  return { id, body: bytes.subarray(FRAME_BYTES) };
}

/** The first byte tells which frame it is; more of it would be payload. */
function beginningOf(bytes: Uint8Array): string {
  if (bytes.byteLength < FRAME_BYTES) return `${bytes.byteLength} bytes`;
  return `${(bytes[0] ?? 0).toString(16).padStart(2, "0")} as the first byte`;
}
