/**
 * A connection of the library to RabbitMQ, a bare client beside it, and what was measured.
 *
 * @module
 */
import { amqpBroker, type AmqpOptions } from "../../adapters/amqp/mod.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { BareClient } from "./rabbitmq.ts";
import { RecordingSink } from "./recording_sink.ts";
import { AMQP_URL } from "./services.ts";

/** Everything a test of publishing looks at. */
export interface RabbitWorld {
  readonly mq: Connection;
  readonly bare: BareClient;
  readonly sink: RecordingSink;
}

/** How the library connects. */
export interface RabbitOptions {
  readonly connect?: ConnectOptions;
  readonly amqp?: AmqpOptions;
  /** @default {the broker everybody uses} */
  readonly url?: string;
}

/** Makes a test of a body: it runs in a world of its own, and whatever was made there is gone afterwards. */
export type InRabbitWorld = (
  body: (world: RabbitWorld) => Promise<void>,
  options?: RabbitOptions,
) => () => Promise<void>;

/** For the tests of one file, whose names on the broker begin with `prefix`. */
export function rabbitWorlds(prefix: string): InRabbitWorld {
  return (body, { connect = {}, amqp = {}, url = AMQP_URL } = {}) => async () => {
    const bare = await BareClient.open(prefix);
    const sink = new RecordingSink();
    try {
      const mq = await openConnection(amqpBroker(url, amqp), { telemetry: sink, ...connect });
      try {
        await body({ mq, bare, sink });
      } finally {
        await mq.close();
      }
    } finally {
      await bare.close();
    }
  };
}
