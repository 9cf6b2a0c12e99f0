/**
 * AMQP frames as another client writes and reads them: the oracle of our own encoders and decoders.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createRequire } from "node:module";

/** The inner parts of amqplib, which it exports by no name. */
interface Definitions {
  readonly [name: string]: unknown;
  encodeMethod(id: number, channel: number, fields: object): Buffer;
  encodeProperties(classId: number, channel: number, size: number, fields: object): Buffer;
  decode(id: number, bytes: Buffer): Readonly<Record<string, unknown>>;
  info(id: number): { readonly name: string };
}

interface Framing {
  makeBodyFrame(channel: number, payload: Buffer): Buffer;
}

interface Codec {
  encodeTable(buffer: Buffer, table: object, offset: number): number;
  decodeFields(bytes: Buffer): Readonly<Record<string, unknown>>;
}

const load = createRequire(import.meta.url);
const defs = load("../../node_modules/amqplib/lib/defs.js") as Definitions;
const framing = load("../../node_modules/amqplib/lib/frame.js") as Framing;
const codec = load("../../node_modules/amqplib/lib/codec.js") as Codec;

const BASIC = 60;
const [METHOD, HEADER, BODY, HEARTBEAT] = [1, 2, 3, 8];

/** A method and its fields, by the names of the AMQP specification. */
export interface Method {
  readonly name: string;
  readonly channel: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A frame off the wire. */
export type Frame =
  | Method & { readonly type: "method" }
  | {
    readonly type: "header";
    readonly channel: number;
    readonly bodySize: number;
    readonly fields: Readonly<Record<string, unknown>>;
  }
  | { readonly type: "body"; readonly channel: number; readonly payload: Uint8Array }
  | { readonly type: "heartbeat"; readonly channel: number };

/** The frame of a method, such as `BasicDeliver`. */
export function methodFrame(name: string, channel: number, fields: object = {}): Uint8Array {
  const id = defs[name];
  if (typeof id !== "number") throw new TypeError(`Cannot write a frame: no method is called ${name}`);
  return new Uint8Array(defs.encodeMethod(id, channel, fields));
}

/** The frame of a content header. */
export function headerFrame(channel: number, bodySize: number, fields: object = {}): Uint8Array {
  return new Uint8Array(defs.encodeProperties(BASIC, channel, bodySize, fields));
}

/** The frame of a part of a body. */
export function bodyFrame(channel: number, payload: Uint8Array): Uint8Array {
  return new Uint8Array(framing.makeBodyFrame(channel, Buffer.from(payload)));
}

/** A message as the frames that deliver it. */
export function deliveryFrames(
  channel: number,
  { fields, properties = {}, body }: {
    readonly fields: object;
    readonly properties?: object;
    readonly body: Uint8Array;
  },
): Uint8Array {
  return joined(
    methodFrame("BasicDeliver", channel, { redelivered: false, exchange: "", routingKey: "", ...fields }),
    headerFrame(channel, body.byteLength, properties),
    ...(body.byteLength === 0 ? [] : [bodyFrame(channel, body)]),
  );
}

/** A heartbeat. */
export const HEARTBEAT_FRAME: Readonly<Uint8Array> = Uint8Array.of(HEARTBEAT, 0, 0, 0, 0, 0, 0, 0xce);

/** Several frames as one piece. */
export function joined(...frames: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(frames));
}

/** A table as amqplib writes it, its length prefix included. */
export function tableBytes(table: object): Uint8Array {
  const buffer = Buffer.alloc(1_000_000);
  return new Uint8Array(buffer.subarray(0, codec.encodeTable(buffer, table, 0)));
}

/** A table as amqplib reads it, its length prefix included. */
export function tableOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return codec.decodeFields(Buffer.from(bytes.subarray(4)));
}

/** Takes the whole frames off a stream of bytes, which may arrive in pieces of any size. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are whole by now, in order. */
  push(bytes: Uint8Array): readonly Frame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    while (this.#rest.byteLength >= 8) {
      const size = this.#rest.readUInt32BE(3);
      if (this.#rest.byteLength < size + 8) break;
      frames.push(readFrame(this.#rest.subarray(0, size + 8)));
      this.#rest = this.#rest.subarray(size + 8);
    }
    return frames;
  }
}

/** The frames of bytes that hold whole frames only. */
export function framesOf(bytes: Uint8Array): readonly Frame[] {
  const frames = new FrameSplitter().push(bytes);
  return frames;
}

function readFrame(bytes: Buffer): Frame {
  const channel = bytes.readUInt16BE(1);
  const payload = bytes.subarray(7, -1);
  if (bytes.at(-1) !== 0xce) throw new TypeError("Cannot read a frame: its end is not where it should be");
  switch (bytes[0]) {
    case METHOD: {
      const id = payload.readUInt32BE(0);
      return { type: "method", name: nameOf(id), channel, fields: defs.decode(id, payload.subarray(4)) };
    }
    case HEADER:
      return {
        type: "header",
        channel,
        bodySize: Number(payload.readBigUInt64BE(4)),
        fields: defs.decode(BASIC, payload.subarray(12)),
      };
    case BODY:
      return { type: "body", channel, payload: new Uint8Array(payload) };
    case HEARTBEAT:
      return { type: "heartbeat", channel };
    default:
      throw new TypeError(`Cannot read a frame: there is no type ${bytes[0]}`);
  }
}

function nameOf(id: number): string {
  return defs.info(id).name;
}
