/**
 * The TOML codec over the library it is handed (contract codecs 2.6).
 *
 * @module
 */

import { matchesFormat, parseContentType } from "../../src/codec/content_type.ts";
import type { ReadBack } from "../../src/codec/read_back.ts";
import { structuredText } from "../../src/codec/text_format.ts";
import { assertWholeNumber, assertWithin } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec } from "../../src/ports/codec.ts";
import type { TomlLibrary } from "./library.ts";
import { readToml } from "./toml_reader.ts";
import { tomlText } from "./toml_writer.ts";

/** Options of `tomlCodec`. */
export interface TomlCodecOptions {
  /** Levels of nesting that are written, at most 100; .NET refuses more than 64. @default {64} */
  readonly maxEncodeDepth?: number;
  /** Levels of nesting that are read, at most 1,000. @default {100} */
  readonly maxDecodeDepth?: number;
  /** Bytes of a body that are read; a larger one is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

const KINDS: Readonly<OptionKinds<TomlCodecOptions>> = {
  maxEncodeDepth: "checked",
  maxDecodeDepth: "checked",
  maxBodyBytes: "checked",
};

const NAMES: readonly string[] = ["application/toml", "text/toml"];

/** What is read where a `T` was written. Bytes come back as base64, and a `bigint` as a number where that is exact. */
export type FromToml<T> = ReadBack<T, { date: Date; bigint: number | bigint; bytes: string }>;

/** A codec that reads with the library. */
export function tomlCodecOver<T>(library: TomlLibrary, options: TomlCodecOptions): Codec<T, FromToml<T>> {
  assertOptions("a TOML codec", options, KINDS);
  const { maxEncodeDepth = 64, maxDecodeDepth = 100, maxBodyBytes = Infinity } = options;
  assertWithin("maxEncodeDepth", maxEncodeDepth, [0, 100]);
  assertWithin("maxDecodeDepth", maxDecodeDepth, [0, 1_000]);
  if (maxBodyBytes !== Infinity) assertWholeNumber("maxBodyBytes", maxBodyBytes, 0);
  const encoder = new TextEncoder();
  return {
    contentType: "application/toml",
    canDecode: (contentType) => {
      const parsed = parseContentType(contentType);
      return parsed !== undefined && matchesFormat(parsed.essence, NAMES, "toml");
    },
    encode: (payload) => ({ body: encoder.encode(tomlText(payload, maxEncodeDepth)) }),
    decode: (body, { contentType }) => {
      const text = structuredText("TOML", body, { contentType, maxBodyBytes, mayBeEmpty: true });
      // The cast is the codec's boundary: bytes carry no type, the caller's T is a promise about its queue.
      return readToml(library, text, maxDecodeDepth) as FromToml<T>;
    },
  };
}
