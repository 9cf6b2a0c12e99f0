/**
 * Payloads beside the broker in a directory (contract patterns 1.5).
 *
 * @module
 */

import { createHash, type Hash } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type NewId, randomUuid } from "../../src/clock.ts";
import { assertOptions, describeKind, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import { assertGetOfPayload } from "../../src/internal/store_options.ts";
import type { ClaimCheckGetOptions, ClaimCheckStore, KeptPayload } from "../../src/ports/claim_check_store.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";
import { assertClaimFileKey, STAGING_SUFFIX } from "./claim_key.ts";
import { isMissing, onDisk } from "./file_errors.ts";
import { fileStream } from "./file_stream.ts";

/** How payloads are kept in a directory. */
export interface FileClaimCheckOptions {
  /**
   * Wait until the disk has a payload before its key is given: it survives a power failure then. The other AceMQ libraries do not.
   *
   * @default {false}
   */
  readonly fsync?: boolean;
  /** Whether payloads have a digest, which is checked when they are read. @default {false} */
  readonly digest?: boolean;
  /** Makes the keys and the names of what is being written. @default {randomUuid} */
  readonly newId?: NewId;
}

const KINDS: Readonly<OptionKinds<FileClaimCheckOptions>> = { fsync: "boolean", digest: "boolean", newId: "function" };

/** See {@linkcode fileClaimCheckStore}. */
export class FileClaimCheckStore implements ClaimCheckStore {
  /** Where the files are. */
  readonly directory: string;
  readonly #fsync: boolean;
  readonly #digest: boolean;
  readonly #newId: NewId;

  /** Use {@linkcode fileClaimCheckStore}. */
  constructor(directory: string, options: FileClaimCheckOptions = {}) {
    if (typeof directory !== "string" || directory === "") {
      throw new TypeError(
        `Cannot keep payloads: the first argument must be the path of a directory, found ${describeKind(directory)}`,
      );
    }
    assertOptions("a claim check store in a directory", options, KINDS);
    const { fsync = false, digest = false, newId = randomUuid } = options;
    this.directory = directory;
    this.#fsync = fsync;
    this.#digest = digest;
    this.#newId = newId;
  }

  /** Writes a file, and gives it its name when all of it is there. Rejects with a `StoreError`, or as the stream fails. */
  async put(
    content: Uint8Array | ReadableStream<Uint8Array>,
    options: StoreCallOptions = {},
  ): Promise<string | KeptPayload> {
    const signal = signalOf("put", options);
    signal?.throwIfAborted();
    const key = this.#newId();
    const staging = join(this.directory, `${key}.${this.#newId()}${STAGING_SUFFIX}`);
    const hash = this.#digest ? createHash("sha256") : undefined;
    const file = await onDisk("keep the payload", () => this.#create(staging));
    try {
      await this.#write(file, content, { hash, signal });
      await onDisk("keep the payload", () => rename(staging, join(this.directory, key)));
      if (this.#fsync) await onDisk("keep the payload", () => this.#syncDirectory());
    } catch (error) {
      await file.close().catch(() => {});
      await rm(staging, { force: true }).catch(() => {});
      throw error;
    }
    return hash === undefined ? key : { key, sha256: hash.digest("hex") };
  }

  /** Rejects with a `ClaimMissingError` for a key that is no name of a file, before anything is looked for. */
  async get(key: string, options: ClaimCheckGetOptions = {}): Promise<ReadableStream<Uint8Array> | null> {
    assertGetOfPayload(options);
    const { sha256, signal } = options;
    return await this.exists(key, { signal }) ? fileStream(join(this.directory, key), sha256) : null;
  }

  /** Removes the file. */
  async delete(key: string, options: StoreCallOptions = {}): Promise<void> {
    signalOf("delete", options)?.throwIfAborted();
    assertClaimFileKey(key);
    await onDisk("remove the payload", () => rm(join(this.directory, key), { force: true }));
  }

  /** Whether there is such a file. */
  async exists(key: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("exists", options)?.throwIfAborted();
    assertClaimFileKey(key);
    return await onDisk("look for the payload", async () => {
      try {
        return (await stat(join(this.directory, key))).isFile();
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    });
  }

  async #create(path: string): Promise<FileHandle> {
    try {
      return await open(path, "wx");
    } catch (error) {
      if (!isMissing(error)) throw error;
      await mkdir(this.directory, { recursive: true });
      return await open(path, "wx");
    }
  }

  async #write(
    file: FileHandle,
    content: Uint8Array | ReadableStream<Uint8Array>,
    { hash, signal }: { readonly hash: Hash | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    const write = async (chunk: Uint8Array): Promise<void> => {
      hash?.update(chunk);
      await onDisk("keep the payload", () => file.writeFile(chunk));
    };
    if (content instanceof Uint8Array) await write(content);
    else await content.pipeTo(new WritableStream({ write }), signal === undefined ? {} : { signal });
    await onDisk("keep the payload", async () => {
      if (this.#fsync) await file.sync();
      await file.close();
    });
  }

  async #syncDirectory(): Promise<void> {
    const directory = await open(this.directory, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

/**
 * Payloads beside the broker as files of a directory, one each, under names that nobody can guess. The directory is made when it is
 * needed, and may be shared with the other AceMQ libraries, over a network as well.
 *
 * A file is written under another name and has its own when all of it is there, so nobody reads half of one; what a process that died
 * has left ends in `.partial`. A stream is written as it comes, and read as fast as its reader takes it.
 *
 * @throws {TypeError} no path, an option that there is not or of another type
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { fileClaimCheckStore } from "@acemq/amqp/filesystem";
 *
 * const directory = await mkdtemp(join(tmpdir(), "scans-"));
 * const store = fileClaimCheckStore(directory, { fsync: true });
 * const key = await store.put(new TextEncoder().encode("abc")) as string;
 * assert.equal(await new Response(await store.get(key)).text(), "abc");
 * await rm(directory, { recursive: true });
 * ```
 */
export function fileClaimCheckStore(directory: string, options: FileClaimCheckOptions = {}): FileClaimCheckStore {
  return new FileClaimCheckStore(directory, options);
}
