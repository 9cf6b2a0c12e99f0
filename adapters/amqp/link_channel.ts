/**
 * One channel of a link: calls and their answers in order, and everything the broker pushes.
 *
 * The client keeps the channel's place and reads the answers; what is written, and what is pushed, is ours.
 *
 * @module
 */

import type { AMQPBaseClient } from "@cloudamqp/amqp-client";
import { AMQPChannel } from "@cloudamqp/amqp-client";
import type { FrameQueue } from "./frame_queue.ts";
import type { ByteReader } from "./wire/byte_reader.ts";
import { type Call, closeChannel } from "./wire/calls.ts";
import { type Content, ContentAssembler } from "./wire/content_assembler.ts";
import { writeMethod } from "./wire/frame_writer.ts";
import {
  type Cancel,
  type CloseReason,
  type Confirm,
  type ContentMethod,
  writeCancelOk,
} from "./wire/method_frames.ts";

/** Hears what the broker pushes on a channel. Never throws. */
export interface ChannelListener {
  /** A delivery, or a message that was returned. */
  readonly onContent?: (content: Content) => void;
  readonly onConfirm?: (confirm: Confirm, isAck: boolean) => void;
  /** The broker has ended a consumer. */
  readonly onCancel?: (consumerTag: string) => void;
  /** The channel is gone: closed by the broker for this reason, or with the link. Not called once the channel was left. */
  readonly onGone?: (reason: CloseReason | undefined) => void;
}

/** What a channel needs of the connection it is on. */
export interface ChannelHost extends AMQPBaseClient {
  readonly out: FrameQueue;
}

/** A call that waits for its answer. */
interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A channel whose calls can fail only with the channel itself. */
export class LinkChannel extends AMQPChannel {
  /** Where frames for this channel are queued. */
  readonly out: FrameQueue;
  /** Why the broker closed the channel; undefined while it has not. */
  closeReason: CloseReason | undefined;
  readonly #host: ChannelHost;
  readonly #content = new ContentAssembler();
  readonly #calls: Waiting[] = [];
  #listener: ChannelListener = {};
  #isLeaving = false;

  constructor(host: ChannelHost, id: number) {
    super(host, id);
    this.#host = host;
    this.out = host.out;
    // The default reports to the connection, which has nothing to do with one channel's end.
    this.onerror = () => {};
  }

  /** Whether frames can be sent. */
  get isUsable(): boolean {
    return !this.closed;
  }

  /** Whether a close is under way from this side. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Sets who hears what is pushed. */
  listen(listener: ChannelListener): void {
    this.#listener = listener;
  }

  /** Makes a call; rejects with `Unwritable` when it cannot be written, and otherwise only when the channel is gone. */
  call(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Error("the channel is closed"));
      writeMethod(this.out.writer, { channel: this.id, frameMax: this.#host.frameMax }, call);
      this.#calls.push({ resolve, reject });
      this.out.commit();
    });
  }

  /** Closes the channel and hears nothing from it any more; resolves when it is gone. */
  async leave(): Promise<void> {
    this.#listener = {};
    if (this.closed) return;
    const answered = this.call(closeChannel());
    this.closed = true;
    this.#isLeaving = true;
    await answered.catch(() => {/* gone is what was wanted */});
  }

  announce(method: ContentMethod): void {
    this.#content.method(method);
  }

  header(reader: ByteReader): void {
    this.#handOver(this.#content.header(reader));
  }

  body(reader: ByteReader): void {
    this.#handOver(this.#content.body(reader));
  }

  confirmed(confirm: Confirm, isAck: boolean): void {
    this.#listener.onConfirm?.(confirm, isAck);
  }

  /** The broker has ended a consumer; it waits for our answer only when it says so. */
  cancelled({ consumerTag, noWait }: Cancel): void {
    if (!noWait) {
      writeCancelOk(this.out.writer, this.id, consumerTag);
      this.out.commit();
    }
    this.#listener.onCancel?.(consumerTag);
  }

  /** The client has read the answer to the oldest call. */
  override resolveRPC(answer?: unknown): unknown {
    this.#calls.shift()?.resolve(answer);
    return answer;
  }

  /** Whatever closed the channel: no call is answered any more. */
  override setClosed(error: Error = new Error("the channel is closed")): void {
    const { onGone } = this.#listener;
    this.#listener = {};
    this.closed = true;
    for (const { reject } of this.#calls.splice(0)) reject(error);
    onGone?.(this.closeReason);
  }

  #handOver(content: Content | undefined): void {
    if (content === undefined) return;
    if (content.method.kind === "got") this.resolveRPC(content);
    else this.#listener.onContent?.(content);
  }
}
