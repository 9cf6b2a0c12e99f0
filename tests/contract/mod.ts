/**
 * What whoever stands behind a port has to do: suites of `node:test` cases, the ones our own adapters pass.
 *
 * @module
 */

export {
  acknowledgementTimeoutContract,
  blockedBrokerContract,
  brokerContract,
  type BrokerContractOptions,
  deadLetterRetryContract,
} from "./broker.ts";
export type { BrokerCapability, BrokerUnderTest } from "./broker/world.ts";
export { type SessionUnderTest, sqlSessionContract, type SqlSessionContractOptions } from "./sql_session.ts";
export {
  idempotencyStoreContract,
  type IdempotencyStoreContractOptions,
  type IdempotencyStoreUnderTest,
} from "./idempotency_store.ts";
export type { IdempotencyStore } from "../../src/ports/idempotency_store.ts";
export { outboxStoreContract, type OutboxStoreContractOptions, type OutboxStoreUnderTest } from "./outbox_store.ts";
export type { OutboxStore } from "../../src/ports/outbox_store.ts";
export {
  claimCheckStoreContract,
  type ClaimCheckStoreContractOptions,
  type ClaimCheckStoreUnderTest,
} from "./claim_check_store.ts";
export type { ClaimCheckStore } from "../../src/ports/claim_check_store.ts";
export { codecContract, type CodecContractOptions, type CodecSample, type CodecUnderTest } from "./codec.ts";
export type { Codec } from "../../src/ports/codec.ts";
export {
  schemaRegistryContract,
  type SchemaRegistryContractOptions,
  type SchemaRegistryUnderTest,
} from "./schema_registry.ts";
export type { SchemaRegistry } from "../../src/ports/schema_registry.ts";
