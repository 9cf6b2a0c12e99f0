/**
 * What a codec must have, looked at where one is handed in.
 *
 * @module
 */

import type { Codec } from "../ports/codec.ts";

/** The codec; throws a `TypeError` for anything else. */
export function assertCodec(codec: Codec): Codec {
  const isOne = typeof codec === "object" && codec !== null && typeof codec.contentType === "string" &&
    typeof codec.encode === "function" && typeof codec.decode === "function" && typeof codec.canDecode === "function";
  if (isOne) return codec;
  throw new TypeError(
    "Cannot use the codec: it must be a name or an object with contentType, canDecode, encode and decode",
  );
}
