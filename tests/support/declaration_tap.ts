/**
 * A TCP relay in front of a broker that reads along which queues a client declares, and how.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from "node:net";

/** One `queue.declare` as it was sent. */
export interface SentDeclaration {
  readonly queue: string;
  /** It only asks whether the queue is there. */
  readonly passive: boolean;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
}

const PROTOCOL_HEADER = 8;
const FRAME_HEAD = 7;
const FRAME_END = 1;
const METHOD_FRAME = 1;
/** Class 50, method 10. */
const QUEUE_DECLARE = 0x0032_000a;
/** Class and method, and a reserved short. */
const BEFORE_NAME = 6;

/** A relay that hears every declaration. */
export class DeclarationTap {
  /** In the order they were sent. */
  readonly declarations: SentDeclaration[] = [];
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on("connection", (client) => this.#relay(client));
  }

  /** Listens on a port of its own, in front of the host and port of a URL. */
  static async open(target: string): Promise<DeclarationTap> {
    const server = createServer();
    const tap = new DeclarationTap(server, new URL(target));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return tap;
  }

  /** The URL of the broker, by way of the relay. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return `amqp://${this.#target.username}:${this.#target.password}@127.0.0.1:${port}`;
  }

  /** Resets every line; new ones pass. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resets every line and listens no more. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  #relay(client: Socket): void {
    const broker = connect({ host: this.#target.hostname, port: Number(this.#target.port || 5_672), noDelay: true });
    let unread: Uint8Array<ArrayBuffer> = new Uint8Array();
    let isGreeted = false;
    client.on("data", (data) => {
      broker.write(data);
      unread = joined(unread, data);
      if (!isGreeted && unread.length < PROTOCOL_HEADER) return;
      if (!isGreeted) unread = unread.slice(PROTOCOL_HEADER);
      isGreeted = true;
      unread = this.#read(unread);
    });
    broker.on("data", (data) => client.write(data));
    for (const [one, other] of [[client, broker], [broker, client]] as const) {
      this.#sockets.add(one);
      one.on("error", () => {/* its close follows */}).once("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }

  /** Reads whole frames; answers with what is left. */
  #read(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let at = 0;
    while (at + FRAME_HEAD <= bytes.length) {
      const end = at + FRAME_HEAD + view.getUint32(at + 3) + FRAME_END;
      if (end > bytes.length) break;
      const payload = bytes.subarray(at + FRAME_HEAD, end - FRAME_END);
      if (bytes[at] === METHOD_FRAME && view.getUint32(at + FRAME_HEAD) === QUEUE_DECLARE) {
        this.declarations.push(declarationIn(payload));
      }
      at = end;
    }
    return bytes.slice(at);
  }
}

function declarationIn(payload: Uint8Array): SentDeclaration {
  const length = payload[BEFORE_NAME] ?? 0;
  const name = payload.subarray(BEFORE_NAME + 1, BEFORE_NAME + 1 + length);
  const flags = payload[BEFORE_NAME + 1 + length] ?? 0;
  return {
    queue: new TextDecoder().decode(name),
    passive: (flags & 1) !== 0,
    durable: (flags & 2) !== 0,
    exclusive: (flags & 4) !== 0,
    autoDelete: (flags & 8) !== 0,
  };
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
