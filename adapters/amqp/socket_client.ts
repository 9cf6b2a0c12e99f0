/**
 * The AMQP client on its socket, hardened: it dials, frames, and answers calls; the handshake and everything the broker pushes
 * are decoded here, and nothing the other end sends can throw out of the socket or leave it stuck.
 *
 * @module
 */

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { AMQPClient } from "@cloudamqp/amqp-client";
import type { AMQPView } from "@cloudamqp/amqp-client/amqp-view";
import { dispatchMethod } from "./dispatch_method.ts";
import { FrameQueue } from "./frame_queue.ts";
import { Handshake, type HandshakeSettings } from "./handshake.ts";
import { LinkChannel } from "./link_channel.ts";
import type { LinkFailure } from "./link_failure.ts";
import type { TlsSocketOptions } from "./tls.ts";
import { type AmqpAddress, formatHost } from "./url.ts";
import { ByteReader } from "./wire/byte_reader.ts";
import { openChannel } from "./wire/calls.ts";
import * as frame from "./wire/frames.ts";
import { MalformedFrame } from "./wire/malformed.ts";
import { readClose } from "./wire/method_frames.ts";
import { TextCache } from "./wire/text_cache.ts";

/** What a client needs to know to dial. */
export interface ClientSettings extends HandshakeSettings {
  readonly address: AmqpAddress;
  /** Undefined for a plain connection. */
  readonly tls: TlsSocketOptions | undefined;
  /** Why the other end's certificates are not to be trusted, asked before a credential is sent. */
  readonly untrustedPeer: (socket: TLSSocket) => string | undefined;
  /** The open link is gone. */
  readonly onDown: (failure: LinkFailure) => void;
  readonly onBlocked: (reason: string | undefined) => void;
}

/** One socket, from dialling to its end. Never reused. */
export class SocketClient extends AMQPClient {
  /** Frames on their way out. */
  readonly out: FrameQueue;
  readonly handshake: Handshake;
  /** Frames were heard since this was last set to false. */
  wasHeard = false;
  /** Resolves when the socket has ended. */
  readonly over: Promise<void>;
  readonly #settings: ClientSettings;
  #resolveOver: () => void = () => {};
  readonly #reader = new ByteReader(new TextCache());
  #failure: LinkFailure | undefined;
  #isOver = false;
  #onEnd: (failure: LinkFailure) => void = () => {};
  #block = new AbortController();

  constructor(settings: ClientSettings) {
    const { address, tuning, tls } = settings;
    const scheme = tls === undefined ? "amqp" : "amqps";
    // The address of an IPv6 host has no brackets on a socket, and credentials never reach the client at all.
    super(`${scheme}://${formatHost(address)}/?frameMax=${tuning.frameMax}&heartbeat=${tuning.heartbeatSeconds}`, {
      ...tls,
      ...{ host: address.host },
    });
    this.#settings = settings;
    this.handshake = new Handshake(settings);
    this.over = new Promise((resolve) => this.#resolveOver = resolve);
    this.onerror = () => {};
    this.onblocked = (reason) => {
      this.#block.abort();
      settings.onBlocked(reason);
    };
    this.onunblocked = () => {
      this.#block = new AbortController();
      settings.onBlocked(undefined);
    };
    this.out = new FrameQueue({ write: (bytes, done) => this.#write(bytes, done) });
  }

  /** What has ended the link, or is about to. */
  get failure(): LinkFailure | undefined {
    return this.#failure;
  }

  /** Whether frames can be sent. */
  get isUsable(): boolean {
    return !this.closed && this.#failure === undefined && this.socket?.destroyed === false;
  }

  /** Aborts when the broker blocks the connection: from then on it reads nothing and so answers nothing, until it unblocks it. */
  get blockBegan(): AbortSignal {
    return this.#block.signal;
  }

  /** Dials and opens; rejects with a {@linkcode LinkFailure}. */
  dial(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      this.#connect().then(() => {
        if (this.#isOver) return;
        this.handshake.enter("open");
        this.#onEnd = this.#settings.onDown;
        // The client's own timer takes a busy event loop for a dead peer; the heartbeat here does not.
        this.socket?.setTimeout(0);
        resolve();
      }, () => {/* the socket's own events say why */});
    });
  }

  /** Ends the link: the socket is destroyed, and whoever waits on it learns why. */
  abort(failure: LinkFailure): void {
    this.#failure ??= failure;
    this.out.flush();
    this.socket?.destroy();
    this.#end();
  }

  /** Opens a channel. */
  async openChannel(): Promise<LinkChannel> {
    // A channel that is opened after the end would not hear of it.
    if (!this.isUsable) throw new Error("the connection is gone");
    const free = this.channels.findIndex((channel) => channel === undefined);
    const id = free === -1 ? this.channels.length : free;
    if (this.channelMax > 0 && id > this.channelMax) {
      throw new Error(`the broker allows ${this.channelMax} channels on a connection, and all are open`);
    }
    const channel = new LinkChannel(this, id);
    this.channels[id] = channel;
    await channel.call(openChannel());
    return channel;
  }

  /** Queues the bytes of a call behind everything queued before it. */
  override send(bytes: Uint8Array): Promise<void> {
    if (this.socket === undefined) return Promise.reject(new Error("the connection is closed"));
    this.out.writer.raw(bytes);
    this.out.commit();
    return Promise.resolve();
  }

  protected override closeSocket(): void {
    this.out.flush();
    super.closeSocket();
  }

  protected override parseFrames(view: AMQPView): void {
    const { byteLength, byteOffset } = view;
    if (byteLength <= frame.FRAME_HEAD) throw new MalformedFrame("has an impossible size");
    if (view.getUint8(byteLength - 1) !== frame.FRAME_END) throw new MalformedFrame("does not end where it should");
    const reader = this.#reader;
    reader.point(view.buffer, byteOffset, byteOffset + byteLength - 1);
    const type = reader.uint8();
    const channel = this.channels[reader.uint16()];
    reader.skip(4);
    if (type === frame.FRAME_HEARTBEAT) return;
    if (type === frame.FRAME_METHOD) return this.#method(view, channel);
    // What still arrives for a channel that was left is nobody's.
    if (!(channel instanceof LinkChannel)) return;
    if (type === frame.FRAME_HEADER) channel.header(reader);
    else if (type === frame.FRAME_BODY) channel.body(reader);
    else throw new MalformedFrame(`is of the unknown type ${type}`);
  }

  #method(view: AMQPView, channel: unknown): void {
    const reader = this.#reader;
    const id = reader.uint32();
    if (channel instanceof LinkChannel) {
      if (dispatchMethod(id, reader, channel)) return;
    } else if (this.#greeted(id)) return;
    super.parseFrames(view);
  }

  /** Methods of the connection. */
  #greeted(id: number): boolean {
    switch (id) {
      case frame.CONNECTION_START:
        this.#start();
        return true;
      case frame.CONNECTION_SECURE:
        this.abort({ kind: "mechanism", text: "the broker asks for another round of authentication" });
        return true;
      case frame.CONNECTION_TUNE:
        this.#tune();
        return true;
      case frame.CONNECTION_CLOSE:
        this.#failure ??= { kind: "broker", reason: readClose(this.#reader) };
        return false;
      default:
        return false;
    }
  }

  #start(): void {
    const { untrustedPeer, tls } = this.#settings;
    const untrusted = tls === undefined ? undefined : untrustedPeer(this.socket as TLSSocket);
    if (untrusted !== undefined) return this.abort({ kind: "untrusted", text: untrusted });
    const failure = this.handshake.start(this.#reader, this.out.writer);
    if (failure !== undefined) return this.abort(failure);
    this.out.commit();
  }

  #tune(): void {
    const { channelMax, frameMax, heartbeatSeconds } = this.handshake.tune(this.#reader, this.out.writer);
    this.channelMax = channelMax;
    this.frameMax = frameMax;
    this.heartbeat = heartbeatSeconds;
    this.out.commit();
  }

  /** The socket may refuse its settings at once, a key that does not fit its certificate for one. */
  async #connect(): Promise<void> {
    try {
      const opened = super.connect();
      if (this.socket !== undefined) this.#watch(this.socket);
      await opened;
    } catch (error) {
      if (this.socket === undefined) {
        if (this.tls) this.handshake.enter("securing");
        this.abort({ kind: "socket", text: messageOf(error) });
      }
      throw error;
    }
  }

  #watch(socket: Socket): void {
    const read = socket.listeners("data") as ((chunk: Uint8Array) => void)[];
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Uint8Array) => this.#read(chunk, read));
    socket.setNoDelay(true);
    socket.on("connect", () => this.handshake.enter(this.tls ? "securing" : "greeting"));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.#failure ??= { kind: "socket", text: error.message || (error.code ?? error.name) };
    });
    socket.on("close", () => this.#end());
  }

  /** Nothing the other end sends may throw out of the socket: a stream that cannot be read is dropped. */
  #read(chunk: Uint8Array, listeners: readonly ((chunk: Uint8Array) => void)[]): void {
    if (this.#failure !== undefined) return;
    this.wasHeard = true;
    const failure = this.handshake.answered(chunk);
    if (failure !== undefined) return this.abort(failure);
    try {
      for (const listener of listeners) listener(chunk);
    } catch (error) {
      const text = error instanceof MalformedFrame ? error.message : `Cannot read a frame: ${messageOf(error)}`;
      this.abort({ kind: "protocol", text });
    }
  }

  #write(bytes: Uint8Array, done: () => void): void {
    if (this.socket === undefined || this.socket.destroyed) return;
    // A socket that breaks calls back as well; what it had left to write was not written.
    this.socket.write(bytes, (error) => {
      if (error === null || error === undefined) done();
    });
  }

  /** First the channels, so that whatever was in flight is settled when the end is heard of; once only. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const failure = this.#failure ??= { kind: "hung_up" };
    const gone = new Error("the connection is gone");
    this.closed = true;
    for (const channel of this.channels) channel?.setClosed(gone);
    this.#onEnd(failure);
    this.#resolveOver();
  }
}

/** The client's own errors name a connection, which holds message bytes: only their text is taken. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the stream is out of step";
}
