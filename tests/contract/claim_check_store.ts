/**
 * What a store of payloads must do: `node:test` cases to run against an adapter (contract patterns 1.5).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClaimMissingError, DecodeError } from "../../src/errors.ts";
import type { ClaimCheckStore, KeptPayload } from "../../src/ports/claim_check_store.ts";
import { contractOptions } from "./options.ts";

/** A store without a payload in it, and another one that stands for a second process. */
export interface ClaimCheckStoreUnderTest {
  /** What the cases are about. */
  readonly store: ClaimCheckStore;
  /** Another one over the same payloads; the same one where there can be no other. */
  readonly other: ClaimCheckStore;
  /** Whether it gives the digest of what it keeps. @default {false} */
  readonly hasDigests?: boolean;
  /** Changes a byte of what is kept under a key, past the store; absent where nobody can. */
  readonly damage?: (key: string) => Promise<void>;
  /** Removes everything. */
  readonly close: () => Promise<void>;
}

/** Options of {@linkcode claimCheckStoreContract}. */
export interface ClaimCheckStoreContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/**
 * Registers the cases that say what a store of payloads must do.
 *
 * @example
 * ```ts
 * import { claimCheckStoreContract } from "@acemq/amqp/contracts";
 * import { memoryClaimCheckStore } from "@acemq/amqp/memory";
 *
 * claimCheckStoreContract("memory", async () => {
 *   const store = memoryClaimCheckStore();
 *   return { store, other: store, close: async () => {} };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function claimCheckStoreContract(
  name: string,
  open: () => Promise<ClaimCheckStoreUnderTest>,
  options: ClaimCheckStoreContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The contract of a claim check store on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 60_000 }, () => runCase(open, body));
  });
}

type Case = (under: ClaimCheckStoreUnderTest) => Promise<void>;

/** The digest of "abc", of FIPS 180-4. */
const ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const ABC = new TextEncoder().encode("abc");

const CASES: Readonly<Record<string, Case>> = {
  "gives back what it keeps, byte for byte, to everybody": async ({ store, other }) => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    for (const payload of [new Uint8Array(), every, new Uint8Array(300_000).fill(7)]) {
      const { key } = kept(await store.put(payload));
      for (const one of [store, other]) assert.deepEqual(await read(one, key), payload);
      assert.deepEqual(await read(store, key), payload, "It can be read again");
    }
  },

  "keeps a stream as it comes": async ({ store, other }) => {
    for (const chunks of [[], [ABC], [new Uint8Array(), ABC, new Uint8Array(200_000).fill(1), ABC]]) {
      const { key } = kept(await store.put(streamOf(chunks)));
      const whole = new Uint8Array(chunks.flatMap((chunk) => [...chunk]));
      assert.deepEqual(await read(other, key), whole);
    }
  },

  "has a key of its own for every payload": async ({ store }) => {
    const keys = await Promise.all(Array.from({ length: 50 }, async () => kept(await store.put(ABC)).key));
    assert.equal(new Set(keys).size, 50);
    for (const key of keys) assert.ok(key !== "" && key.isWellFormed());
  },

  "keeps a copy, and gives copies [CLM-05]": async ({ store }) => {
    const given = new Uint8Array(ABC);
    const { key } = kept(await store.put(given));
    given.fill(0);
    const first = await read(store, key);
    assert.deepEqual(first, ABC);
    first.fill(0);
    assert.deepEqual(await read(store, key), ABC);
  },

  "has nothing under a key it never gave": async ({ store }) => {
    assert.equal(await store.get("3f1c9a52-7d44-4a0e-9a6b-0d2f5e8c1b77"), null);
    assert.equal(await store.exists?.("3f1c9a52-7d44-4a0e-9a6b-0d2f5e8c1b77") ?? false, false);
  },

  "has nothing under a key that is none, or says so [CLM-07]": async ({ store }) => {
    for (
      const key of ["../../etc/passwd", "/etc/passwd", "..", ".hidden", "a/b", "a\\b", "a\0b", "k".repeat(129), "a\n"]
    ) {
      const found = await store.get(key).catch((error) => error);
      assert.ok(found === null || found instanceof ClaimMissingError, `${JSON.stringify(key)}: ${found}`);
    }
  },

  "removes what it is told to and nothing else, as often as it is told [CC-05]": async ({ store, other }) => {
    const [gone, stays] = [kept(await store.put(ABC)).key, kept(await store.put(ABC)).key];
    assert.equal(await store.exists?.(gone) ?? true, true);
    await other.delete(gone);
    await store.delete(gone);
    assert.equal(await store.get(gone), null);
    assert.equal(await store.exists?.(gone) ?? false, false);
    assert.deepEqual(await read(store, stays), ABC);
  },

  "keeps nothing of a stream that fails": async ({ store }) => {
    const failure = new Error("the upload broke off");
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(100_000));
        controller.error(failure);
      },
    });
    await assert.rejects(async () => await store.put(broken), failure);
  },

  "gives the digest of what it keeps, where it has one": async ({ store, hasDigests = false }) => {
    for (const content of [ABC, streamOf([ABC.subarray(0, 1), ABC.subarray(1)])]) {
      const { key, sha256 } = kept(await store.put(content));
      assert.equal(sha256, hasDigests ? ABC_SHA256 : undefined);
      assert.deepEqual(await read(store, key, ABC_SHA256), ABC);
    }
  },

  "gives nobody for the same what has another digest": async ({ store, damage }) => {
    const { key } = kept(await store.put(ABC));
    await assert.rejects(read(store, key, ABC_SHA256.replace("b", "c")), DecodeError);
    if (damage === undefined) return;
    await damage(key);
    await assert.rejects(read(store, key, ABC_SHA256), DecodeError);
  },

  "keeps many at once": async ({ store, other }) => {
    const payloads = Array.from({ length: 40 }, (_, number) => new Uint8Array(10_000 + number).fill(number));
    const keys = await Promise.all(payloads.map(async (payload) => kept(await store.put(payload)).key));
    const found = await Promise.all(keys.map((key) => read(other, key)));
    assert.deepEqual(found, payloads);
  },

  "does nothing for a signal that has aborted": async ({ store }) => {
    const { key } = kept(await store.put(ABC));
    const reason = new Error("too late");
    const signal = AbortSignal.abort(reason);
    await assert.rejects(async () => await store.put(ABC, { signal }), reason);
    await assert.rejects(async () => await store.get(key, { signal }), reason);
    await assert.rejects(async () => await store.delete(key, { signal }), reason);
    assert.deepEqual(await read(store, key), ABC);
  },
};

function kept(answer: string | KeptPayload): KeptPayload {
  return typeof answer === "string" ? { key: answer } : answer;
}

async function read(store: ClaimCheckStore, key: string, sha256?: string): Promise<Uint8Array> {
  const stream = await store.get(key, sha256 === undefined ? {} : { sha256 });
  assert.ok(stream !== null, "It is there");
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = [...chunks];
  return new ReadableStream({
    pull: (controller) => {
      const chunk = rest.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

async function runCase(open: () => Promise<ClaimCheckStoreUnderTest>, body: Case): Promise<void> {
  const under = await open();
  try {
    await body(under);
  } finally {
    await under.close();
  }
}
