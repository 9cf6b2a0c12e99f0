/**
 * The frames of AMQP 0-9-1 a bare client needs.
 *
 * @module
 */

export const METHOD = 1;
const HEADER = 2;
const BODY = 3;
const END = 0xce;

/** One frame off the wire. */
export interface Frame {
  readonly type: number;
  readonly payload: Uint8Array;
}

/** The argument of a method: text is a short string. */
export type Field =
  | { readonly octet: number }
  | { readonly short: number }
  | { readonly long: number }
  | Uint8Array
  | string;

/** A method frame: class and method, then its arguments. */
export function methodFrame(channel: number, method: number, fields: readonly Field[]): Uint8Array {
  return frame(METHOD, channel, concat([uint(method, 4), ...fields.map(bytesOf)]));
}

/** The frames of a message whose content header is given to the byte. */
export function contentFrames(
  channel: number,
  { contentHeader, body }: { readonly contentHeader: Uint8Array; readonly body: Uint8Array },
  frameMax: number,
): Uint8Array {
  const frames = [frame(HEADER, channel, contentHeader)];
  const most = frameMax - 8;
  for (let at = 0; at < body.byteLength; at += most) frames.push(frame(BODY, channel, body.subarray(at, at + most)));
  return concat(frames);
}

/** A string of up to 4 GB, as SASL responses and tables are written. */
export function longBytes(bytes: Uint8Array): Uint8Array {
  return concat([uint(bytes.byteLength, 4), bytes]);
}

/** Takes chunks of a socket apart into frames. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    rest = concat([rest, chunk]);
    while (rest.byteLength >= 7) {
      const size = viewOf(rest).getUint32(3) + 8;
      if (rest.byteLength < size) break;
      if (rest[size - 1] !== END) throw new Error("Cannot read from the broker: a frame does not end where it says");
      yield { type: viewOf(rest).getUint8(0), payload: rest.slice(7, size - 1) };
      rest = rest.subarray(size);
    }
  }
}

/** Looks into the payload of a method frame. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The short string at `at`. */
export function shortText(payload: Uint8Array, at: number): string {
  const length = viewOf(payload).getUint8(at);
  return new TextDecoder().decode(payload.subarray(at + 1, at + 1 + length));
}

function frame(type: number, channel: number, payload: Uint8Array): Uint8Array {
  return concat([uint(type, 1), uint(channel, 2), uint(payload.byteLength, 4), payload, uint(END, 1)]);
}

function bytesOf(field: Field): Uint8Array {
  if (field instanceof Uint8Array) return field;
  if (typeof field === "string") {
    const text = new TextEncoder().encode(field);
    return concat([uint(text.byteLength, 1), text]);
  }
  if ("octet" in field) return uint(field.octet, 1);
  return "short" in field ? uint(field.short, 2) : uint(field.long, 4);
}

function uint(value: number, width: 1 | 2 | 4): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, value);
  return bytes.subarray(4 - width);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
