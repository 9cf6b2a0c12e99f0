/**
 * The JSON codec (contract codecs 2.1): what every AceMQ library reads and writes by default.
 *
 * @module
 */

import { assertOneOf, assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";
import type { Codec } from "../ports/codec.ts";
import { matchesFormat, parseContentType } from "./content_type.ts";
import { assertJsonDepth, parseJson, parseJsonExactly } from "./json_reader.ts";
import { jsonText } from "./json_writer.ts";
import type { ReadBack } from "./read_back.ts";
import { structuredText } from "./text_format.ts";

/**
 * What is read where a `T` was written: JSON has no dates, no bytes and no `bigint`, so a `Date` comes back as its text, bytes as base64,
 * and a `bigint` as a number unless `integers` says otherwise. A type is kept that JSON holds as it is.
 */
export type FromJson<T> = ReadBack<T, { date: string; bigint: number | bigint; bytes: string }>;

/** Options of {@linkcode jsonCodec}. */
export interface JsonCodecOptions {
  /**
   * How an integer beyond 2^53 is read: rounded to a `number`, as `JSON.parse` does, or exactly as a `bigint`.
   *
   * @default {"number"}
   */
  readonly integers?: "number" | "bigint";
  /** Levels of nesting that are written; .NET refuses more than 64. @default {64} */
  readonly maxEncodeDepth?: number;
  /** Levels of nesting that are read. @default {1_000} */
  readonly maxDecodeDepth?: number;
  /** Bytes of a body that are read; a larger one is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

const KINDS: Readonly<OptionKinds<JsonCodecOptions>> = {
  integers: "checked",
  maxEncodeDepth: "checked",
  maxDecodeDepth: "checked",
  maxBodyBytes: "checked",
};

const NAMES: readonly string[] = ["application/json", "text/json"];

/**
 * JSON as `application/json`; reads that, `text/json`, anything `+json`, and bodies without a content type.
 *
 * Written: `bigint` as digits, `Date` as ISO text, bytes as padded base64. Refused: what `JSON.stringify` would change without a
 * word (NaN, an infinity, a function, `undefined` in a list, and whatever does not keep its content in members: a `Map`, a `Set`, a
 * `Response`). A member that is `undefined` is left out. `null` is a payload like another, but .NET refuses to read it.
 *
 * JSON carries no schema: a member the sender has renamed is found missing, and only when somebody reads it. Add members, with a
 * default for messages without them; do not rename or remove them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonCodec } from "@acemq/amqp/core";
 *
 * const codec = jsonCodec();
 * const { body } = await codec.encode({ orderId: "A-19", totalCents: 12950n });
 * assert.equal(new TextDecoder().decode(body), '{"orderId":"A-19","totalCents":12950}');
 * assert.deepEqual(await codec.decode(body, {}), { orderId: "A-19", totalCents: 12950 });
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} a depth that is no whole number
 */
export function jsonCodec<T = unknown>(options: JsonCodecOptions = {}): Codec<T, FromJson<T>> {
  assertOptions("a JSON codec", options, KINDS);
  const { integers = "number", maxEncodeDepth = 64, maxDecodeDepth = 1_000, maxBodyBytes = Infinity } = options;
  assertOneOf("integers", integers, ["number", "bigint"]);
  assertWholeNumber("maxEncodeDepth", maxEncodeDepth, 0);
  assertWholeNumber("maxDecodeDepth", maxDecodeDepth, 0);
  if (maxBodyBytes !== Infinity) assertWholeNumber("maxBodyBytes", maxBodyBytes, 0);
  const encoder = new TextEncoder();
  return {
    contentType: "application/json",
    canDecode: (contentType) => {
      const parsed = parseContentType(contentType);
      return parsed === undefined || matchesFormat(parsed.essence, NAMES, "json");
    },
    encode: (payload) => ({ body: encoder.encode(jsonText(payload, maxEncodeDepth)) }),
    decode: (body, { contentType }) => {
      const text = structuredText("JSON", body, { contentType, maxBodyBytes });
      assertJsonDepth(text, maxDecodeDepth);
      // The cast is the codec's boundary: bytes carry no type, the caller's T is a promise about its queue.
      return (integers === "bigint" ? parseJsonExactly(text) : parseJson(text)) as FromJson<T>;
    },
  };
}
