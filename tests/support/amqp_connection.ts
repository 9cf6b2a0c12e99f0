/**
 * Connections of the AMQP adapter for tests, with all that happens to them.
 *
 * @module
 */
import { amqpBroker, type AmqpOptions } from "../../adapters/amqp/mod.ts";
import { type Clock, randomUuid, systemClock } from "../../src/clock.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { BrokerConnection, BrokerDelivery, BrokerEvent, Subscription } from "../../src/ports/broker.ts";
import type { DeclareArguments } from "../../src/topology/specs.ts";
import { until } from "./until.ts";

/** A connection and everything it has reported. */
export interface Observed {
  readonly mq: BrokerConnection;
  readonly events: readonly BrokerEvent[];
  /** Waits for so many events of a type. */
  readonly reported: (type: BrokerEvent["type"], count?: number) => Promise<void>;
}

/** How a connection is opened. */
export interface OpenOptions extends AmqpOptions {
  readonly clock?: Clock;
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Hears each event as it happens. */
  readonly onEvent?: (event: BrokerEvent) => void;
}

/** Comes back fast: tests do not wait a second. */
const RECONNECT = { initialDelayMs: 20, maxDelayMs: 100 };

/** Opens a connection that reconnects quickly. */
export async function openAmqp(url: string, options: OpenOptions = {}): Promise<Observed> {
  const { clock = systemClock(), name = "acemq-test", signal, onEvent, ...amqp } = options;
  const events: BrokerEvent[] = [];
  const mq = await amqpBroker(url, { reconnect: RECONNECT, ...amqp }).open({
    name,
    clock,
    signal,
    onEvent: (event) => {
      events.push(event);
      onEvent?.(event);
    },
  });
  const reported = async (type: BrokerEvent["type"], count = 1): Promise<void> => {
    await until(`${count} ${type}`, () => events.filter((event) => event.type === type).length >= count);
  };
  return { mq, events, reported };
}

/** A name nobody else uses. */
export function uniqueName(label: string): string {
  return `acemq-amqp-${label}-${randomUuid().slice(0, 8)}`;
}

/** A transient message for a queue, mandatory, through the default exchange, unless the parts say otherwise. */
export function messageFor(routingKey: string, parts: Partial<Outbound> = {}): Outbound {
  return {
    exchange: "",
    routingKey,
    body: new Uint8Array([1, 2, 3]),
    messageId: randomUuid(),
    headers: {},
    persistent: false,
    mandatory: true,
    ...parts,
  };
}

/** A subscription with all that has come of it. */
export interface Reader {
  readonly subscription: Subscription;
  readonly deliveries: readonly BrokerDelivery[];
  readonly losses: readonly string[];
  readonly recoveries: () => number;
}

/** Subscribes and keeps what arrives; nothing is settled unless `each` does. */
export async function reading(
  mq: BrokerConnection,
  queue: string,
  options: {
    readonly prefetch?: number;
    readonly tag?: string;
    readonly arguments?: DeclareArguments;
    readonly each?: (delivery: BrokerDelivery) => void;
  } = {},
): Promise<Reader> {
  const deliveries: BrokerDelivery[] = [];
  const losses: string[] = [];
  let recoveries = 0;
  const subscription = await mq.subscribe(queue, {
    prefetch: options.prefetch ?? 10,
    consumerTag: options.tag ?? uniqueName("tag"),
    arguments: options.arguments ?? {},
    onDelivery: (delivery) => {
      deliveries.push(delivery);
      options.each?.(delivery);
    },
    onLost: (reason) => losses.push(reason),
    onRecovered: () => void recoveries++,
  });
  return { subscription, deliveries, losses, recoveries: () => recoveries };
}

/** A queue of a test, durable, that a forgotten test leaves behind for ten minutes at most. */
export function queueSpec(name: string): Parameters<BrokerConnection["declareQueue"]>[0] {
  return { name, durable: true, exclusive: false, autoDelete: false, arguments: { "x-expires": 600_000 } };
}
