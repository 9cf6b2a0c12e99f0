/**
 * In tests: the same code, no service, no waiting. A broker in memory that behaves as RabbitMQ does, and a clock that a test
 * moves by hand.
 *
 * @module
 */

export { type MemoryBroker, memoryBroker, type MemoryBrokerOptions, type QueueInspection } from "./broker.ts";
export type { RecordedMessage } from "./stored_message.ts";
export { type VirtualClock, virtualClock } from "./virtual_clock.ts";
export type { QueueBinding, Routed } from "./virtual_host.ts";
export { type MemoryClaimCheckOptions, MemoryClaimCheckStore, memoryClaimCheckStore } from "./claim_check_store.ts";
export { type MemoryIdempotencyOptions, MemoryIdempotencyStore, memoryIdempotencyStore } from "./idempotency_store.ts";
export { type MemoryOutboxOptions, MemoryOutboxStore, memoryOutboxStore } from "./outbox_store.ts";
export type { MemoryOutboxTransaction } from "./outbox_transaction.ts";
export { MemorySchemaRegistry, memorySchemaRegistry, type MemorySchemaRegistryOptions } from "./schema_registry.ts";
