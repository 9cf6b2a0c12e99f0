/**
 * The text codec (contract codecs 2.2).
 *
 * @module
 */

import { EncodeError } from "../errors.ts";
import type { Codec } from "../ports/codec.ts";
import { parseContentType } from "./content_type.ts";
import { decodeText } from "./text_format.ts";

/** What the text codec writes; it always reads a `string`. */
export type TextPayload = string | number | bigint | boolean;

/**
 * Text as `text/plain; charset=utf-8`; reads any `text/*`, never a body without a content type.
 *
 * Objects are refused: `[object Object]` would be confirmed and useless. Reading is strict; a `charset` the platform knows is used.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { textCodec } from "@acemq/amqp/core";
 *
 * const codec = textCodec();
 * const { body } = await codec.encode("grün");
 * assert.deepEqual([...body], [0x67, 0x72, 0xc3, 0xbc, 0x6e]);
 * assert.equal(await codec.decode(body, { contentType: codec.contentType }), "grün");
 * ```
 */
export function textCodec(): Codec<TextPayload, string> {
  const encoder = new TextEncoder();
  return {
    contentType: "text/plain; charset=utf-8",
    canDecode: (contentType) => parseContentType(contentType)?.essence.startsWith("text/") ?? false,
    encode: (payload) => ({ body: encoder.encode(textOf(payload)) }),
    decode: (body, { contentType }) => decodeText("text", body, parseContentType(contentType)?.charset ?? "utf-8"),
  };
}

function textOf(payload: unknown): string {
  if (typeof payload === "string") {
    if (payload.isWellFormed()) return payload;
    throw new EncodeError("Cannot write the payload as text: it holds half a surrogate pair");
  }
  if (typeof payload === "boolean" || typeof payload === "bigint") return String(payload);
  if (typeof payload === "number" && Number.isFinite(payload)) return String(payload);
  const found = typeof payload === "number" ? String(payload) : payload === null ? "null" : typeof payload;
  throw new EncodeError(
    `Cannot write the payload as text: it must be text, a finite number or a boolean, found ${found}`,
  );
}
