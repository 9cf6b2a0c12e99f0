/**
 * Bodies as streams: what `fetch` answers, a file, a request that is uploaded.
 *
 * @module
 */

import { EncodeError } from "../errors.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../internal/option_kinds.ts";
import type { EncodedPayload, OpenedStream, StreamingCodec } from "../ports/codec.ts";
import { parseContentType } from "./content_type.ts";
import { peek } from "./peeked_stream.ts";

/** What can be sent as a stream. */
export type StreamPayload = ReadableStream<Uint8Array> | Blob | Response | Uint8Array;

/** Options of {@linkcode streamCodec}. */
export interface StreamCodecOptions {
  /**
   * Bytes that are read of one payload; a longer one is refused. They are held in memory, here, by the broker and by every consumer,
   * and a RabbitMQ 4 takes no more than this. @default {16_777_216: 16 MiB}
   */
  readonly maxBytes?: number;
}

const KINDS: Readonly<OptionKinds<StreamCodecOptions>> = { maxBytes: "checked" };

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** The content type of bytes of which nothing is known. */
const OF_ANYTHING = "application/octet-stream";

/**
 * Streams of bytes, as `application/octet-stream` or as what a `Blob` or a `Response` says of itself; reads every body, as a stream.
 *
 * A broker takes a message as a whole: the stream is read to its end before anything is sent. A `Response` that is not `ok` is
 * refused: it is an error page. A stream that fails is refused as well, and nothing is sent.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { streamCodec } from "@acemq/amqp/core";
 *
 * const codec = streamCodec();
 * const { body, contentType } = await codec.encode(new Blob(["sku;count"], { type: "text/csv" }));
 * assert.equal(contentType, "text/csv");
 * const payload = await codec.decode(body, { contentType });
 * assert.equal(await new Response(payload).text(), "sku;count");
 * ```
 *
 * @throws {TypeError} an option that there is not
 * @throws {RangeError} a number of bytes that is no whole number
 */
export function streamCodec(
  options: StreamCodecOptions = {},
): StreamingCodec<StreamPayload, ReadableStream<Uint8Array>> {
  assertOptions("a stream codec", options, KINDS);
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  assertWholeNumber("maxBytes", maxBytes, 1);
  return {
    contentType: OF_ANYTHING,
    canDecode: () => true,
    encode: (payload) => collect(payload, maxBytes),
    decode: streamOf,
    openStream: opened,
    readStream: (stream) => stream,
  };
}

async function collect(payload: StreamPayload, maxBytes: number): Promise<EncodedPayload> {
  const { stream, contentType } = opened(payload);
  const peeked = await peek(stream, maxBytes + 1);
  if ("whole" in peeked) return { body: peeked.whole, contentType };
  const tooLong = new EncodeError(`Cannot send the stream: it must be of ${maxBytes} bytes at most, found more`);
  // Whoever fills the stream need not go on; how that ends changes nothing here.
  peeked.stream.cancel(tooLong).catch(() => {});
  throw tooLong;
}

function opened(payload: StreamPayload): OpenedStream & { readonly contentType: string } {
  if (payload instanceof Uint8Array) return { stream: streamOf(payload), contentType: OF_ANYTHING };
  if (isObject(payload) && "getReader" in payload) {
    if (payload.locked) throw new EncodeError("Cannot send the stream: somebody else is reading it");
    return { stream: payload, contentType: OF_ANYTHING };
  }
  if (isObject(payload) && "ok" in payload && "headers" in payload) return ofResponse(payload);
  if (isObject(payload) && "stream" in payload) {
    return { stream: payload.stream(), contentType: typeOr(payload.type) };
  }
  throw new EncodeError(
    `Cannot send the payload: it must be a ReadableStream, a Blob, a Response or bytes, found ${describeKind(payload)}`,
  );
}

function ofResponse(response: Response): OpenedStream & { readonly contentType: string } {
  if (!response.ok) throw new EncodeError(`Cannot send the response: it has the status ${response.status}`);
  if (response.bodyUsed) throw new EncodeError("Cannot send the response: its body has been read");
  const contentType = typeOr(response.headers.get("content-type"));
  return { stream: response.body ?? streamOf(new Uint8Array()), contentType };
}

function typeOr(contentType: string | null): string {
  return parseContentType(contentType ?? undefined) === undefined ? OF_ANYTHING : contentType as string;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function streamOf(body: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (body.byteLength > 0) controller.enqueue(body);
      controller.close();
    },
  });
}
