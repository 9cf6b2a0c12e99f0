/**
 * Port: how a payload becomes bytes and bytes a payload.
 *
 * @module
 */

import type { MessageHeaders, OutgoingHeaders } from "../message/header_value.ts";

/** A payload as bytes. */
export interface EncodedPayload {
  /** What goes on the wire. */
  readonly body: Uint8Array;
  /** Where it differs from the codec's own: what a wrapped codec wrote. */
  readonly contentType?: string;
  /** Application headers the codec owns, such as a digest. */
  readonly headers?: OutgoingHeaders;
}

/** What a codec may look at beside the bytes. */
export interface DecodeContext {
  /** As it came; undefined and empty both mean that none was given. */
  readonly contentType?: string | undefined;
  /** The application's headers. */
  readonly headers?: MessageHeaders;
}

/**
 * One format.
 *
 * `encode` throws {@linkcode EncodeError} for what the format cannot hold. `decode` throws {@linkcode DecodeError} for bytes it
 * cannot read, and a `RetryableError` when something it depends on is away: the first parks the message, the second retries it.
 * Both may return a promise. `In` is what it writes, `Out` what it reads: a format that takes text or numbers reads text.
 */
export interface Codec<In = unknown, Out = In> {
  /** What it writes. */
  readonly contentType: string;
  /** Whether it reads bodies of this content type; undefined for a message without one. */
  canDecode(contentType: string | undefined): boolean;
  /**
   * Whether a body that says nothing of its type may be tried. False for a format in which nearly all bytes mean something, so that
   * a guess succeeds with nonsense. @default {true}
   */
  readonly guessable?: boolean;
  /** Whether only those read the body who hold a key: then no error shows anything of a payload. @default {false} */
  readonly isSealed?: boolean;
  /** Payload to bytes. */
  encode(payload: In): EncodedPayload | Promise<EncodedPayload>;
  /** Bytes to payload. */
  decode(body: Uint8Array, context: DecodeContext): Out | Promise<Out>;
}

/** A payload as a stream, and what it says of itself. */
export interface OpenedStream {
  /** Read once, by whoever sends it. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Where it differs from the codec's own. */
  readonly contentType?: string;
}

/** A codec whose payloads are streams: a claim check sends them on without holding them. */
export interface StreamingCodec<In = unknown, Out = In> extends Codec<In, Out> {
  /** Begins to send a payload; throws {@linkcode EncodeError} for what is no stream, or cannot be read. */
  openStream(payload: In): OpenedStream;
  /** Begins to read one. */
  readStream(stream: ReadableStream<Uint8Array>, context: DecodeContext): Out;
}
