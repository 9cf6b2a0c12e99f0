/**
 * The beginning of a stream, looked at before it is known where the stream goes.
 *
 * @module
 */

import { EncodeError } from "../errors.ts";
import { joinChunks } from "../internal/chunks.ts";
import { describeKind } from "../internal/option_kinds.ts";

/** A stream that has ended by then, or one that has not. */
export type Peeked =
  | { readonly whole: Uint8Array }
  | {
    /** From its beginning. Nothing is read ahead of who reads it. */
    readonly stream: ReadableStream<Uint8Array>;
    /** Why it failed, once it has. */
    readonly failure: () => EncodeError | undefined;
  };

/**
 * Reads until so many bytes are there, or the stream has ended with fewer. Rejects with an {@linkcode EncodeError} for a stream that
 * fails, or is of something else than bytes.
 */
export async function peek(stream: ReadableStream<Uint8Array>, bytes: number): Promise<Peeked> {
  const source = new Source(stream);
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < bytes) {
    const chunk = await source.next();
    if (chunk === undefined) return { whole: joinChunks(chunks, length) };
    chunks.push(chunk);
    length += chunk.byteLength;
  }
  return { stream: source.from(chunks), failure: () => source.failure };
}

/** A stream that is being read. */
class Source {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  failure: EncodeError | undefined;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      const chunk: unknown = value;
      if (chunk instanceof Uint8Array) return chunk;
      throw new EncodeError(`Cannot send the stream: it must be of bytes, found ${describeKind(chunk)} in it`);
    } catch (error) {
      this.failure = error instanceof EncodeError
        ? error
        : new EncodeError("Cannot send the stream: it failed before its end", { cause: error });
      // Whoever fills the stream need not go on; how that ends changes nothing here.
      this.#reader.cancel(error).catch(() => {});
      throw this.failure;
    }
  }

  /** The rest of it, behind what was read. */
  from(read: readonly Uint8Array[]): ReadableStream<Uint8Array> {
    const before = [...read];
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const chunk = before.shift() ?? await this.next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: async (reason) => await this.#reader.cancel(reason),
    }, { highWaterMark: 0 });
  }
}
