/**
 * Payloads too large for a broker: they wait in a store, and the message has their key (contract patterns 1).
 *
 * @module
 */

import { ClaimMissingError, StoreError } from "../errors.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import { joinChunks } from "../internal/chunks.ts";
import { guardedBy } from "../internal/guarded.ts";
import { assertOptions, describeKind, type OptionKinds } from "../internal/option_kinds.ts";
import type { OutgoingHeaders } from "../message/header_value.ts";
import type { ClaimCheckStore, KeptPayload } from "../ports/claim_check_store.ts";
import type { Codec, DecodeContext, EncodedPayload, StreamingCodec } from "../ports/codec.ts";
import { assertCodec } from "./assert_codec.ts";
import { checkedBody, claimFrameOf, inlineBody } from "./claim_frame.ts";
import { peek } from "./peeked_stream.ts";

/** Options of {@linkcode claimCheckCodec}. */
export interface ClaimCheckOptions {
  /** An encoded payload of so many bytes goes to the store; a shorter one travels in the message. @default {65_536} */
  readonly thresholdBytes?: number;
}

/** A codec that keeps what is large in a store; an encrypting codec goes inside it, and does not compile around it. */
export interface ClaimCheckCodec<In = unknown, Out = In> extends Codec<In, Out> {
  /** Where payloads are kept. */
  readonly claimCheck: ClaimCheckStore;
}

const KINDS: Readonly<OptionKinds<ClaimCheckOptions>> = { thresholdBytes: "checked" };

/** The SHA-256 of a payload in the store, where the store makes one. */
export const HEADER_CLAIM_DIGEST = "acemq-claim-digest";

const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Keeps payloads of `thresholdBytes` and more in a store; the message has their key. Smaller ones travel in the message, three bytes
 * longer. Reads both, and bodies that never were a claim check. The content type is the inner codec's.
 *
 * Around `streamCodec()` a payload of any size passes through: what is read of it before the threshold is all that is held. Around
 * `encryptedCodec(…)` the store holds ciphertext; the other way round does not compile.
 *
 * Nothing is removed by it: a message can be delivered again, and be read by several queues. A payload that was kept and whose message
 * was not published stays behind.
 *
 * Encoding throws what the inner codec throws, and a {@linkcode StoreError} when the store does not keep the payload. Decoding throws a
 * {@linkcode ClaimMissingError}, which parks the message, when the store has no such payload or the key is none; a `StoreError`, which
 * retries it, when the store is away.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { claimCheckCodec, claimKeyOf, jsonCodec } from "@acemq/amqp/core";
 * import { memoryClaimCheckStore } from "@acemq/amqp/memory";
 *
 * const store = memoryClaimCheckStore();
 * const codec = claimCheckCodec(jsonCodec<{ scan: string }>(), store, { thresholdBytes: 1_000 });
 * const { body } = await codec.encode({ scan: "x".repeat(5_000) });
 * assert.equal(body.byteLength, 3 + 36);
 * assert.equal((await codec.decode(body, {})).scan.length, 5_000);
 * await store.delete(claimKeyOf(body) ?? "");
 * ```
 *
 * @throws {TypeError} no codec, no store, an option that there is not
 * @throws {RangeError} a threshold that is no whole number
 */
export function claimCheckCodec<In = unknown, Out = In>(
  inner: Codec<In, Out> | StreamingCodec<In, Out>,
  store: ClaimCheckStore,
  options: ClaimCheckOptions = {},
): ClaimCheckCodec<In, Out> {
  assertCodec(inner as Codec);
  assertStore(store);
  assertOptions("a claim check", options, KINDS);
  const { thresholdBytes = 65_536 } = options;
  assertWholeNumber("thresholdBytes", thresholdBytes, 0);
  const { contentType, guessable, isSealed } = inner;
  return {
    contentType,
    claimCheck: store,
    ...(guessable === undefined ? {} : { guessable }),
    ...(isSealed === undefined ? {} : { isSealed }),
    canDecode: (contentType) => inner.canDecode(contentType),
    encode: (payload) =>
      "openStream" in inner
        ? checkStream(inner, payload, { store, thresholdBytes })
        : checkBytes(inner, payload, { store, thresholdBytes }),
    decode: async (body, context) => {
      const frame = claimFrameOf(body);
      if (frame.kind !== "checked") return await inner.decode(frame.body, context);
      const stream = await fetched(store, frame.key, context);
      if ("readStream" in inner) return inner.readStream(stream, context);
      return await inner.decode(await wholeOf(stream), context);
    },
  };
}

/** What is checked in, and where. */
interface Checking {
  readonly store: ClaimCheckStore;
  readonly thresholdBytes: number;
}

async function checkBytes<In>(
  inner: Codec<In, unknown>,
  payload: In,
  { store, thresholdBytes }: Checking,
): Promise<EncodedPayload> {
  const encoded = await inner.encode(payload);
  const { body } = encoded;
  if (body.byteLength < thresholdBytes) return { ...encoded, body: inlineBody(body) };
  return checked(encoded, await kept(() => store.put(body)));
}

async function checkStream<In>(
  inner: StreamingCodec<In, unknown>,
  payload: In,
  { store, thresholdBytes }: Checking,
): Promise<EncodedPayload> {
  const { stream, contentType } = inner.openStream(payload);
  const told = contentType === undefined ? {} : { contentType };
  const peeked = await peek(stream, thresholdBytes);
  if ("whole" in peeked) return { ...told, body: inlineBody(peeked.whole) };
  try {
    return checked(told, await kept(() => store.put(peeked.stream)));
  } catch (error) {
    // A store that is handed a stream that fails fails with it.
    const failure = peeked.failure();
    if (failure === undefined) await peeked.stream.cancel(error).catch(() => {});
    throw failure ?? error;
  }
}

function checked(encoded: Omit<EncodedPayload, "body">, { key, sha256 }: KeptPayload): EncodedPayload {
  const { headers } = encoded;
  const all: OutgoingHeaders | undefined = sha256 === undefined
    ? headers
    : { ...headers, [HEADER_CLAIM_DIGEST]: sha256 };
  return { ...encoded, body: checkedBody(key), ...(all === undefined ? {} : { headers: all }) };
}

async function kept(put: () => Promise<string | KeptPayload>): Promise<KeptPayload> {
  const answer: unknown = await guarded("keep the payload", put);
  const payload = typeof answer === "string" ? { key: answer } : answer;
  if (typeof payload === "object" && payload !== null && "key" in payload) {
    const { key, sha256 } = payload as KeptPayload;
    const hasDigest = sha256 === undefined || DIGEST.test(sha256);
    if (typeof key === "string" && key !== "" && key.isWellFormed() && hasDigest) return { key, sha256 };
  }
  throw new StoreError(
    `Cannot keep the payload: the claim check store must give its key, or 'key' and 'sha256', found ${
      describeKind(answer)
    }`,
  );
}

async function fetched(
  store: ClaimCheckStore,
  key: string | undefined,
  { headers }: DecodeContext,
): Promise<ReadableStream<Uint8Array>> {
  if (key === undefined) throw new ClaimMissingError("Cannot read the body: it has no key of a claim check in it");
  const sha256 = headers?.[HEADER_CLAIM_DIGEST];
  const isDigest = typeof sha256 === "string" && DIGEST.test(sha256);
  const stream = await guarded("read the payload", () => store.get(key, isDigest ? { sha256 } : {}));
  if (stream !== null && stream !== undefined) return stream;
  throw new ClaimMissingError(
    `Cannot read the body: its payload ${JSON.stringify(key)} is not in the claim check store`,
  );
}

async function wholeOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return await guarded("read the payload", async () => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      chunks.push(part.value);
      length += part.value.byteLength;
    }
    return joinChunks(chunks, length);
  });
}

/** What a store throws says nothing to a consumer. */
function guarded<T>(what: string, action: () => Promise<T>): Promise<T> {
  return guardedBy("the claim check store", what, action);
}

function assertStore(store: unknown): asserts store is ClaimCheckStore {
  const isOne = typeof store === "object" && store !== null &&
    ["put", "get", "delete"].every((name) => typeof (store as Readonly<Record<string, unknown>>)[name] === "function");
  if (isOne) return;
  throw new TypeError(
    `Cannot check payloads in: the second argument must be a store such as memoryClaimCheckStore(), found ${
      describeKind(store)
    }`,
  );
}
