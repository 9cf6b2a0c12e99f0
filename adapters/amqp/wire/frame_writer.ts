/**
 * Frames around what is written: head, payload, end.
 *
 * @module
 */

import type { ByteWriter } from "./byte_writer.ts";
import { FRAME_END, FRAME_METHOD, FRAME_OVERHEAD } from "./frames.ts";

/** Where a frame goes, and how large it may be. */
export interface FrameTarget {
  readonly channel: number;
  readonly frameMax: number;
}

/** Begins a frame and says where its payload starts. */
export function beginFrame(writer: ByteWriter, type: number, channel: number): number {
  writer.uint8(type);
  writer.uint16(channel);
  return writer.beginLength();
}

/** Ends the frame whose payload starts at `start`. */
export function endFrame(writer: ByteWriter, start: number): void {
  writer.endLength(start);
  writer.uint8(FRAME_END);
}

/** Writes a method whose payload `write` writes; one that cannot be written, or fits no frame, leaves the writer as it was. */
export function writeMethod(
  writer: ByteWriter,
  { channel, frameMax }: FrameTarget,
  write: (writer: ByteWriter) => void,
): void {
  const before = writer.length;
  try {
    const start = beginFrame(writer, FRAME_METHOD, channel);
    writer.limit(frameMax - FRAME_OVERHEAD);
    write(writer);
    writer.limit(Infinity);
    endFrame(writer, start);
  } catch (error) {
    writer.truncate(before);
    throw error;
  }
}
