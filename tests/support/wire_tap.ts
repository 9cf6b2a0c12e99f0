/**
 * A TCP relay in front of a broker: it reads along what the broker says, and can cut the line.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { AMQP_URL } from "./services.ts";

/** Bytes of a frame beside its payload: kind, channel, size before it, the end mark after it. */
const FRAME_HEAD = 7;
const FRAME_END = 1;

/** The AMQP frame kind of a content header. */
const CONTENT_HEADER = 2;

/** A relay to RabbitMQ. */
export class WireTap {
  /** The payloads of all content headers the broker has sent, in order. */
  readonly contentHeaders: Uint8Array<ArrayBuffer>[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;
  #isRefusing = false;
  #isMute = false;

  private constructor(target: URL, server: Server) {
    this.#target = target;
    this.#server = server;
    server.on("connection", (socket) => this.#relay(socket));
  }

  /** Listens on a port of its own. */
  static async open(target: string = AMQP_URL): Promise<WireTap> {
    const server = createServer();
    const tap = new WireTap(new URL(target), server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return tap;
  }

  /** The broker's URL, by way of the relay. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return `amqp://${this.#target.username}:${this.#target.password}@127.0.0.1:${port}${this.#target.pathname}`;
  }

  /** Cuts every line as a dead network would; new ones are let through unless `isRefusing`. */
  cut({ isRefusing = false }: { readonly isRefusing?: boolean } = {}): void {
    this.#isRefusing = isRefusing;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Passes on what is said to the broker, and none of its answers. */
  mute(): void {
    this.#isMute = true;
  }

  /** Lets new lines and answers through again. */
  mend(): void {
    this.#isRefusing = false;
    this.#isMute = false;
  }

  /** Cuts every line and listens no more. */
  async close(): Promise<void> {
    this.cut({ isRefusing: true });
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #relay(client: Socket): void {
    if (this.#isRefusing) return void client.destroy();
    const broker = connect({ host: this.#target.hostname, port: Number(this.#target.port || 5_672), noDelay: true });
    client.setNoDelay(true);
    const reader = new FrameReader((payload) => this.contentHeaders.push(payload));
    client.on("data", (data) => broker.write(data));
    broker.on("data", (data) => {
      reader.read(data);
      if (!this.#isMute) client.write(data);
    });
    for (const [one, other] of [[client, broker], [broker, client]] as const) {
      this.#sockets.add(one);
      one.on("error", () => {}).once("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}

class FrameReader {
  readonly #onContentHeader: (payload: Uint8Array<ArrayBuffer>) => void;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(onContentHeader: (payload: Uint8Array<ArrayBuffer>) => void) {
    this.#onContentHeader = onContentHeader;
  }

  read(data: Uint8Array): void {
    const bytes = new Uint8Array(this.#rest.length + data.length);
    bytes.set(this.#rest);
    bytes.set(data, this.#rest.length);
    const view = new DataView(bytes.buffer);
    let at = 0;
    while (at + FRAME_HEAD <= bytes.length) {
      const end = at + FRAME_HEAD + view.getUint32(at + 3);
      if (end + FRAME_END > bytes.length) break;
      if (bytes[at] === CONTENT_HEADER) this.#onContentHeader(bytes.slice(at + FRAME_HEAD, end));
      at = end + FRAME_END;
    }
    this.#rest = bytes.slice(at);
  }
}
