/**
 * The XML codec over the library it is handed (contract codecs 2.4).
 *
 * @module
 */

import { matchesFormat, parseContentType } from "../../src/codec/content_type.ts";
import { structuredText } from "../../src/codec/text_format.ts";
import { assertOneOf, assertWholeNumber, assertWithin } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec } from "../../src/ports/codec.ts";
import type { XmlLibrary } from "./library.ts";
import { isWritable } from "./xml_name.ts";
import { readXml } from "./xml_reader.ts";
import { xmlText } from "./xml_writer.ts";

/** Options of `xmlCodec`. */
export interface XmlCodecOptions {
  /** The name of the outermost element that is written; a Go struct may insist on one. It is ignored on reading. @default {"message"} */
  readonly root?: string;
  /**
   * How a list is written: as repeated elements, or as such within one of the same name. A Java class reads only the second, Go only
   * the first. Both are read, whatever is written (`asList`).
   *
   * @default {"repeated"}
   */
  readonly lists?: "repeated" | "wrapped";
  /** Whether what is read is an object with the outermost element as its only member, rather than the content of it. @default {false} */
  readonly exposeRoot?: boolean;
  /** Levels of nesting that are written, at most 1,000; .NET refuses more than 64 in JSON. @default {64} */
  readonly maxEncodeDepth?: number;
  /** Levels of nesting that are read, at most 1,000. @default {1_000} */
  readonly maxDecodeDepth?: number;
  /** Bytes of a body that are read; a larger one is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

const KINDS: Readonly<OptionKinds<XmlCodecOptions>> = {
  root: "text",
  lists: "checked",
  exposeRoot: "boolean",
  maxEncodeDepth: "checked",
  maxDecodeDepth: "checked",
  maxBodyBytes: "checked",
};

const NAMES: readonly string[] = ["application/xml", "text/xml"];

/**
 * What is read where a `T` was written: text, for XML has nothing else, and of a list what stands in it, if that is one thing alone.
 * `asList` makes a list of it again.
 */
export type FromXml<T> = (
  unknown extends T ? T
    : T extends undefined ? undefined
    : T extends string | number | bigint | boolean | null | Date | ArrayBuffer | ArrayBufferView ? string
    : T extends readonly (infer Item)[] ? FromXml<Item> | FromXml<Item>[]
    : T extends { toJSON(): infer Written } ? FromXml<Written>
    : T extends object ? { [Name in keyof T]: FromXml<T[Name]> }
    : never
) extends infer Read ? [Read] extends [T] ? T : Read : never;

/** A codec that reads with the library. */
export function xmlCodecOver<T>(library: XmlLibrary, options: XmlCodecOptions): Codec<T, FromXml<T>> {
  const { root, lists, exposeRoot, maxEncodeDepth, maxDecodeDepth, maxBodyBytes } = settingsOf(options);
  const encoder = new TextEncoder();
  return {
    contentType: "application/xml",
    canDecode: (contentType) => {
      const parsed = parseContentType(contentType);
      return parsed !== undefined && matchesFormat(parsed.essence, NAMES, "xml");
    },
    encode: (payload) => ({ body: encoder.encode(xmlText(payload, { root, lists, maxDepth: maxEncodeDepth })) }),
    decode: (body, { contentType }) => {
      const text = structuredText("XML", body, { contentType, maxBodyBytes });
      // The cast is the codec's boundary: bytes carry no type, the caller's T is a promise about its queue.
      return readXml(library, text, { exposeRoot, maxDepth: maxDecodeDepth }) as FromXml<T>;
    },
  };
}

function settingsOf(options: XmlCodecOptions): Required<XmlCodecOptions> {
  assertOptions("an XML codec", options, KINDS);
  const { root = "message", lists = "repeated", exposeRoot = false } = options;
  const { maxEncodeDepth = 64, maxDecodeDepth = 1_000, maxBodyBytes = Infinity } = options;
  if (!isWritable(root)) {
    throw new TypeError("Cannot use option 'root': it must be a name of letters, digits, '_', '.' and '-'");
  }
  assertOneOf("lists", lists, ["repeated", "wrapped"]);
  assertWithin("maxEncodeDepth", maxEncodeDepth, [0, 1_000]);
  assertWithin("maxDecodeDepth", maxDecodeDepth, [0, 1_000]);
  if (maxBodyBytes !== Infinity) assertWholeNumber("maxBodyBytes", maxBodyBytes, 0);
  return { root, lists, exposeRoot, maxEncodeDepth, maxDecodeDepth, maxBodyBytes };
}
