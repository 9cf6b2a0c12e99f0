/**
 * The YAML codec over the library it is handed (contract codecs 2.5).
 *
 * @module
 */

import { matchesFormat, parseContentType } from "../../src/codec/content_type.ts";
import type { ReadBack } from "../../src/codec/read_back.ts";
import { structuredText } from "../../src/codec/text_format.ts";
import { assertOneOf, assertWholeNumber, assertWithin } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec } from "../../src/ports/codec.ts";
import type { YamlLibrary } from "./library.ts";
import { yamlReader } from "./yaml_reader.ts";
import { yamlText } from "./yaml_writer.ts";

/** Options of `yamlCodec`. */
export interface YamlCodecOptions {
  /**
   * How a plain timestamp is read: as the text it is, or as a `Date`. A date without a time is midnight UTC then, a time without a
   * zone is taken for UTC, and what is finer than a millisecond is cut. What Ruby and Python write (`2026-03-04 05:06:07 +00:00`)
   * is read as well. Quoted text stays text.
   *
   * @default {"text"}
   */
  readonly dates?: "text" | "date";
  /** Aliases that a body may have. @default {100} */
  readonly maxAliases?: number;
  /** Values that a body with aliases may come to when each is written out. @default {100_000} */
  readonly maxNodes?: number;
  /** Levels of nesting that are written, at most 100; .NET refuses more than 64 in JSON. @default {64} */
  readonly maxEncodeDepth?: number;
  /** Levels of nesting that are read, at most 1,000. @default {100} */
  readonly maxDecodeDepth?: number;
  /** Bytes of a body that are read; a larger one is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

const KINDS: Readonly<OptionKinds<YamlCodecOptions>> = {
  dates: "checked",
  maxAliases: "checked",
  maxNodes: "checked",
  maxEncodeDepth: "checked",
  maxDecodeDepth: "checked",
  maxBodyBytes: "checked",
};

const NAMES: readonly string[] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/**
 * What is read where a `T` was written. A `Date` comes back as its text, or as a `Date` by `dates`; bytes as base64, and a `bigint` as a
 * number where that is exact.
 */
export type FromYaml<T> = ReadBack<T, { date: string | Date; bigint: number | bigint; bytes: string }>;

/** A codec that reads with the library. */
export function yamlCodecOver<T>(library: YamlLibrary, options: YamlCodecOptions): Codec<T, FromYaml<T>> {
  const { dates, maxAliases, maxNodes, maxEncodeDepth, maxDecodeDepth, maxBodyBytes } = settingsOf(options);
  const read = yamlReader(library, { dates, maxAliases, maxNodes, maxDepth: maxDecodeDepth });
  const encoder = new TextEncoder();
  return {
    contentType: "application/yaml",
    canDecode: (contentType) => {
      const parsed = parseContentType(contentType);
      return parsed !== undefined && matchesFormat(parsed.essence, NAMES, "yaml");
    },
    encode: (payload) => ({ body: encoder.encode(yamlText(payload, maxEncodeDepth)) }),
    // The cast is the codec's boundary: bytes carry no type, the caller's T is a promise about its queue.
    decode: (body, { contentType }) => read(structuredText("YAML", body, { contentType, maxBodyBytes })) as FromYaml<T>,
  };
}

function settingsOf(options: YamlCodecOptions): Required<YamlCodecOptions> {
  assertOptions("a YAML codec", options, KINDS);
  const {
    dates = "text",
    maxAliases = 100,
    maxNodes = 100_000,
    maxEncodeDepth = 64,
    maxDecodeDepth = 100,
    maxBodyBytes = Infinity,
  } = options;
  assertOneOf("dates", dates, ["text", "date"]);
  assertWholeNumber("maxAliases", maxAliases, 0);
  assertWholeNumber("maxNodes", maxNodes, 1);
  assertWithin("maxEncodeDepth", maxEncodeDepth, [0, 100]);
  assertWithin("maxDecodeDepth", maxDecodeDepth, [0, 1_000]);
  if (maxBodyBytes !== Infinity) assertWholeNumber("maxBodyBytes", maxBodyBytes, 0);
  return { dates, maxAliases, maxNodes, maxEncodeDepth, maxDecodeDepth, maxBodyBytes };
}
