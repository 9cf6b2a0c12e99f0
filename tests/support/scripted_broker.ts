/**
 * A broker made of a script: it answers as RabbitMQ does until a test says otherwise, and remembers every frame it was sent.
 *
 * What a real broker cannot be made to say (a malformed frame, a method at the wrong moment, another wording) it says on demand.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type Frame, FrameSplitter, type Method, methodFrame } from "./amqp_frames.ts";
import { until } from "./until.ts";

/** What a client is answered; `undefined` leaves the answer to {@linkcode USUAL}, nothing at all is an empty list. */
export type Answer = readonly Uint8Array[] | undefined;

/** How a scripted broker differs from a usual one. */
export interface Script {
  /** Called for every method the client sends. */
  readonly answer?: (method: Method, client: ScriptedClient) => Answer;
  /** Called when the last frame of a message has arrived. */
  readonly onMessage?: (message: PublishedMessage, client: ScriptedClient) => void;
  readonly serverProperties?: object;
  readonly mechanisms?: string;
  readonly tune?: { readonly channelMax?: number; readonly frameMax?: number; readonly heartbeat?: number };
  /** Says nothing when a client connects. */
  readonly isMute?: boolean;
  /** Speaks TLS, with this certificate. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A message a client has published. */
export interface PublishedMessage {
  readonly channel: number;
  /** Counts from 1 on each channel: the number a confirm names. */
  readonly number: number;
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
}

const PROTOCOL_HEADER_BYTES = 8;

/** What a queue that is no stream is asked, without a tag, and refused. */
const NO_STREAM = {
  replyCode: 406,
  replyText: "PRECONDITION_FAILED - invalid arg 'x-stream-offset' of queue type rabbit_classic_queue",
  classId: 60,
  methodId: 20,
};

/** How a broker answers that has nothing particular to say, and queues that are classic. */
const USUAL: Readonly<Record<string, (method: Method) => readonly [string, object]>> = {
  ConnectionOpen: () => ["ConnectionOpenOk", {}],
  ConnectionClose: () => ["ConnectionCloseOk", {}],
  ChannelOpen: () => ["ChannelOpenOk", {}],
  ChannelClose: () => ["ChannelCloseOk", {}],
  ConfirmSelect: () => ["ConfirmSelectOk", {}],
  BasicQos: () => ["BasicQosOk", {}],
  BasicConsume: ({ fields }) =>
    fields["consumerTag"] === "" && "x-stream-offset" in (fields["arguments"] as object)
      ? ["ChannelClose", NO_STREAM]
      : ["BasicConsumeOk", { consumerTag: fields["consumerTag"] }],
  BasicCancel: ({ fields }) => ["BasicCancelOk", { consumerTag: fields["consumerTag"] }],
  BasicGet: () => ["BasicGetEmpty", {}],
  QueueDeclare: ({ fields }) => ["QueueDeclareOk", { queue: fields["queue"], messageCount: 0, consumerCount: 0 }],
  QueueBind: () => ["QueueBindOk", {}],
  QueuePurge: () => ["QueuePurgeOk", { messageCount: 0 }],
  QueueDelete: () => ["QueueDeleteOk", { messageCount: 0 }],
  ExchangeDeclare: () => ["ExchangeDeclareOk", {}],
  ExchangeDelete: () => ["ExchangeDeleteOk", {}],
};

/** A broker on a port of its own. */
export class ScriptedBroker {
  /** Everybody who has connected, in order. */
  readonly clients: ScriptedClient[] = [];
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(server: Server, script: Script) {
    this.#server = server;
    this.#scheme = script.tls === undefined ? "amqp" : "amqps";
    const event = script.tls === undefined ? "connection" : "secureConnection";
    server.on(event, (socket: Socket) => this.clients.push(new ScriptedClient(socket, script)));
  }

  /** Listens. */
  static async open(script: Script = {}): Promise<ScriptedBroker> {
    const server = script.tls === undefined ? createServer() : createTlsServer(script.tls);
    const broker = new ScriptedBroker(server, script);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return broker;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get url(): string {
    return `${this.#scheme}://guest:guest@127.0.0.1:${this.port}`;
  }

  /** The newest client, once there is one. */
  client(): Promise<ScriptedClient> {
    return until("a client", () => this.clients.at(-1));
  }

  /** Hangs up on everybody and listens no more. */
  async close(): Promise<void> {
    for (const { socket } of this.clients) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** One connection, from the broker's side. */
export class ScriptedClient {
  readonly socket: Socket;
  /** Every method the client has sent. */
  readonly methods: Method[] = [];
  /** Every whole message the client has published. */
  readonly messages: PublishedMessage[] = [];
  /** Heartbeats the client has sent. */
  heartbeats = 0;
  /** The client has hung up. */
  isGone = false;
  readonly #script: Script;
  readonly #splitter = new FrameSplitter();
  readonly #numbers = new Map<number, number>();
  #isGreeted = false;
  #publishing: { readonly method: Method; header?: Frame & { type: "header" }; body: Buffer } | undefined;

  constructor(socket: Socket, script: Script) {
    this.socket = socket;
    this.#script = script;
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => this.isGone = true);
    socket.on("data", (bytes) => this.#read(bytes));
  }

  /** Sends bytes as they are. */
  send(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.socket.write(frame);
  }

  /** The methods of one name, in order. */
  named(name: string): readonly Method[] {
    return this.methods.filter((method) => method.name === name);
  }

  /** The first method of a name, once it has arrived. */
  async received(name: string, count = 1): Promise<Method> {
    await until(`${count} ${name}`, () => this.named(name).length >= count);
    return this.named(name)[count - 1] as Method;
  }

  #read(bytes: Uint8Array): void {
    if (this.#isGreeted) return this.#frames(this.#splitter.push(bytes));
    this.#isGreeted = true;
    if (this.#script.isMute === true) return;
    const { serverProperties = { product: "RabbitMQ", version: "3.10.8" }, mechanisms = "PLAIN AMQPLAIN" } =
      this.#script;
    this.send(methodFrame("ConnectionStart", 0, { serverProperties, mechanisms: Buffer.from(mechanisms) }));
    this.#frames(this.#splitter.push(bytes.subarray(PROTOCOL_HEADER_BYTES)));
  }

  #frames(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === "heartbeat") this.heartbeats++;
      else if (frame.type === "method") this.#method(frame);
      else this.#content(frame);
    }
  }

  #method(method: Method): void {
    this.methods.push(method);
    if (method.name === "BasicPublish") this.#publishing = { method, body: Buffer.alloc(0) };
    this.send(...this.#script.answer?.(method, this) ?? this.#usual(method));
  }

  #usual(method: Method): readonly Uint8Array[] {
    if (method.name === "ConnectionStartOk") {
      const tune = { channelMax: 2_047, frameMax: 131_072, heartbeat: 60, ...this.#script.tune };
      return [methodFrame("ConnectionTune", 0, tune)];
    }
    const answer = USUAL[method.name]?.(method);
    return answer === undefined ? [] : [methodFrame(answer[0], method.channel, answer[1])];
  }

  #content(frame: Frame & { type: "header" | "body" }): void {
    const publishing = this.#publishing;
    if (publishing === undefined) throw new Error("A content frame without a publish");
    if (frame.type === "header") publishing.header = frame;
    else publishing.body = Buffer.concat([publishing.body, frame.payload]);
    const { method, header, body } = publishing;
    if (header === undefined || body.byteLength < header.bodySize) return;
    this.#publishing = undefined;
    const number = (this.#numbers.get(method.channel) ?? 0) + 1;
    this.#numbers.set(method.channel, number);
    const { exchange, routingKey, mandatory } = method.fields as PublishedMessage["properties"];
    const message: PublishedMessage = {
      channel: method.channel,
      number,
      exchange: String(exchange),
      routingKey: String(routingKey),
      mandatory: mandatory === true,
      properties: header.fields,
      body: new Uint8Array(body),
    };
    this.messages.push(message);
    this.#script.onMessage?.(message, this);
  }
}

/** Confirms every message at once. */
export function confirmAll({ channel, number }: PublishedMessage, client: ScriptedClient): void {
  client.send(methodFrame("BasicAck", channel, { deliveryTag: number, multiple: false }));
}
