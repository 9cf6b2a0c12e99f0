/**
 * One channel for publishing: opened when it is first needed, opened again when it is dead.
 *
 * @module
 */

import { randomUuid } from "../../src/clock.ts";
import { ConnectionError, describeError } from "../../src/errors.ts";
import { utf8Length } from "../../src/internal/bytes.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { PublishReceipt } from "../../src/ports/broker.ts";
import { ConfirmWindow } from "./confirm_window.ts";
import { CallRefused, type Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { describeClose } from "./link_failure.ts";
import type { CloseReason } from "./wire/method_frames.ts";
import type { Content } from "./wire/content_assembler.ts";
import { LONGEST_SHORT_TEXT } from "./wire/byte_writer.ts";
import { selectConfirms } from "./wire/calls.ts";
import { BASIC_PUBLISH, FRAME_OVERHEAD } from "./wire/frames.ts";
import { writeBodyFrame, writePublish } from "./wire/publish_frames.ts";
import { Unwritable } from "./wire/unwritable.ts";

/** A publish that waits for its channel to be opened. */
interface Waiting {
  readonly outbound: Outbound;
  readonly settle: Settle;
}

/** Hears what became of one publish, once. */
export type Settle = (receipt: PublishReceipt) => void;

const PUBLISHED: PublishReceipt = { outcome: "published" };

/** Publishes in the order it is asked to. */
export class PublishChannel {
  readonly #link: Link;
  readonly #confirms: boolean;
  readonly #maxBodyBytes: number | undefined;
  /** Without confirms: what the socket has not taken yet. */
  readonly #unwritten = new Set<Settle>();
  #channel: LinkChannel | undefined;
  #window = new ConfirmWindow();
  /** While a channel is being opened: whoever comes then waits for that one, and order is kept. */
  #waiting: Waiting[] | undefined;

  constructor(link: Link, confirms: boolean, maxBodyBytes?: number) {
    this.#link = link;
    this.#confirms = confirms;
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** Publishes one message; settles once, never throws. */
  publish(outbound: Outbound, settle: Settle): void {
    if (this.#waiting !== undefined) this.#waiting.push({ outbound, settle });
    else if (this.#channel !== undefined) this.#write(this.#channel, outbound, settle);
    else {
      this.#waiting = [{ outbound, settle }];
      void this.#open();
    }
  }

  async #open(): Promise<void> {
    try {
      const channel = await this.#link.openChannel();
      const window = new ConfirmWindow();
      channel.listen({
        onConfirm: (confirm, isAck) => window.confirm(confirm, isAck),
        onContent: (content) => noteReturn(window, content),
        onGone: (reason) => this.#gone(window, reason),
      });
      this.#channel = channel;
      this.#window = window;
      if (this.#confirms) await this.#link.call(channel, selectConfirms());
    } catch (error) {
      return this.#declineWaiting(error);
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const { outbound, settle } of waiting) this.publish(outbound, settle);
  }

  #write(channel: LinkChannel, outbound: Outbound, settle: Settle): void {
    const { frameMax, out } = this.#link.client;
    const messageId = usableMessageId(outbound.messageId);
    try {
      assertFits(outbound.body, this.#maxBodyBytes);
      writePublish(out.writer, outbound, { channel: channel.id, messageId, frameMax });
    } catch (error) {
      return settle({ outcome: "refused", written: false, reason: reasonOf(error) });
    }
    // Nothing can fail from here on: the message is whole, and its place among the confirms is taken.
    const { exchange, routingKey, body } = outbound;
    if (this.#confirms) this.#window.add({ exchange, routingKey, messageId, settle });
    const largest = frameMax - FRAME_OVERHEAD;
    for (let start = 0; start < body.byteLength; start += largest) {
      out.commit();
      writeBodyFrame(out.writer, channel.id, body.subarray(start, start + largest));
    }
    if (!this.#confirms) this.#settleWhenWritten(settle);
    out.commit();
  }

  #settleWhenWritten(settle: Settle): void {
    this.#unwritten.add(settle);
    this.#link.client.out.whenWritten(() => {
      if (this.#unwritten.delete(settle)) settle(PUBLISHED);
    });
  }

  #gone(window: ConfirmWindow, reason: CloseReason | undefined): void {
    this.#channel = undefined;
    window.settleAll(receiptOfLoss(reason, window.size));
    const unwritten = [...this.#unwritten];
    this.#unwritten.clear();
    // Without confirms it may have been about any message before them.
    for (const settle of unwritten) settle(receiptOfLoss(reason, Infinity));
  }

  #declineWaiting(error: unknown): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#channel = undefined;
    const receipt: PublishReceipt = error instanceof CallRefused
      ? { outcome: "refused", written: false, reason: describeClose(error.reason) }
      : { outcome: "paused", reason: reasonOf(error) };
    for (const { settle } of waiting) settle(receipt);
  }
}

/** The broker's word counts for one message only when it is about a publish, and that was the only one. */
function receiptOfLoss(reason: CloseReason | undefined, inFlight: number): PublishReceipt {
  if (reason === undefined) {
    return { outcome: "unknown", reason: "the connection was lost before the broker confirmed" };
  }
  if (inFlight === 1 && isAboutPublish(reason)) {
    return { outcome: "refused", written: true, reason: describeClose(reason) };
  }
  const unknown = { outcome: "unknown", reason: `the broker closed the channel: ${describeClose(reason)}` } as const;
  return isAboutPublish(reason) ? { ...unknown, oneRefused: true } : unknown;
}

function isAboutPublish({ classId, methodId }: CloseReason): boolean {
  return (classId << 16 | methodId) === BASIC_PUBLISH;
}

function noteReturn(window: ConfirmWindow, { method, message }: Content): void {
  if (method.kind !== "returned") return;
  const { exchange, routingKey, code, text } = method;
  window.returned({ exchange, routingKey, messageId: message.properties.messageId, reason: `${code} ${text}` });
}

/** A return is told by its message id, so every message has one: its own, or one made for the wire. */
function usableMessageId(messageId: string | undefined): string {
  const isUsable = messageId !== undefined && messageId !== "" &&
    (messageId.length <= LONGEST_SHORT_TEXT / 3 || utf8Length(messageId) <= LONGEST_SHORT_TEXT);
  return isUsable ? messageId : randomUuid();
}

function assertFits(body: Uint8Array, maxBodyBytes: number | undefined): void {
  if (maxBodyBytes === undefined || body.byteLength <= maxBodyBytes) return;
  throw new Unwritable(`the body takes ${body.byteLength} bytes, the broker allows ${maxBodyBytes}`);
}

function reasonOf(error: unknown): string {
  if (error instanceof Unwritable || error instanceof ConnectionError) return error.message;
  return `it cannot be encoded: ${describeError(error)}`;
}
