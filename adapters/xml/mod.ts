/**
 * XML as a format of messages. Needs the package `@rgrove/parse-xml` 5, and says so when it is imported without it.
 *
 * @module
 */

import { CodecMissingError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { type FromXml, type XmlCodecOptions, xmlCodecOver } from "./codec.ts";
import type { XmlLibrary } from "./library.ts";

export { asList } from "./as_list.ts";
export type { FromXml, XmlCodecOptions } from "./codec.ts";
export type { Codec, DecodeContext, EncodedPayload } from "../../src/ports/codec.ts";
export type { HeaderValue, MessageHeaders, OutgoingHeaders } from "../../src/message/header_value.ts";

const library: XmlLibrary = await import("@rgrove/parse-xml").catch((cause: unknown) => {
  throw new CodecMissingError(
    'Cannot load the XML codec: the package "@rgrove/parse-xml" is not installed. ' +
      "Install it with: npm install @rgrove/parse-xml@5",
    { cause },
  );
});

/**
 * XML as `application/xml`; reads that, `text/xml` and anything `+xml`, never a body without a content type.
 *
 * Written: elements named like the members, without a declaration, namespaces, attributes or indentation. Numbers, `bigint`,
 * booleans and `Date` as text, bytes as base64; `null` is an empty element, an empty list and a member that is `undefined` are
 * nothing. Refused: another top than an object, names that no element can have, a list in a list, NaN and the infinities, characters
 * that XML does not allow.
 *
 * Read: **every value is text**, since XML has no other; a name that stands more than once is a list, an attribute a member, text
 * beside attributes the member `""`. Prefixes of namespaces go. Refused: any document type, entities but the five that XML has
 * itself, another encoding than UTF-8.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { asList, xmlCodec } from "@acemq/amqp/xml";
 *
 * const codec = xmlCodec<{ ref: string; tags?: unknown }>();
 * const { body } = await codec.encode({ ref: "b-7", tags: ["red", "blue"] });
 * assert.equal(new TextDecoder().decode(body), "<message><ref>b-7</ref><tags>red</tags><tags>blue</tags></message>");
 * const { ref, tags } = await codec.decode(body, {});
 * assert.deepEqual([ref, ...asList<string>(tags, "tags")], ["b-7", "red", "blue"]);
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} a limit that is no whole number or out of range
 */
export function xmlCodec<T = unknown>(options: XmlCodecOptions = {}): Codec<T, FromXml<T>> {
  return xmlCodecOver<T>(library, options);
}
