/**
 * Payloads beside the broker, in memory: for tests, and for a process that may forget when it ends.
 *
 * @module
 */

import { type NewId, randomUuid } from "../../src/clock.ts";
import { joinChunks } from "../../src/internal/chunks.ts";
import { otherPayload, sha256Hex } from "../../src/internal/digest.ts";
import { assertOptions, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import { assertGetOfPayload } from "../../src/internal/store_options.ts";
import type { ClaimCheckGetOptions, ClaimCheckStore, KeptPayload } from "../../src/ports/claim_check_store.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";

/** How payloads are kept in memory. */
export interface MemoryClaimCheckOptions {
  /** Whether payloads have a digest, which is checked when they are read. @default {false} */
  readonly digest?: boolean;
  /** Makes the keys. @default {randomUuid} */
  readonly newId?: NewId;
}

const KINDS: Readonly<OptionKinds<MemoryClaimCheckOptions>> = { digest: "boolean", newId: "function" };

/** See {@linkcode memoryClaimCheckStore}. */
export class MemoryClaimCheckStore implements ClaimCheckStore {
  readonly #payloads = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #digest: boolean;
  readonly #newId: NewId;

  /** Use {@linkcode memoryClaimCheckStore}. */
  constructor(options: MemoryClaimCheckOptions = {}) {
    assertOptions("a claim check store in memory", options, KINDS);
    const { digest = false, newId = randomUuid } = options;
    this.#digest = digest;
    this.#newId = newId;
  }

  /** Payloads there are. */
  get size(): number {
    return this.#payloads.size;
  }

  /** Keeps a copy. */
  async put(
    content: Uint8Array | ReadableStream<Uint8Array>,
    options: StoreCallOptions = {},
  ): Promise<string | KeptPayload> {
    const signal = signalOf("put", options);
    signal?.throwIfAborted();
    const bytes = content instanceof Uint8Array ? new Uint8Array(content) : await collected(content, signal);
    const key = this.#newId();
    const kept = this.#digest ? { key, sha256: await sha256Hex(bytes) } : key;
    this.#payloads.set(key, bytes);
    return kept;
  }

  /** A stream of a copy. */
  async get(key: string, options: ClaimCheckGetOptions = {}): Promise<ReadableStream<Uint8Array> | null> {
    assertGetOfPayload(options);
    const { sha256, signal } = options;
    signal?.throwIfAborted();
    const bytes = this.#payloads.get(key);
    if (bytes === undefined) return null;
    if (sha256 !== undefined && await sha256Hex(bytes) !== sha256) throw otherPayload();
    return new Blob([bytes]).stream();
  }

  /** Forgets it. */
  async delete(key: string, options: StoreCallOptions = {}): Promise<void> {
    signalOf("delete", options)?.throwIfAborted();
    this.#payloads.delete(key);
  }

  /** Whether it is there. */
  async exists(key: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("exists", options)?.throwIfAborted();
    return this.#payloads.has(key);
  }

  /** Forgets everything. */
  clear(): void {
    this.#payloads.clear();
  }
}

/**
 * Payloads beside the broker in memory. They are of this process alone, and a restart forgets them. Streams are held as a whole.
 *
 * @throws {TypeError} an option that there is not, or of another type
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { memoryClaimCheckStore } from "@acemq/amqp/memory";
 *
 * const store = memoryClaimCheckStore({ digest: true });
 * const { key, sha256 } = await store.put(new TextEncoder().encode("abc")) as { key: string; sha256: string };
 * assert.equal(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
 * assert.equal(await new Response(await store.get(key, { sha256 })).text(), "abc");
 * ```
 */
export function memoryClaimCheckStore(options: MemoryClaimCheckOptions = {}): MemoryClaimCheckStore {
  return new MemoryClaimCheckStore(options);
}

async function collected(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const sink = new WritableStream<Uint8Array>({
    write: (chunk) => {
      chunks.push(new Uint8Array(chunk));
      length += chunk.byteLength;
    },
  });
  await stream.pipeTo(sink, signal === undefined ? {} : { signal });
  return joinChunks(chunks, length);
}
