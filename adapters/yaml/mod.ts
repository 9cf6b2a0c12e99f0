/**
 * YAML as a format of messages. Needs the package `js-yaml` 5, and says so when it is imported without it.
 *
 * @module
 */

import { CodecMissingError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { type FromYaml, type YamlCodecOptions, yamlCodecOver } from "./codec.ts";
import type { YamlLibrary } from "./library.ts";

export type { FromYaml, YamlCodecOptions } from "./codec.ts";
export type { ReadBack, ReadBackTypes } from "../../src/codec/read_back.ts";
export type { Codec, DecodeContext, EncodedPayload } from "../../src/ports/codec.ts";
export type { HeaderValue, MessageHeaders, OutgoingHeaders } from "../../src/message/header_value.ts";

const library: YamlLibrary = await import("js-yaml").catch((cause: unknown) => {
  throw new CodecMissingError(
    'Cannot load the YAML codec: the package "js-yaml" is not installed. Install it with: npm install js-yaml@5',
    { cause },
  );
});

/**
 * YAML as `application/yaml`; reads that, `application/x-yaml`, `text/yaml`, `text/x-yaml` and anything `+yaml`, never a body without
 * a content type: YAML reads JSON and would answer for it.
 *
 * Written: one document in block style, with every text quoted that a reader of YAML 1.1 or 1.2 could take for something else.
 * `bigint` as digits, `Date` as a timestamp, bytes as base64 text; a member that is `undefined` is left out. Refused: what does not
 * keep its content in members (a `Map`, a `Set`), functions, `undefined` in a list, half a surrogate pair.
 *
 * Read: by the core schema of YAML 1.2. `NO` is text, integers beyond 2^53 are `bigint`, `<<` is a key like another. Refused: other
 * tags, duplicate keys, more than one document, none at all, a value that aliases make too large.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { yamlCodec } from "@acemq/amqp/yaml";
 *
 * const codec = yamlCodec();
 * const { body } = await codec.encode({ ref: "b-7", country: "NO", tags: ["red", "blue"] });
 * assert.equal(new TextDecoder().decode(body), 'ref: b-7\ncountry: "NO"\ntags:\n- red\n- blue\n');
 * assert.deepEqual(await codec.decode(new TextEncoder().encode("country: NO\n"), {}), { country: "NO" });
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} a limit that is no whole number or out of range
 */
export function yamlCodec<T = unknown>(options: YamlCodecOptions = {}): Codec<T, FromYaml<T>> {
  return yamlCodecOver<T>(library, options);
}
