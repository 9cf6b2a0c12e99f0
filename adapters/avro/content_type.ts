/**
 * Which content types the two ways of sending Avro have, and which both read (contract codecs 2.7).
 *
 * The bodies of one read as the other decode without complaint, into nonsense: so each refuses the other's type.
 *
 * @module
 */

import { parseContentType } from "../../src/codec/content_type.ts";

/** Of a body whose schema both sides know. */
export const FIXED_TYPE = "avro/binary";

/** Of a body that says which registered schema it was written with. */
export const REGISTERED_TYPE = "application/vnd.acemq.avro";

/** What a content type says of a body. */
export type AvroFraming = "fixed" | "registered" | "either" | "unknown";

/** Takes a content type for what it says; `unknown` for an absent one and for every other format's. */
export function framingOf(contentType: string | undefined): AvroFraming {
  const essence = parseContentType(contentType)?.essence ?? "";
  if (essence === REGISTERED_TYPE) return "registered";
  if (essence.startsWith("avro/")) return "fixed";
  const isAvro = essence === "application/avro" || essence.startsWith("application/x-avro") ||
    essence.endsWith("+avro");
  return isAvro ? "either" : "unknown";
}
