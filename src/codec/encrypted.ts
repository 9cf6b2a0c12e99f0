/**
 * Bodies that only those read who hold a key (contract codecs 2.9).
 *
 * @module
 */

import { randomBytes } from "../clock.ts";
import { DecodeError, describeError, EncodeError, isRetryable, RetryableError } from "../errors.ts";
import { describeKind } from "../internal/option_kinds.ts";
import { isPromise } from "../internal/when_there.ts";
import type { Codec, DecodeContext } from "../ports/codec.ts";
import { assertCodec } from "./assert_codec.ts";
import { parseContentType } from "./content_type.ts";
import {
  ENCRYPTED_CONTENT_TYPE,
  frameHeader,
  joinFrame,
  NONCE_BYTES,
  ownBytes,
  type SealedFrame,
  splitFrame,
} from "./encrypted_frame.ts";
import { ALGORITHM, type EncryptionKey } from "./encryption_key.ts";
import { type Keyring, quoted } from "./keyring.ts";

/** What can be sealed: a codec whose bytes are the whole payload, so neither a claim check nor a stream. */
export type SealableCodec<In, Out> = Codec<In, Out> & {
  readonly claimCheck?: never;
  readonly openStream?: never;
};

/**
 * Seals what another codec writes, as `application/vnd.acemq.encrypted`. The name of the key stands in front, in the clear, and is
 * authenticated with the body; headers, routing and the type of the message are neither hidden nor authenticated, and whoever holds
 * the key can write. 31 bytes and the key's name longer than what is in it.
 *
 * A claim check goes around it, so that a store holds nothing that can be read; the other way round does not compile.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encryptedCodec, jsonCodec, keyIdOf, keyring } from "@acemq/amqp/core";
 *
 * const keys = keyring({ current: "2026-01", keys: { "2026-01": crypto.getRandomValues(new Uint8Array(32)) } });
 * const codec = encryptedCodec(jsonCodec<{ card: string }>(), keys);
 * const { body } = await codec.encode({ card: "4929" });
 * assert.equal(keyIdOf(body), "2026-01");
 * assert.deepEqual(await codec.decode(body, {}), { card: "4929" });
 * ```
 *
 * Encoding throws what the inner codec throws, and a {@linkcode RetryableError} when the keyring does not answer. Decoding throws a
 * {@linkcode DecodeError} for a body that is not sealed, was cut off, names a key that is not there, or does not open: the message is
 * the same for a wrong key and for one that was changed.
 *
 * @throws {TypeError} no codec, no keyring, or a codec that cannot be sealed
 */
export function encryptedCodec<In = unknown, Out = In>(
  inner: SealableCodec<In, Out>,
  keyring: Keyring,
): Codec<In, Out> {
  assertSealable(inner);
  assertKeyring(keyring);
  const seals = new Seals();
  return {
    contentType: ENCRYPTED_CONTENT_TYPE,
    isSealed: true,
    canDecode: (contentType) => parseContentType(contentType)?.essence === ENCRYPTED_CONTENT_TYPE,
    encode: async (payload) => {
      const encoded = inner.encode(payload);
      const { body: plaintext, contentType, headers } = isPromise(encoded) ? await encoded : encoded;
      assertTold(contentType, inner);
      const current = asked(() => keyring.current(), "the current key");
      const seal = seals.under(usable(isPromise(current) ? await current : current));
      const body = await (isPromise(seal) ? await seal : seal)(plaintext, randomBytes(NONCE_BYTES));
      return headers === undefined ? { body } : { body, headers };
    },
    decode: async (body, context) => {
      const plaintext = await open(splitFrame(body), keyring);
      return await inner.decode(plaintext, innerContext(context, inner));
    },
  };
}

/** Seals bytes. The nonce must not have been used under the key. */
export type Seal = (plaintext: Uint8Array, nonce: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>;

/** Seals bytes under a key. */
export async function sealUnder(key: EncryptionKey): Promise<Seal> {
  const cryptoKey = await key.cryptoKey();
  const header = frameHeader(key.id);
  return async (plaintext, nonce) =>
    joinFrame(header, nonce, await crypto.subtle.encrypt(parameters(nonce, header), cryptoKey, ownBytes(plaintext)));
}

/** What is the same for each body of a key is made once. */
class Seals {
  readonly #byKey = new WeakMap<EncryptionKey, Seal>();

  under(key: EncryptionKey): Seal | Promise<Seal> {
    return this.#byKey.get(key) ?? this.#make(key);
  }

  async #make(key: EncryptionKey): Promise<Seal> {
    const seal = await sealUnder(key);
    this.#byKey.set(key, seal);
    return seal;
  }
}

async function open({ keyId, header, nonce, sealed }: SealedFrame, keyring: Keyring): Promise<Uint8Array> {
  const key = await asked(() => keyring.keyFor(keyId), `the key ${JSON.stringify(keyId)}`);
  if (key === undefined) {
    const held = keyring.ids === undefined ? "" : `, which holds ${quoted(keyring.ids())}`;
    throw new DecodeError(`Cannot open the body: the key ${JSON.stringify(keyId)} is not on the keyring${held}`);
  }
  const cryptoKey = await usable(key).cryptoKey();
  try {
    return new Uint8Array(await crypto.subtle.decrypt(parameters(nonce, header), cryptoKey, sealed));
  } catch {
    // One text for both, and no cause: nobody learns by trying.
    throw new DecodeError("Cannot open the body: it was sealed with another key, or changed on its way");
  }
}

function parameters(iv: Uint8Array<ArrayBuffer>, additionalData: Uint8Array<ArrayBuffer>): AesGcmParams {
  return { name: ALGORITHM, iv, additionalData };
}

/** A keyring that fails is away: what it holds is not known. */
function asked<T>(question: () => T | Promise<T>, what: string): T | Promise<T> {
  const failed = (error: unknown): never => {
    if (isRetryable(error)) throw error;
    throw new RetryableError(`Cannot get ${what}: the keyring failed: ${describeError(error)}`, { cause: error });
  };
  try {
    const answer = question();
    return isPromise(answer) ? answer.catch(failed) : answer;
  } catch (error) {
    return failed(error);
  }
}

/** Its own type, which is not on the wire. */
function innerContext(context: DecodeContext, { contentType }: Codec<never, unknown>): DecodeContext {
  return {
    contentType,
    // Most codecs look at none, and the table is made when one does.
    get headers() {
      return context.headers as NonNullable<DecodeContext["headers"]>;
    },
  };
}

/** Whoever opens the body knows the inner codec's type alone. */
function assertTold(contentType: string | undefined, inner: Codec<never, unknown>): void {
  if (contentType === undefined || contentType === inner.contentType) return;
  throw new EncodeError(
    `Cannot seal the body: the codec inside wrote it as ${contentType}, and whoever opens it reads ${inner.contentType}`,
  );
}

function assertSealable(inner: Codec<never, unknown>): void {
  assertCodec(inner as Codec);
  if ("claimCheck" in inner) {
    throw new TypeError(
      "Cannot seal a claim check: its store would hold what can be read. Put it around: claimCheckCodec(encryptedCodec(…), store)",
    );
  }
  if ("openStream" in inner) throw new TypeError("Cannot seal a stream: a body is sealed as a whole");
}

function assertKeyring(keyring: unknown): asserts keyring is Keyring {
  const isOne = typeof keyring === "object" && keyring !== null && "current" in keyring && "keyFor" in keyring &&
    typeof keyring.current === "function" && typeof keyring.keyFor === "function";
  if (isOne) return;
  throw new TypeError(
    `Cannot seal: the second argument must be a keyring such as keyring({ current, keys }), found ${
      describeKind(keyring)
    }`,
  );
}

/** Not by its class: two copies of the library may have made it. */
function usable(key: unknown): EncryptionKey {
  const isOne = typeof key === "object" && key !== null && "id" in key && "cryptoKey" in key;
  if (isOne) return key as EncryptionKey;
  throw new TypeError(`Cannot use what the keyring gave: it must be an EncryptionKey, found ${describeKind(key)}`);
}
