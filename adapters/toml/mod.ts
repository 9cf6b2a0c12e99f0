/**
 * TOML as a format of messages. Needs the package `smol-toml` 1.9, and says so when it is imported without it.
 *
 * @module
 */

import { CodecMissingError } from "../../src/errors.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { type FromToml, type TomlCodecOptions, tomlCodecOver } from "./codec.ts";
import type { TomlLibrary } from "./library.ts";

export type { FromToml, TomlCodecOptions } from "./codec.ts";
export type { ReadBack, ReadBackTypes } from "../../src/codec/read_back.ts";
export type { Codec, DecodeContext, EncodedPayload } from "../../src/ports/codec.ts";
export type { HeaderValue, MessageHeaders, OutgoingHeaders } from "../../src/message/header_value.ts";

const library: TomlLibrary = await import("smol-toml").catch((cause: unknown) => {
  throw new CodecMissingError(
    'Cannot load the TOML codec: the package "smol-toml" is not installed. Install it with: npm install smol-toml@1',
    { cause },
  );
});

/**
 * TOML as `application/toml`; reads that, `text/toml` and anything `+toml`, never a body without a content type.
 *
 * Written: a table, which is what a payload has to be; `bigint` as an integer of 64 bits, `Date` as an offset date-time, bytes as
 * base64 text; a member that is `undefined` is left out. Refused: `null` wherever it stands, which TOML has no word for, another top
 * than a table, a `bigint` of more than 64 bits, and what does not keep its content in members (a `Map`, a `Set`).
 *
 * Read: everything of TOML 1.0. An offset date-time is a `Date`; a local one, a date and a time name no moment and are text;
 * integers beyond 2^53 are `bigint`; an empty body is `{}`. Refused: keys that stand twice, dates that do not exist, integers of more
 * than 64 bits.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tomlCodec } from "@acemq/amqp/toml";
 *
 * const codec = tomlCodec();
 * const { body } = await codec.encode({ ref: "b-7", qty: 3, box: { sku: "x" } });
 * assert.equal(new TextDecoder().decode(body), 'ref = "b-7"\nqty = 3\n\n[box]\nsku = "x"\n');
 * assert.deepEqual(await codec.decode(body, {}), { ref: "b-7", qty: 3, box: { sku: "x" } });
 * ```
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} a limit that is no whole number or out of range
 */
export function tomlCodec<T = unknown>(options: TomlCodecOptions = {}): Codec<T, FromToml<T>> {
  return tomlCodecOver<T>(library, options);
}
