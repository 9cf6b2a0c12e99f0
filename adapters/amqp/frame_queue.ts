/**
 * Frames on their way out: written one after another, handed to the socket together.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { ByteWriter } from "./wire/byte_writer.ts";

/** A buffer to begin with; most ticks write less. */
const CHUNK_BYTES = 65_536;

/** Buffers that grew beyond this are not kept. */
const LARGEST_KEPT_BYTES = 4 * CHUNK_BYTES;

/** Buffers kept for the next writes. */
const KEPT_BUFFERS = 8;

/** The part of a socket used here. */
export interface ByteSink {
  /** Calls back when the bytes are no longer needed. */
  write(bytes: Uint8Array, done: () => void): void;
}

/**
 * Collects the frames of one tick and writes them with one call.
 *
 * The bytes leave before the event loop turns, so nothing that was queued is still here when a link is found broken: what was
 * queued was written.
 */
export class FrameQueue {
  /** Where frames are encoded to. Whoever has written one calls {@linkcode FrameQueue.commit}. */
  readonly writer: ByteWriter = new ByteWriter(CHUNK_BYTES);
  readonly #sink: ByteSink;
  readonly #kept: Buffer[] = [];
  #whenWritten: (() => void)[] = [];
  #isScheduled = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Says that whole frames have been written: they leave in this tick, or now when they are many. */
  commit(): void {
    if (this.writer.length >= CHUNK_BYTES) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind the microtasks: what is settled or sent by all that one read has set off leaves in one write.
    process.nextTick(this.#flushScheduled);
  }

  /** Calls back when the socket has taken everything queued so far; never when the link breaks before. */
  whenWritten(callback: () => void): void {
    this.#whenWritten.push(callback);
  }

  /** Hands everything queued so far to the socket. */
  flush(): void {
    if (this.writer.length === 0) return;
    const { buffer, length } = this.writer.swap(this.#kept.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES));
    const callbacks = this.#whenWritten;
    // Always a new one: whoever asks from now on must not be told when this piece is written.
    this.#whenWritten = [];
    this.#sink.write(buffer.subarray(0, length), () => {
      this.#keep(buffer);
      for (const callback of callbacks) callback();
    });
  }

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  #keep(buffer: Buffer): void {
    const isUsual = buffer.byteLength <= LARGEST_KEPT_BYTES;
    if (isUsual && this.#kept.length < KEPT_BUFFERS) this.#kept.push(buffer);
  }
}
