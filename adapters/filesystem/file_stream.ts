/**
 * A file as a stream.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { ClaimMissingError, DecodeError } from "../../src/errors.ts";
import { otherPayload } from "../../src/internal/digest.ts";
import { diskFailure, isMissing } from "./file_errors.ts";

/** Bytes read at a time. */
const CHUNK_BYTES = 262_144;

/**
 * Reads a file as fast as it is asked to, and holds one piece of it. It is opened when the first piece is asked for, so that a stream
 * nobody reads costs nothing. With a digest it fails at its end where the file has another one.
 */
export function fileStream(path: string, sha256: string | undefined): ReadableStream<Uint8Array> {
  let file: FileHandle | undefined;
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  const next = async (): Promise<Uint8Array | undefined> => {
    file ??= await open(path, "r");
    const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES);
    const chunk = buffer.subarray(0, bytesRead);
    hash?.update(chunk);
    if (bytesRead > 0) return chunk;
    await file.close();
    if (hash !== undefined && hash.digest("hex") !== sha256) throw otherPayload();
    return undefined;
  };
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const chunk = await next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      } catch (error) {
        await file?.close().catch(() => {});
        throw readError(error);
      }
    },
    cancel: async () => await file?.close(),
  }, { highWaterMark: 0 });
}

function readError(error: unknown): unknown {
  if (error instanceof DecodeError) return error;
  if (isMissing(error)) return new ClaimMissingError("Cannot read the payload: it was removed before it was read");
  return diskFailure("read the payload", error);
}
