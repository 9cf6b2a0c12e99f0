/**
 * A bare AMQP client: it puts bytes on the wire as they are given.
 *
 * No client library does: each renders properties and headers in kinds of its own, so a recording that went through one would
 * not be the message that was recorded.
 *
 * @module
 */
import { connect, type Socket } from "node:net";
import {
  contentFrames,
  type Field,
  type Frame,
  longBytes,
  METHOD,
  methodFrame,
  readFrames,
  shortText,
  viewOf,
} from "./frames.ts";

const CONNECTION_START = 0x000a_000a;
const CONNECTION_START_OK = 0x000a_000b;
const CONNECTION_TUNE = 0x000a_001e;
const CONNECTION_TUNE_OK = 0x000a_001f;
const CONNECTION_OPEN = 0x000a_0028;
const CONNECTION_OPEN_OK = 0x000a_0029;
const CONNECTION_CLOSE = 0x000a_0032;
const CHANNEL_OPEN = 0x0014_000a;
const CHANNEL_OPEN_OK = 0x0014_000b;
const CHANNEL_CLOSE = 0x0014_0028;
const EXCHANGE_DELETE = 0x0028_0014;
const EXCHANGE_DELETE_OK = 0x0028_0015;
const QUEUE_DELETE = 0x0032_0028;
const QUEUE_DELETE_OK = 0x0032_0029;
const BASIC_PUBLISH = 0x003c_0028;
const BASIC_RETURN = 0x003c_0032;
const BASIC_ACK = 0x003c_0050;
const CONFIRM_SELECT = 0x0055_000a;
const CONFIRM_SELECT_OK = 0x0055_000b;

const FRAME_MAX = 131_072;
const CHANNEL = 1;
const MANDATORY = 1;

/** An open connection with one channel, which confirms what is published. One call at a time. */
export class RawClient {
  readonly #socket: Socket;
  readonly #frames: AsyncGenerator<Frame, void, undefined>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#frames = readFrames(socket);
  }

  static async open(url: URL): Promise<RawClient> {
    const socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: Number(url.port || 5_672),
      noDelay: true,
    });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const client = new RawClient(socket);
    await client.#handshake(url);
    return client;
  }

  /** Publishes a message to the byte, and waits until it is in a queue. */
  async publish(
    { exchange, routingKey }: { readonly exchange: string; readonly routingKey: string },
    content: { readonly contentHeader: Uint8Array; readonly body: Uint8Array },
  ): Promise<void> {
    this.#send(CHANNEL, BASIC_PUBLISH, [{ short: 0 }, exchange, routingKey, { octet: MANDATORY }]);
    this.#socket.write(contentFrames(CHANNEL, content, FRAME_MAX));
    await this.#expect(BASIC_ACK);
  }

  /** Deletes a queue and says how many messages were in it; one that is not there had none. */
  async deleteQueue(name: string): Promise<number> {
    this.#send(CHANNEL, QUEUE_DELETE, [{ short: 0 }, name, { octet: 0 }]);
    return viewOf(await this.#expect(QUEUE_DELETE_OK)).getUint32(4);
  }

  /** Deletes an exchange; one that is not there is no error. */
  async deleteExchange(name: string): Promise<void> {
    this.#send(CHANNEL, EXCHANGE_DELETE, [{ short: 0 }, name, { octet: 0 }]);
    await this.#expect(EXCHANGE_DELETE_OK);
  }

  /** Takes its leave; everything that was sent has been answered by then. */
  close(): void {
    const leave = methodFrame(0, CONNECTION_CLOSE, [{ short: 200 }, "", { short: 0 }, { short: 0 }]);
    this.#socket.end(leave, () => this.#socket.destroy());
  }

  async #handshake({ username, password, pathname }: URL): Promise<void> {
    this.#socket.write(new Uint8Array([...new TextEncoder().encode("AMQP"), 0, 0, 9, 1]));
    await this.#expect(CONNECTION_START);
    const user = decodeURIComponent(username) || "guest";
    const secret = username === "" ? "guest" : decodeURIComponent(password);
    const response = longBytes(new TextEncoder().encode(`\0${user}\0${secret}`));
    this.#send(0, CONNECTION_START_OK, [longBytes(new Uint8Array()), "PLAIN", response, "en_US"]);
    await this.#expect(CONNECTION_TUNE);
    this.#send(0, CONNECTION_TUNE_OK, [{ short: 1 }, { long: FRAME_MAX }, { short: 0 }]);
    this.#send(0, CONNECTION_OPEN, [decodeURIComponent(pathname.slice(1)) || "/", "", { octet: 0 }]);
    await this.#expect(CONNECTION_OPEN_OK);
    this.#send(CHANNEL, CHANNEL_OPEN, [""]);
    await this.#expect(CHANNEL_OPEN_OK);
    this.#send(CHANNEL, CONFIRM_SELECT, [{ octet: 0 }]);
    await this.#expect(CONFIRM_SELECT_OK);
  }

  #send(channel: number, method: number, fields: readonly Field[]): void {
    this.#socket.write(methodFrame(channel, method, fields));
  }

  /** The next method off the wire, which must be this one; the content of a returned message is passed over. */
  async #expect(method: number): Promise<Uint8Array> {
    while (true) {
      const { value: next } = await this.#frames.next();
      if (next === undefined) throw new Error("Cannot go on: the broker has closed the connection");
      if (next.type !== METHOD) continue;
      const found = viewOf(next.payload).getUint32(0);
      if (found === method) return next.payload;
      const isComplaint = found === CONNECTION_CLOSE || found === CHANNEL_CLOSE || found === BASIC_RETURN;
      const words = isComplaint ? shortText(next.payload, 6) : `method 0x${found.toString(16)}`;
      throw new Error(`Cannot go on: the broker answered with ${words}`);
    }
  }
}
