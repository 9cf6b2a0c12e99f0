/**
 * RabbitMQ with this library on one side and a bare client on the other.
 *
 * @module
 */
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { BareClient } from "./rabbitmq.ts";
import { RecordingSink } from "./recording_sink.ts";
import { AMQP_URL } from "./services.ts";
import { until } from "./until.ts";

/** How the library connects in a scene. */
export interface SceneConnectOptions extends ConnectOptions {
  /** @default {AMQP_URL} */
  readonly url?: string;
  readonly hostName?: string;
}

/** Everything a flow looks at. */
export class RabbitScene {
  readonly bare: BareClient;
  readonly sink: RecordingSink = new RecordingSink();
  readonly #connections: Connection[] = [];

  constructor(bare: BareClient) {
    this.bare = bare;
  }

  /** A connection of the library, telemetry kept; through `url` where it is to be cut. It comes back quickly. */
  async connect({ url = AMQP_URL, hostName, ...options }: SceneConnectOptions = {}): Promise<Connection> {
    const broker = amqpBroker(url, { hostName, reconnect: { initialDelayMs: 50, maxDelayMs: 200 } });
    const mq = await openConnection(broker, { telemetry: this.sink, ...options });
    this.#connections.push(mq);
    return mq;
  }

  /** Waits until a queue holds that many waiting messages. */
  async depth(queue: string, wanted: number): Promise<void> {
    await until(`${wanted} messages in ${queue}`, async () => await this.bare.depth(queue) === wanted);
  }

  /** Waits until a counter has reached a number. */
  async counted(name: string, wanted: number, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await until(`${name} at ${wanted}`, () => this.sink.count(name, labels) >= wanted);
  }

  /** Closes every connection of the library, whatever its handlers do. */
  async quit(): Promise<void> {
    const over = AbortSignal.abort();
    await Promise.all(this.#connections.splice(0).map((mq) => mq.close({ signal: over }).catch(() => {})));
  }

  async close(): Promise<void> {
    await this.quit();
    await this.bare.close();
  }
}

/** Plays one scene, and clears the stage whatever happened. */
export async function onRabbit(prefix: string, play: (scene: RabbitScene) => Promise<void>): Promise<void> {
  const scene = new RabbitScene(await BareClient.open(prefix));
  try {
    await play(scene);
  } finally {
    await scene.close();
  }
}
