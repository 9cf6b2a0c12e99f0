/**
 * Port: payloads that are kept beside the broker, and travel by their key (contract patterns 1.5).
 *
 * @module
 */

import type { StoreCallOptions } from "./idempotency_store.ts";

/** How a payload is read. */
export interface ClaimCheckGetOptions extends StoreCallOptions {
  /**
   * The digest the payload had when it was kept, 64 hexadecimal digits. A payload of another one fails as it is read, with a
   * `DecodeError`, at its end at the latest.
   */
  readonly sha256?: string | undefined;
}

/** A payload that was kept. */
export interface KeptPayload {
  /** What it is read by. */
  readonly key: string;
  /** Of its bytes, 64 hexadecimal digits, where the store has it. */
  readonly sha256?: string | undefined;
}

/**
 * Keeps payloads, each under a key of its own that no other one ever has. Every method rejects while the store is away, and never
 * answers instead.
 */
export interface ClaimCheckStore {
  /**
   * Keeps the bytes, and gives their key once whoever has it can read all of them. A stream is read as fast as the store takes it; of one
   * that fails nothing is kept.
   */
  put(
    content: Uint8Array | ReadableStream<Uint8Array>,
    options?: StoreCallOptions,
  ): Promise<string | KeptPayload>;
  /** The bytes; `null` where there are none by that key. Rejects with a {@linkcode ClaimMissingError} for a key it can never have given. */
  get(key: string, options?: ClaimCheckGetOptions): Promise<ReadableStream<Uint8Array> | null>;
  /** Removes the bytes. What is not there is removed. */
  delete(key: string, options?: StoreCallOptions): Promise<void>;
  /** Whether there are any, without reading them. */
  exists?(key: string, options?: StoreCallOptions): Promise<boolean>;
}
