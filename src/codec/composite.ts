/**
 * Several formats on one queue: written is the first, read is whatever arrives (contract codecs 2.10).
 *
 * @module
 */

import { DecodeError, describeError, isRetryable } from "../errors.ts";
import { isPromise } from "../internal/when_there.ts";
import type { Codec, DecodeContext } from "../ports/codec.ts";
import { assertCodec } from "./assert_codec.ts";

/** A type that no codec has a reason to read, unless it reads everything. */
const NOBODYS_TYPE = "application/vnd.acemq.nobodys";

/**
 * Writes with the first codec, and reads by content type: those that claim it in their order, and without one all that can be
 * guessed. The next is tried after each failure, except when a codec says that what it depends on is away: then the message is
 * retried. For changing the format of a queue that never stands still: first every consumer reads both, then the publishers write
 * the new one, then the old one goes.
 *
 * A codec that reads every type comes last, or none behind it would be asked. `textCodec` claims `text/yaml` and `text/xml` as
 * well, and reads anything: it does not belong beside those formats.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compositeCodec, jsonCodec, textCodec } from "@acemq/amqp/core";
 *
 * const codec = compositeCodec([jsonCodec(), textCodec()]);
 * const bytes = (text: string) => new TextEncoder().encode(text);
 * assert.equal(codec.contentType, "application/json");
 * assert.equal(await codec.decode(bytes("17"), { contentType: "text/plain" }), "17");
 * assert.equal(await codec.decode(bytes("17"), {}), 17);
 * assert.equal(await codec.decode(bytes("grün"), {}), "grün");
 * ```
 *
 * @throws {TypeError} no codec at all, something that is none, or one behind a codec that reads every type
 */
export function compositeCodec<In = unknown, Out = In>(
  codecs: readonly [Codec<In, Out>, ...Codec<never, Out>[]],
): Codec<In, Out> {
  const [first, ...rest] = assertCodecs(codecs);
  const all = [first, ...rest];
  return {
    contentType: first.contentType,
    ...traitsOf(all),
    canDecode: (contentType) => all.some((codec) => claims(codec, contentType)),
    // The first is the one that was handed in to write.
    encode: (payload) => first.encode(payload),
    decode: (body, context) => {
      const candidates = all.filter((codec) => claims(codec, context.contentType));
      return firstToRead(candidates, { body, context, held: all }) as Out | Promise<Out>;
    },
  };
}

/** What is true of one of them has to be minded with all: the next body may be read by it. */
function traitsOf(codecs: readonly Codec[]): object {
  return {
    ...codecs.some(({ isSealed }) => isSealed === true) ? { isSealed: true } : {},
    ...codecs.some((codec) => "claimCheck" in codec) ? { claimCheck: true } : {},
  };
}

/** Without a type every codec that can be guessed is asked, whether it claims such bodies or not. */
function claims(codec: Codec, contentType: string | undefined): boolean {
  return contentType === undefined || contentType === "" ? codec.guessable !== false : codec.canDecode(contentType);
}

interface Reading {
  readonly body: Uint8Array;
  readonly context: DecodeContext;
  readonly held: readonly Codec[];
}

/** Synchronously as far as the codecs are. */
function firstToRead(candidates: readonly Codec[], reading: Reading, reasons: readonly string[] = []): unknown {
  const [codec, ...others] = candidates;
  if (codec === undefined) throw unread(reading, reasons);
  const next = (error: unknown): unknown => {
    if (isRetryable(error)) throw error;
    return firstToRead(others, reading, [...reasons, `${codec.contentType}: ${describeError(error)}`]);
  };
  try {
    const payload = codec.decode(reading.body, reading.context);
    return isPromise(payload) ? payload.catch(next) : payload;
  } catch (error) {
    return next(error);
  }
}

function unread({ context: { contentType }, held }: Reading, reasons: readonly string[]): DecodeError {
  const body = contentType === undefined || contentType === ""
    ? "a body without a content type"
    : `a body of content type "${contentType}"`;
  if (reasons.length > 0) return new DecodeError(`Cannot read ${body}: ${reasons.join("; ")}`);
  const types = held.map((codec) => codec.contentType).join(", ");
  return new DecodeError(`Cannot read ${body}: nothing here reads it, of ${types}`);
}

function assertCodecs(codecs: unknown): readonly [Codec, ...Codec[]] {
  if (!Array.isArray(codecs) || codecs.length === 0) {
    throw new TypeError("Cannot make a composite codec: it must be a list of at least one codec");
  }
  const all = Array.from<Codec, Codec>(codecs, assertCodec);
  const greedy = all.findIndex((codec) => codec.canDecode(NOBODYS_TYPE));
  if (greedy !== -1 && greedy < all.length - 1) {
    throw new TypeError(
      `Cannot make a composite codec: the codec that writes ${
        all[greedy]?.contentType
      } reads every type, so it must come last`,
    );
  }
  return all as [Codec, ...Codec[]];
}
