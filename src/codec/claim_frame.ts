/**
 * The frame of a claim check (contract patterns 1.1): three bytes, and then the payload or the key it is kept under.
 *
 * @module
 */

import { strictUtf8 } from "../internal/bytes.ts";

const MAGIC = 0xac;
const VERSION = 0x01;
const INLINE = 0x00;
const CHECKED = 0x01;
const HEADER_BYTES = 3;

/** What a body is. */
export type ClaimFrame =
  /** None of ours: the codec inside reads it as it is. */
  | { readonly kind: "unframed"; readonly body: Uint8Array }
  /** The payload travels in the body. */
  | { readonly kind: "inline"; readonly body: Uint8Array }
  /** The payload is in the store; without a key where that is none. */
  | { readonly kind: "checked"; readonly key: string | undefined };

/** Looks at a body. Never throws. */
export function claimFrameOf(body: Uint8Array): ClaimFrame {
  const [magic, version, kind] = body;
  if (magic !== MAGIC || version !== VERSION || (kind !== INLINE && kind !== CHECKED)) {
    return { kind: "unframed", body };
  }
  const rest = body.subarray(HEADER_BYTES);
  if (kind === INLINE) return { kind: "inline", body: rest };
  const key = strictUtf8(rest);
  return { kind: "checked", key: key === "" ? undefined : key };
}

/** A body with the payload in it. */
export function inlineBody(payload: Uint8Array): Uint8Array {
  return framed(INLINE, payload);
}

/** A body with the key of the payload. */
export function checkedBody(key: string): Uint8Array {
  return framed(CHECKED, new TextEncoder().encode(key));
}

function framed(kind: number, rest: Uint8Array): Uint8Array {
  const body = new Uint8Array(HEADER_BYTES + rest.byteLength);
  body.set([MAGIC, VERSION, kind]);
  body.set(rest, HEADER_BYTES);
  return body;
}

/**
 * The key of a payload that is in a store; `null` for a body that has its payload in it, or is no claim check. Asks no store.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { claimKeyOf } from "@acemq/amqp/core";
 *
 * assert.equal(claimKeyOf(new Uint8Array([0xac, 0x01, 0x01, 0x61, 0x2d, 0x31])), "a-1");
 * assert.equal(claimKeyOf(new TextEncoder().encode("{}")), null);
 * ```
 */
export function claimKeyOf(body: Uint8Array): string | null {
  const frame = claimFrameOf(body);
  return frame.kind === "checked" ? frame.key ?? null : null;
}
