/**
 * The opening of a connection: what the broker says of itself, how we name ourselves, what both settle on.
 *
 * @module
 */

import type { WireTable } from "../../../src/message/wire_value.ts";
import type { ByteReader } from "./byte_reader.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { CONNECTION_OPEN, CONNECTION_START_OK, CONNECTION_TUNE_OK, FRAME_METHOD } from "./frames.ts";
import { beginFrame, endFrame } from "./frame_writer.ts";
import { readTable } from "./table_reader.ts";
import { writeTable } from "./table_writer.ts";

/** What the broker says first. */
export interface Start {
  readonly serverProperties: WireTable;
  /** SASL mechanisms on offer. */
  readonly mechanisms: readonly string[];
}

/** Limits of a connection. */
export interface Tuning {
  readonly channelMax: number;
  readonly frameMax: number;
  readonly heartbeatSeconds: number;
}

/** The answer to {@linkcode Start}. */
export interface StartOk {
  readonly connectionName: string;
  readonly mechanism: string;
  readonly response: Uint8Array;
}

const CAPABILITIES: WireTable = {
  "authentication_failure_close": true,
  "basic.nack": true,
  "connection.blocked": true,
  "consumer_cancel_notify": true,
  "publisher_confirms": true,
};

export function readStart(reader: ByteReader): Start {
  reader.skip(2);
  const serverProperties = readTable(reader);
  const mechanisms = (reader.longText(reader.uint32()) ?? "").split(" ");
  return { serverProperties, mechanisms };
}

export function readTune(reader: ByteReader): Tuning {
  return { channelMax: reader.uint16(), frameMax: reader.uint32(), heartbeatSeconds: reader.uint16() };
}

/** The lower of both wishes; of a side that has none (0), the other's. */
export function negotiate(ours: Tuning, theirs: Tuning): Tuning {
  return {
    channelMax: lower(ours.channelMax, theirs.channelMax),
    frameMax: lower(ours.frameMax, theirs.frameMax),
    heartbeatSeconds: lower(ours.heartbeatSeconds, theirs.heartbeatSeconds),
  };
}

export function writeStartOk(writer: ByteWriter, { connectionName, mechanism, response }: StartOk): void {
  const start = beginFrame(writer, FRAME_METHOD, 0);
  writer.uint32(CONNECTION_START_OK);
  writeTable(writer, { connection_name: connectionName, product: "@acemq/amqp", capabilities: CAPABILITIES });
  writer.shortText(mechanism);
  writer.uint32(response.byteLength);
  writer.raw(response);
  writer.shortText("en_US");
  endFrame(writer, start);
}

export function writeTuneOk(writer: ByteWriter, { channelMax, frameMax, heartbeatSeconds }: Tuning): void {
  const start = beginFrame(writer, FRAME_METHOD, 0);
  writer.uint32(CONNECTION_TUNE_OK);
  writer.uint16(channelMax);
  writer.uint32(frameMax);
  writer.uint16(heartbeatSeconds);
  endFrame(writer, start);
}

export function writeOpen(writer: ByteWriter, vhost: string): void {
  const start = beginFrame(writer, FRAME_METHOD, 0);
  writer.uint32(CONNECTION_OPEN);
  writer.shortText(vhost);
  writer.uint8(0);
  writer.uint8(0);
  endFrame(writer, start);
}

function lower(ours: number, theirs: number): number {
  if (ours === 0) return theirs;
  return theirs === 0 ? ours : Math.min(ours, theirs);
}
