/**
 * A connection to a memory broker whose time stands still until the test moves it, with faults on command and telemetry kept.
 *
 * @module
 */
import { type MemoryBroker, memoryBroker, type VirtualClock, virtualClock } from "../../adapters/memory/mod.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type { DeclareArguments } from "../../src/topology/specs.ts";
import { type QueueOptions, topology } from "../../src/topology/topology.ts";
import { Faults, faultyBroker } from "./faulty_broker.ts";
import { RecordingSink } from "./recording_sink.ts";
import { NOW_MS } from "./sources.ts";

/** A message put in by hand. */
export interface PutOptions {
  readonly headers?: WireTable;
  readonly messageId?: string | undefined;
  /** @default {"application/json"} */
  readonly contentType?: string;
}

/** Everything a test of consuming looks at. */
export class MemoryWorld {
  readonly clock: VirtualClock = virtualClock(NOW_MS);
  readonly broker: MemoryBroker = memoryBroker({ clock: this.clock });
  readonly faults: Faults = new Faults();
  readonly sink: RecordingSink = new RecordingSink();
  /** Every connection, in the order they were opened. */
  readonly connections: Connection[] = [];

  /** Another connection to the same broker, with the same faults and telemetry. Jitter is off: the middle is always drawn. */
  async connect(options: ConnectOptions = {}): Promise<Connection> {
    const mq = await openConnection(faultyBroker(this.broker, this.faults), {
      telemetry: this.sink,
      random: () => 0.5,
      ...options,
    });
    this.connections.push(mq);
    return mq;
  }

  /** A connection and a queue. */
  async withQueue(
    name: string,
    { queue, ...options }: ConnectOptions & { readonly queue?: QueueOptions } = {},
  ): Promise<Connection> {
    const mq = await this.connect(options);
    await mq.declare(topology().queue(name, queue));
    return mq;
  }

  /** A durable queue that another program has declared. */
  async bareQueue(name: string, args: DeclareArguments = {}): Promise<void> {
    const link = await this.broker.open({ name: "another", clock: this.clock, onEvent: () => {} });
    await link.declareQueue({ name, durable: true, exclusive: false, autoDelete: false, arguments: args });
    await link.close();
  }

  /** Puts a message in as another client would: JSON unless bytes are given. */
  put(
    queue: string,
    payload: unknown,
    { headers = {}, messageId, contentType = "application/json" }: PutOptions = {},
  ): void {
    const body = payload instanceof Uint8Array ? payload : new TextEncoder().encode(JSON.stringify(payload));
    this.broker.put({ exchange: "", routingKey: queue, properties: { contentType, messageId }, headers, body });
  }

  /** What waits in a queue. */
  waiting(queue: string): readonly ReceivedMessage[] {
    return this.broker.inspect(queue)?.waiting ?? [];
  }

  /** How many messages wait in a queue. */
  depth(queue: string): number {
    return this.waiting(queue).length;
  }

  /** How many messages of a queue are in a consumer's hands. */
  unsettled(queue: string): number {
    return this.broker.inspect(queue)?.unsettled ?? 0;
  }

  /** Runs everything that can run without time passing. */
  async settled(): Promise<void> {
    await this.clock.advance(0);
  }

  /** Closes every connection, giving handlers that still run their whole budget. */
  async close(): Promise<void> {
    const closing = Promise.all(this.connections.map((mq) => mq.close()));
    await this.clock.advance(60_000);
    await closing;
  }
}
