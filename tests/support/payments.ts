/**
 * A queue of payments on a broker in memory, and a store of claims a test can spoil.
 *
 * @module
 */
import { type MemoryIdempotencyOptions, memoryIdempotencyStore } from "../../adapters/memory/mod.ts";
import type { Handler } from "../../src/consume/interceptor.ts";
import type { ConsumeOptions } from "../../src/consume/options.ts";
import type { Message } from "../../src/message/message.ts";
import type { IdempotencyStore } from "../../src/ports/idempotency_store.ts";
import { MemoryWorld } from "./memory_world.ts";

/** The queue. */
export const QUEUE = "payments.new";

/** A world with a store, and what the handler saw. */
export class Payments {
  readonly world: MemoryWorld = new MemoryWorld();
  readonly store: IdempotencyStore;
  readonly attempts: number[] = [];

  constructor(options: MemoryIdempotencyOptions = {}, wrap: (store: IdempotencyStore) => IdempotencyStore = (s) => s) {
    this.store = wrap(memoryIdempotencyStore({ clock: this.world.clock, ...options }));
  }

  async consume(handler: (message: Message) => unknown, options: ConsumeOptions = {}): Promise<void> {
    const mq = this.world.connections[0] ?? await this.world.withQueue(QUEUE);
    const counted: Handler = (message) => {
      this.attempts.push(message.envelope.attempt);
      return handler(message) as ReturnType<Handler>;
    };
    await mq.consume(QUEUE, counted, { idempotency: this.store, ...options });
  }

  put(id: string): void {
    this.world.put(QUEUE, { amount: 1 }, { headers: { "x-acemq-id": id }, messageId: id });
  }

  claims(outcome: string): number {
    return this.world.sink.count("acemq.idempotency.claims.total", { queue: QUEUE, outcome });
  }

  settled(outcome: string): number {
    return this.world.sink.count("acemq.consume.total", { queue: QUEUE, outcome });
  }

  pass(ms = 0): Promise<void> {
    return this.world.clock.advance(ms);
  }
}

/** A store of which some methods do otherwise. */
export function otherwise(
  changes: (store: IdempotencyStore) => Partial<IdempotencyStore>,
): (store: IdempotencyStore) => IdempotencyStore {
  return (store) => {
    const bound = Object.fromEntries(
      ["check", "tryClaim", "confirm", "release", "renew", "isConfirmed", "purgeExpired", "count"].map((name) => [
        name,
        (store[name as "check"] as (...args: unknown[]) => unknown).bind(store),
      ]),
    );
    const { claimTimeoutMs, retentionMs, inProgressDelayMs } = store;
    return { claimTimeoutMs, retentionMs, inProgressDelayMs, ...bound, ...changes(store) } as IdempotencyStore;
  };
}
