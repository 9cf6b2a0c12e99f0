/**
 * A TCP proxy in front of a broker: the network, in the hands of a test.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from "node:net";

/** What a proxy stops passing on: what the client says, what the broker says, or both. */
export type Direction = "to_broker" | "from_broker" | "both";

/** One socket that is read, and the one its bytes go to. */
interface Way {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: Direction;
}

/** Passes bytes on, until told otherwise. */
export class TcpProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #ways = new Set<Way>();
  readonly #sockets = new Set<Socket>();
  /** Lines of which the broker does not know that nobody is at the other end. */
  readonly #abandoned = new Set<Socket>();
  #paused: Direction | undefined;
  #delayMs = 0;
  #accepted = 0;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on("connection", (client) => this.#accept(client));
  }

  /** Listens on a port of its own, in front of the host and port of a URL. */
  static async open(target: string): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, new URL(target));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** The URL of the broker, by way of this proxy. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { protocol, username, password, pathname } = this.#target;
    return `${protocol}//${username}:${password}@127.0.0.1:${port}${pathname}`;
  }

  /** Lines that were ever opened. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Resets every line, as a firewall does that has forgotten it. New lines pass. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resets every line for the client, and lets the broker believe that it stands: it is half-open, and found out on one side first. */
  abandon(): void {
    for (const { from, to, direction } of [...this.#ways]) {
      if (direction !== "to_broker") continue;
      this.#abandoned.add(to);
      from.destroy();
    }
  }

  /** Ends what was abandoned for the broker too. */
  forget(): void {
    for (const broker of this.#abandoned) broker.destroy();
    this.#abandoned.clear();
  }

  /**
   * Passes nothing on and tells nobody: every line is half-open, and new ones are accepted and stay silent. Bytes that arrive
   * meanwhile wait in the kernel, as for a process that was stopped.
   */
  pause(direction: Direction = "both"): void {
    this.#paused = direction;
    for (const way of this.#ways) if (this.#isPaused(way)) way.from.pause();
  }

  /** Passes on what has waited, the end of a line included. */
  resume(): void {
    this.#paused = undefined;
    for (const { from } of this.#ways) from.resume();
  }

  /** Passes everything on later, in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Resets every line and listens no more. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  #isPaused({ direction }: Way): boolean {
    return this.#paused === "both" || this.#paused === direction;
  }

  #accept(client: Socket): void {
    this.#accepted++;
    const broker = connect({ host: this.#target.hostname, port: Number(this.#target.port), allowHalfOpen: false });
    this.#pass({ from: client, to: broker, direction: "to_broker" });
    this.#pass({ from: broker, to: client, direction: "from_broker" });
  }

  #pass(way: Way): void {
    const { from, to } = way;
    this.#ways.add(way);
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => {/* its close follows */});
    from.on("data", (bytes) => {
      if (this.#delayMs > 0) setTimeout(() => this.#write(way, bytes), this.#delayMs);
      else this.#write(way, bytes);
    });
    from.once("close", () => {
      this.#ways.delete(way);
      this.#sockets.delete(from);
      if (!this.#abandoned.has(to)) to.destroySoon();
    });
    if (this.#isPaused(way)) from.pause();
  }

  #write(way: Way, bytes: Uint8Array): void {
    const { from, to } = way;
    if (to.destroyed || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => {
      if (!this.#isPaused(way)) from.resume();
    });
  }
}
