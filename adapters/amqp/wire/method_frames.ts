/**
 * The other methods written and read here: settlements, confirms, deliveries, returns, closes.
 *
 * @module
 */

import type { ByteReader } from "./byte_reader.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { BASIC_ACK, BASIC_CANCEL_OK, BASIC_NACK, FRAME_METHOD } from "./frames.ts";
import { beginFrame, endFrame } from "./frame_writer.ts";

const REQUEUE = 2;

/** What announces a message: a delivery, the answer to a get, or a return. */
export type ContentMethod =
  | {
    readonly kind: "delivery";
    readonly consumerTag: string;
    readonly deliveryTag: number;
    readonly redelivered: boolean;
    readonly exchange: string;
    readonly routingKey: string;
  }
  | {
    readonly kind: "got";
    readonly deliveryTag: number;
    readonly redelivered: boolean;
    readonly exchange: string;
    readonly routingKey: string;
    /** Messages left in the queue. */
    readonly messageCount: number;
  }
  | {
    readonly kind: "returned";
    readonly code: number;
    readonly text: string;
    readonly exchange: string;
    readonly routingKey: string;
  };

/** Why the broker closed a channel or the connection: its numbers and its words. */
export interface CloseReason {
  readonly code: number;
  readonly text: string;
  /** The method that made it, 0 for none. */
  readonly classId: number;
  readonly methodId: number;
}

/** A confirm: `multiple` settles every number up to `tag`. */
export interface Confirm {
  readonly tag: number;
  readonly multiple: boolean;
}

/** The end of a consumer, by the broker. */
export interface Cancel {
  readonly consumerTag: string;
  readonly noWait: boolean;
}

export function writeAck(writer: ByteWriter, channel: number, deliveryTag: number): void {
  const start = beginFrame(writer, FRAME_METHOD, channel);
  writer.uint32(BASIC_ACK);
  writer.uint64(deliveryTag);
  writer.uint8(0);
  endFrame(writer, start);
}

export function writeNack(
  writer: ByteWriter,
  channel: number,
  { deliveryTag, requeue }: { readonly deliveryTag: number; readonly requeue: boolean },
): void {
  const start = beginFrame(writer, FRAME_METHOD, channel);
  writer.uint32(BASIC_NACK);
  writer.uint64(deliveryTag);
  writer.uint8(requeue ? REQUEUE : 0);
  endFrame(writer, start);
}

export function writeCancelOk(writer: ByteWriter, channel: number, consumerTag: string): void {
  const start = beginFrame(writer, FRAME_METHOD, channel);
  writer.uint32(BASIC_CANCEL_OK);
  writer.shortText(consumerTag);
  endFrame(writer, start);
}

export function readDelivery(reader: ByteReader): ContentMethod {
  return {
    kind: "delivery",
    consumerTag: reader.shortText(),
    deliveryTag: reader.count64(),
    redelivered: reader.uint8() !== 0,
    exchange: reader.shortText(),
    routingKey: reader.shortText(),
  };
}

export function readGetOk(reader: ByteReader): ContentMethod {
  return {
    kind: "got",
    deliveryTag: reader.count64(),
    redelivered: reader.uint8() !== 0,
    exchange: reader.shortText(),
    routingKey: reader.shortText(),
    messageCount: reader.uint32(),
  };
}

export function readReturn(reader: ByteReader): ContentMethod {
  return {
    kind: "returned",
    code: reader.uint16(),
    text: reader.shortText(),
    exchange: reader.shortText(),
    routingKey: reader.shortText(),
  };
}

/** Of a basic.ack or basic.nack. */
export function readConfirm(reader: ByteReader): Confirm {
  return { tag: reader.count64(), multiple: (reader.uint8() & 1) !== 0 };
}

/** Of a channel.close or connection.close. */
export function readClose(reader: ByteReader): CloseReason {
  return {
    code: reader.uint16(),
    text: reader.shortText(),
    classId: reader.uint16(),
    methodId: reader.uint16(),
  };
}

export function readCancel(reader: ByteReader): Cancel {
  return { consumerTag: reader.shortText(), noWait: (reader.uint8() & 1) !== 0 };
}
