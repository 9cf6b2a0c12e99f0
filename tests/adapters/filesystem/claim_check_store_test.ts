/** Payloads beside the broker in a directory. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type FileClaimCheckOptions, fileClaimCheckStore } from "../../../adapters/filesystem/mod.ts";
import { ClaimMissingError, StoreError } from "../../../src/errors.ts";
import { claimCheckStoreContract } from "../../contract/claim_check_store.ts";

async function inDirectory(play: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "acemq-claims-"));
  try {
    await play(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const FORMS: Readonly<Record<string, FileClaimCheckOptions>> = {
  "a directory": {},
  "a directory, with digests and fsync": { digest: true, fsync: true },
};

for (const [name, options] of Object.entries(FORMS)) {
  claimCheckStoreContract(name, async () => {
    const directory = await mkdtemp(join(tmpdir(), "acemq-claims-"));
    return {
      // It is made when it is needed.
      store: fileClaimCheckStore(join(directory, "made", "here"), options),
      other: fileClaimCheckStore(join(directory, "made", "here"), options),
      hasDigests: options.digest === true,
      damage: async (key) => await writeFile(join(directory, "made", "here", key), "abd"),
      close: async () => await rm(directory, { recursive: true }),
    };
  });
}

describe("a claim check store in a directory", () => {
  it("has one file for each payload, of its bytes, named by its key, a UUID of version 4", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(directory);
      const key = await store.put(new TextEncoder().encode("grün"));
      assert.ok(typeof key === "string");
      assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.deepEqual(await readdir(directory), [key]);
      assert.equal(await readFile(join(directory, key), "utf8"), "grün");
    }));

  it("has no file under a key before all of it is there, and none of a stream that failed [CLM-04]", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(directory);
      const seen: (readonly string[])[] = [];
      let pulls = 0;
      const slow = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          seen.push(await readdir(directory));
          if (pulls++ === 2) controller.close();
          else controller.enqueue(new Uint8Array(100_000));
        },
      }, { highWaterMark: 0 });
      const key = await store.put(slow);
      for (const names of seen) {
        assert.ok(names.every((name) => name.startsWith(`${key}.`) && name.endsWith(".partial")));
      }
      assert.ok(seen.some((names) => names.length === 1));
      const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("cut")) });
      await assert.rejects(store.put(failing), /^Error: cut$/);
      assert.deepEqual(await readdir(directory), [key]);
    }));

  it("never looks for a key that is no name of a file, nor for what is being written [CLM-07]", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(join(directory, "claims"));
      await store.put(new Uint8Array([1]));
      await writeFile(join(directory, "secret"), "4242");
      await writeFile(join(directory, "claims", "k.x.partial"), "half");
      for (const key of ["../secret", join(directory, "secret"), "k.x.partial", "", ".", "..", "a b", "ü", "a\n"]) {
        for (const call of [store.get(key), store.exists(key), store.delete(key)]) {
          await assert.rejects(call, ClaimMissingError, JSON.stringify(key));
        }
      }
      assert.equal(await readFile(join(directory, "secret"), "utf8"), "4242");
      assert.equal((await readdir(join(directory, "claims"))).length, 2);
    }));

  it("takes keys that another store made, up to 128 characters, and no directory for a payload", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(directory);
      for (const key of ["k".repeat(128), "a.b_c-d", "0"]) {
        await writeFile(join(directory, key), "abc");
        assert.equal(await new Response(await store.get(key)).text(), "abc");
      }
      const other = fileClaimCheckStore(join(directory, "sub"));
      await other.put(new Uint8Array([1]));
      assert.equal(await store.get("sub"), null);
    }));

  it("is away where its directory cannot be used", () =>
    inDirectory(async (directory) => {
      await writeFile(join(directory, "file"), "");
      const store = fileClaimCheckStore(join(directory, "file", "claims"));
      await assert.rejects(store.put(new Uint8Array([1])), StoreError);
      await assert.rejects(store.exists("k"), StoreError);
    }));

  it("fails as what it is when the payload is removed before it is read", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(directory);
      const key = await store.put(new Uint8Array(10));
      assert.ok(typeof key === "string");
      const stream = await store.get(key);
      await store.delete(key);
      await assert.rejects(new Response(stream).arrayBuffer(), ClaimMissingError);
    }));

  it("reads no further than it is asked to, and leaves no file open", () =>
    inDirectory(async (directory) => {
      const store = fileClaimCheckStore(directory);
      const key = await store.put(new Uint8Array(3_000_000));
      assert.ok(typeof key === "string");
      const reader = (await store.get(key))?.getReader();
      const first = await reader?.read();
      assert.ok((first?.value?.byteLength ?? 0) < 1_000_000);
      await reader?.cancel();
      await (await store.get(key))?.cancel();
    }));
});
