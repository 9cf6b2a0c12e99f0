/**
 * One channel of a link: the client's channel for everything that is asked and answered, our own decoding of what is pushed.
 *
 * @module
 */

import type { AMQPBaseClient } from "@cloudamqp/amqp-client";
import { AMQPChannel } from "@cloudamqp/amqp-client";
import type { FrameQueue } from "./frame_queue.ts";
import type { ByteReader } from "./wire/byte_reader.ts";
import { type Content, ContentAssembler } from "./wire/content_assembler.ts";
import type { CloseReason, Confirm, ContentMethod } from "./wire/method_frames.ts";

/** Hears what the broker pushes on a channel. Never throws. */
export interface ChannelListener {
  /** A delivery, or a message that was returned. */
  readonly onContent?: (content: Content) => void;
  readonly onConfirm?: (confirm: Confirm, isAck: boolean) => void;
  /** The broker has ended the consumer. */
  readonly onCancel?: () => void;
  /** The channel is gone: closed by the broker for this reason, or with the link. Not called once the channel was left. */
  readonly onGone?: (reason: CloseReason | undefined) => void;
}

/** A channel whose pushed frames go to a {@linkcode ChannelListener}. */
export class LinkChannel extends AMQPChannel {
  /** Where frames for this channel are queued. */
  readonly out: FrameQueue;
  /** Why the broker closed the channel; undefined while it has not. */
  closeReason: CloseReason | undefined;
  readonly #content = new ContentAssembler();
  #listener: ChannelListener = {};

  constructor(connection: AMQPBaseClient & { readonly out: FrameQueue }, id: number) {
    super(connection, id);
    this.out = connection.out;
    // The default reports to the connection, which has nothing to do with one channel's end.
    this.onerror = () => {};
  }

  /** Whether frames can be sent. */
  get isUsable(): boolean {
    return !this.closed;
  }

  /** Sets who hears what is pushed. */
  listen(listener: ChannelListener): void {
    this.#listener = listener;
  }

  /** Closes the channel and hears nothing from it any more; resolves when the broker has answered, which a lost link never does. */
  leave(): Promise<void> {
    this.#listener = {};
    return this.closed ? Promise.resolve() : this.close().catch(() => {/* it is gone already */});
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

  cancelled(consumerTag: string): void {
    this.consumers.delete(consumerTag);
    this.#listener.onCancel?.();
  }

  override setClosed(error?: Error): void {
    const { onGone } = this.#listener;
    this.#listener = {};
    super.setClosed(error);
    onGone?.(this.closeReason);
  }

  #handOver(content: Content | undefined): void {
    if (content === undefined) return;
    if (content.method.kind === "got") this.resolveRPC(content);
    else this.#listener.onContent?.(content);
  }
}
