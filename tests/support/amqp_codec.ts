/**
 * The adapter's encoders and decoders on plain byte arrays.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { ByteReader } from "../../adapters/amqp/wire/byte_reader.ts";
import { ByteWriter } from "../../adapters/amqp/wire/byte_writer.ts";
import { readTable } from "../../adapters/amqp/wire/table_reader.ts";
import { writeTable } from "../../adapters/amqp/wire/table_writer.ts";
import { TextCache } from "../../adapters/amqp/wire/text_cache.ts";
import type { WireTable } from "../../src/message/wire_value.ts";

/** What `write` writes. */
export function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter(16);
  write(writer);
  const { buffer, length } = writer.swap(Buffer.alloc(16));
  return new Uint8Array(buffer.subarray(0, length));
}

/** A reader of bytes, which lie in the middle of other bytes as they do in a socket's buffer. */
export function readerOf(bytes: Uint8Array): ByteReader {
  const around = new Uint8Array(bytes.byteLength + 16).fill(0xee);
  around.set(bytes, 8);
  const reader = new ByteReader(new TextCache());
  reader.point(around.buffer, 8, 8 + bytes.byteLength);
  return reader;
}

/** A table with its length prefix, as the adapter writes it. */
export function encodeTable(table: WireTable): Uint8Array {
  return written((writer) => writeTable(writer, table));
}

/** A table with its length prefix, as the adapter reads it. */
export function decodeTable(bytes: Uint8Array): WireTable {
  return readTable(readerOf(bytes));
}

/** Bytes as hexadecimal text. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Hexadecimal text, blanks for the reader's eye, as bytes. */
export function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(" ", ""), "hex"));
}
