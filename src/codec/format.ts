/**
 * The codec that options ask for: by name or object, with a schema beside it or without.
 *
 * @module
 */

import type { Codec } from "../ports/codec.ts";
import type { StandardSchema } from "../ports/standard_schema.ts";
import type { CodecCatalog, CodecName } from "./codecs.ts";
import { validatedCodec } from "./validated.ts";

/** What options say of a payload's format. */
export interface Format {
  readonly codec?: CodecName | Codec<never, unknown>;
  readonly schema?: StandardSchema | undefined;
}

/** What a connection knows of formats. */
export interface KnownFormats {
  readonly codecs: CodecCatalog;
  readonly defaultCodec: Codec;
}

/** The codec of a publisher or a consumer. Throws as the catalog does, and for a schema that is none. */
export function codecOf({ codec: choice, schema }: Format, { codecs, defaultCodec }: KnownFormats): Codec {
  // What it is given to write is a matter of the caller's types, which end here.
  const codec = choice === undefined ? defaultCodec : codecs.resolve(choice as CodecName | Codec);
  return schema === undefined ? codec : validatedCodec(codec, schema);
}
