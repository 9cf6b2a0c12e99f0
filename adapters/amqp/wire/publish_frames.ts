/**
 * One message as the frames that publish it: method, content header, and as many body frames as it takes.
 *
 * @module
 */

import type { Outbound } from "../../../src/message/outbound.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { writeContentHeader } from "./content_header.ts";
import { beginFrame, endFrame, type FrameTarget } from "./frame_writer.ts";
import { BASIC_PUBLISH, FRAME_BODY, FRAME_HEADER, FRAME_METHOD, FRAME_OVERHEAD } from "./frames.ts";
import { Unwritable } from "./unwritable.ts";

const MANDATORY = 1;

/**
 * Writes the method and the content header.
 *
 * Throws {@linkcode Unwritable} when a part has no place in them, with the writer as it was before: nothing half written remains.
 */
export function writePublish(
  writer: ByteWriter,
  outbound: Outbound,
  to: FrameTarget & { readonly messageId: string },
): void {
  const before = writer.length;
  try {
    writeMethod(writer, outbound, to.channel);
    const start = beginFrame(writer, FRAME_HEADER, to.channel);
    writer.limit(to.frameMax - FRAME_OVERHEAD);
    writeContentHeader(writer, outbound, to.messageId);
    writer.limit(Infinity);
    endFrame(writer, start);
  } catch (error) {
    writer.truncate(before);
    throw error;
  }
}

/** Writes one body frame. */
export function writeBodyFrame(writer: ByteWriter, channel: number, part: Uint8Array): void {
  const start = beginFrame(writer, FRAME_BODY, channel);
  writer.raw(part);
  endFrame(writer, start);
}

function writeMethod(writer: ByteWriter, outbound: Outbound, channel: number): void {
  const start = beginFrame(writer, FRAME_METHOD, channel);
  writer.uint32(BASIC_PUBLISH);
  writer.uint16(0);
  writeName(writer, "exchange", outbound.exchange);
  writeName(writer, "routing key", outbound.routingKey);
  writer.uint8(outbound.mandatory ? MANDATORY : 0);
  endFrame(writer, start);
}

function writeName(writer: ByteWriter, what: string, text: string): void {
  try {
    writer.shortText(text);
  } catch (error) {
    throw error instanceof Unwritable ? new Unwritable(`the ${what} ${error.message}`) : error;
  }
}
