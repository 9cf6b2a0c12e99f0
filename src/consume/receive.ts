/**
 * Bytes to payload, by the consumer's codec.
 *
 * @module
 */

import { DecodeError, isRetryable } from "../errors.ts";
import { isPromise } from "../internal/when_there.ts";
import { readableHeaders } from "../message/header_value.ts";
import type { ReceivedMessage } from "../message/received.ts";
import type { Codec, DecodeContext } from "../ports/codec.ts";
import type { Handled } from "./settlement.ts";

/** A body that was read, or what to do about one that was not. */
export type Decoded<T> =
  | { readonly status: "decoded"; readonly payload: T }
  | Extract<Handled, { status: "threw" | "undecodable" }>;

/** Decodes a body; synchronously where the codec does. */
export function decodeBody<T>(received: ReceivedMessage, codec: Codec<never, T>): Decoded<T> | Promise<Decoded<T>> {
  const { contentType } = received.properties;
  try {
    if (!codec.canDecode(contentType)) {
      return undecodable(new DecodeError(`No codec of this consumer reads ${describeType(contentType)}`));
    }
    const payload = codec.decode(received.body, new LazyContext(received));
    return isPromise(payload) ? payload.then(decoded, failed) : decoded(payload);
  } catch (error) {
    return failed(error);
  }
}

/** Most codecs look at no header, so the table is made readable only when one is asked for. */
class LazyContext implements DecodeContext {
  readonly contentType: string | undefined;
  readonly #received: ReceivedMessage;

  constructor(received: ReceivedMessage) {
    this.contentType = received.properties.contentType;
    this.#received = received;
  }

  get headers(): NonNullable<DecodeContext["headers"]> {
    return readableHeaders(this.#received.headers);
  }
}

function decoded<T>(payload: T): Decoded<T> {
  return { status: "decoded", payload };
}

/** What a codec throws parks the message, unless the codec says that what it depends on is away. */
function failed(error: unknown): Extract<Handled, { status: "threw" | "undecodable" }> {
  return saysRetryable(error) ? { status: "threw", error, by: "codec" } : undecodable(error);
}

function saysRetryable(error: unknown): boolean {
  try {
    return isRetryable(error);
  } catch {
    // Looking into it throws: then it says nothing.
    return false;
  }
}

function undecodable(error: unknown): Extract<Handled, { status: "threw" | "undecodable" }> {
  return { status: "undecodable", error };
}

function describeType(contentType: string | undefined): string {
  return contentType === undefined || contentType === ""
    ? "a body without a content type"
    : `content type "${contentType}"`;
}
