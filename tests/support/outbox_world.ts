/**
 * An outbox in memory and relays from it to a broker in memory, whose time stands still until the test moves it.
 *
 * @module
 */
import { type MemoryOutboxStore, memoryOutboxStore } from "../../adapters/memory/mod.ts";
import type { ConnectOptions } from "../../src/connect_options.ts";
import type { Connection } from "../../src/connection.ts";
import { HEADER_ID } from "../../src/message/header_names.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { RunningRelay } from "../../src/patterns/outbox/relay.ts";
import type { RelayOptions } from "../../src/patterns/outbox/relay_options.ts";
import type { RelayStore } from "../../src/ports/outbox_store.ts";
import { topology } from "../../src/topology/topology.ts";
import { FaultyOutbox } from "./faulty_outbox.ts";
import { MemoryWorld } from "./memory_world.ts";

/** The queue a world has. */
export const QUEUE = "orders";

/** A message for a queue, of which the id is all that matters. */
export function outboundOf(id: string, more: Partial<Outbound> = {}): Outbound {
  return {
    exchange: "",
    routingKey: QUEUE,
    body: new TextEncoder().encode(id),
    contentType: "text/plain",
    messageId: id,
    headers: { [HEADER_ID]: id },
    persistent: true,
    mandatory: true,
    ...more,
  };
}

/** The ids `prefix-1` to `prefix-n`. */
export function idsOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}

/** Everything a test of relaying looks at. */
export class OutboxWorld extends MemoryWorld {
  /** What is added to. */
  readonly outbox: MemoryOutboxStore;
  /** What relays are given. */
  readonly store: FaultyOutbox;

  constructor({ maxAttempts = 10 }: { readonly maxAttempts?: number } = {}) {
    super();
    this.outbox = memoryOutboxStore({ clock: this.clock, maxAttempts });
    this.store = new FaultyOutbox(this.outbox);
  }

  /** A connection, and the queue. */
  async open(options: ConnectOptions = {}): Promise<Connection> {
    const mq = await this.connect(options);
    await mq.declare(topology().queue(QUEUE));
    return mq;
  }

  /** A connection and a relay that runs on it. */
  async relaying(options: RelayOptions = {}, store: RelayStore = this.store): Promise<RunningRelay> {
    return await (await this.open()).relay(store, options).start();
  }

  /** Adds a message for each id in one transaction. */
  async add(
    ids: readonly string[],
    { key, ...more }: Partial<Outbound> & { readonly key?: string } = {},
  ): Promise<void> {
    const messages = ids.map((id) => outboundOf(id, more));
    await this.outbox.transaction((tx) => this.outbox.addAll(tx, messages, { orderingKey: key }));
  }

  /** The ids of what has arrived in the queue, in order. */
  arrived(queue: string = QUEUE): readonly string[] {
    return this.waiting(queue).map(({ properties }) => properties.messageId ?? "");
  }

  /** The ids of every publish that was handed to a broker, in order. */
  get published(): readonly string[] {
    return this.faults.published.map(({ messageId }) => messageId ?? "");
  }

  /** The retired rows with their last words. */
  async retired(): Promise<readonly (readonly [id: string, lastError: string | undefined])[]> {
    const found: (readonly [string, string | undefined])[] = [];
    for await (const { id, lastError } of this.outbox.retired()) found.push([id, lastError]);
    return found;
  }
}
