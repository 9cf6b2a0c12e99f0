/**
 * Reads a raw AMQP content header, kind by kind: what the wire says, by no code of the library.
 *
 * @module
 */
import {
  WireDecimal,
  WireDouble,
  type WireTable,
  WireText,
  WireTimestamp,
  WireUnsigned,
  type WireValue,
} from "../../src/message/wire_value.ts";
import type { ReceivedProperties } from "../../src/message/received.ts";

/** One header: name, AMQP kind, value. */
export type RawHeader = readonly [name: string, kind: string, value: WireValue];

/** A content header (class 60), undone. */
export interface ContentHeader {
  readonly bodySize: number;
  /** The properties that are there, by their AMQP names, `headers` left out. */
  readonly properties: Readonly<Record<string, string | number>>;
  readonly headers: readonly RawHeader[];
}

/** The basic properties in the order of their flags, and how each is written. */
const PROPERTIES: readonly (readonly [name: string, kind: "s" | "o" | "t" | "F"])[] = [
  ["content-type", "s"],
  ["content-encoding", "s"],
  ["headers", "F"],
  ["delivery-mode", "o"],
  ["priority", "o"],
  ["correlation-id", "s"],
  ["reply-to", "s"],
  ["expiration", "s"],
  ["message-id", "s"],
  ["timestamp", "t"],
  ["type", "s"],
  ["user-id", "s"],
  ["app-id", "s"],
  ["cluster-id", "s"],
];

/** Reads class, weight, body size, flags and properties. */
export function readContentHeader(bytes: Uint8Array): ContentHeader {
  const cursor = new Cursor(bytes);
  cursor.take(4);
  const bodySize = Number(cursor.view.getBigUint64(cursor.take(8)));
  const flags = cursor.view.getUint16(cursor.take(2));
  const properties: Record<string, string | number> = {};
  let headers: readonly RawHeader[] = [];
  PROPERTIES.forEach(([name, kind], index) => {
    if ((flags & (1 << (15 - index))) === 0) return;
    if (kind === "F") headers = cursor.table();
    else if (kind === "s") properties[name] = cursor.shortText();
    else if (kind === "o") properties[name] = cursor.view.getUint8(cursor.take(1));
    else properties[name] = Number(cursor.view.getBigUint64(cursor.take(8)));
  });
  return { bodySize, properties, headers };
}

/** The headers as a broker adapter hands them over. */
export function wireTableOf(headers: readonly RawHeader[]): WireTable {
  return Object.fromEntries(headers.map(([name, , value]) => [name, value]));
}

/** The properties as a broker adapter hands them over. */
export function receivedPropertiesOf({ properties }: ContentHeader): ReceivedProperties {
  const text = (name: string): string | undefined => properties[name] === undefined ? undefined : `${properties[name]}`;
  const octet = (name: string): number | undefined => properties[name] as number | undefined;
  return {
    contentType: text("content-type"),
    messageId: text("message-id"),
    replyTo: text("reply-to"),
    deliveryMode: octet("delivery-mode"),
    priority: octet("priority"),
    expiration: text("expiration"),
  };
}

class Cursor {
  readonly view: DataView;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The place before `count` bytes that are passed by. */
  take(count: number): number {
    const before = this.#at;
    this.#at += count;
    return before;
  }

  shortText(): string {
    return new TextDecoder().decode(this.#slice(this.view.getUint8(this.take(1))));
  }

  table(): RawHeader[] {
    const end = this.view.getUint32(this.take(4)) + this.#at;
    const entries: RawHeader[] = [];
    while (this.#at < end) {
      const name = this.shortText();
      const kind = String.fromCharCode(this.view.getUint8(this.take(1)));
      entries.push([name, kind, this.#value(kind)]);
    }
    return entries;
  }

  #value(kind: string): WireValue {
    switch (kind) {
      case "t":
        return this.view.getUint8(this.take(1)) !== 0;
      case "b":
        return this.view.getInt8(this.take(1));
      case "B":
        return this.view.getUint8(this.take(1));
      case "s":
        return this.view.getInt16(this.take(2));
      case "u":
        return this.view.getUint16(this.take(2));
      case "I":
        return this.view.getInt32(this.take(4));
      case "i":
        return this.view.getUint32(this.take(4));
      case "f":
        return new WireDouble(this.view.getFloat32(this.take(4)));
      case "d":
        return new WireDouble(this.view.getFloat64(this.take(8)));
      case "V":
        return null;
      default:
        return this.#wideValue(kind);
    }
  }

  #wideValue(kind: string): WireValue {
    switch (kind) {
      case "l":
        return narrowed(this.view.getBigInt64(this.take(8)));
      case "L": {
        const value = this.view.getBigUint64(this.take(8));
        return value < 2n ** 63n ? narrowed(value) : new WireUnsigned(value);
      }
      case "D":
        return new WireDecimal(this.view.getUint8(this.take(1)), this.view.getInt32(this.take(4)));
      case "T": {
        const seconds = this.view.getBigInt64(this.take(8));
        const date = new Date(Number(seconds) * 1_000);
        return Number.isNaN(date.getTime()) ? new WireTimestamp(seconds) : date;
      }
      case "x":
        return this.#slice(this.view.getUint32(this.take(4)));
      case "S":
        return this.#longText();
      case "A": {
        const end = this.view.getUint32(this.take(4)) + this.#at;
        const items: WireValue[] = [];
        while (this.#at < end) items.push(this.#value(String.fromCharCode(this.view.getUint8(this.take(1)))));
        return items;
      }
      case "F":
        return wireTableOf(this.table());
      default:
        throw new TypeError(`Cannot read a header: unknown kind ${JSON.stringify(kind)}`);
    }
  }

  #longText(): string | WireText {
    const bytes = this.#slice(this.view.getUint32(this.take(4)));
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return new WireText(bytes);
    }
  }

  #slice(length: number): Uint8Array<ArrayBuffer> {
    const start = this.take(length);
    return new Uint8Array(this.#bytes.subarray(start, start + length));
  }
}

function narrowed(value: bigint): number | bigint {
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}
