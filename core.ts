/**
 * `@acemq/amqp/core`: everything but the AMQP client. Depends on nothing and speaks Web standards only; the broker is handed in.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, topology } from "@acemq/amqp/core";
 * import { memoryBroker } from "@acemq/amqp/memory";
 *
 * const mq = await connect(memoryBroker());
 * await mq.declare(topology().queue("orders.new"));
 * const { outcome } = await mq.publisher("", "orders.new").send({ orderId: "A-19" });
 * assert.equal(outcome, "confirmed");
 * await mq.close();
 * ```
 *
 * @module
 */

// Connect
export { Connection, openConnection as connect } from "./src/connection.ts";
export type { ConnectOptions } from "./src/connect_options.ts";
export type { DrainOptions, DrainReport } from "./src/consume/drain.ts";

// Topology and retries
export { Topology, topology } from "./src/topology/topology.ts";
export type { BindOptions, ExchangeOptions, QueueOptions } from "./src/topology/topology.ts";
export { TopologyPlan } from "./src/topology/plan.ts";
export type { PlanItem, PlanStatus } from "./src/topology/plan.ts";
export type { DeclareOptions } from "./src/declare/declare.ts";
export type { PlanOptions } from "./src/declare/plan.ts";
export type {
  BindingSpec,
  DeclareArguments,
  ExchangeSpec,
  ExchangeType,
  QueueSpec,
  TopologySpec,
} from "./src/topology/specs.ts";
export { exponentialRetry, fixedRetry, noRetry, retrySchedule } from "./src/retry/policy.ts";
export type { ExponentialRetryOptions, FixedRetryOptions, RetryOptions, RetryPolicy } from "./src/retry/policy.ts";
export {
  DEAD_LETTER_EXCHANGE,
  deadLetterQueueName,
  parkedQueueName,
  RETRY_EXCHANGE,
  rungName,
} from "./src/naming/queue_names.ts";

// Publish
export { Publisher } from "./src/publish/publisher.ts";
export type { BatchOptions, PublisherOptions, SendOptions } from "./src/publish/send_options.ts";
export type { PublishResult } from "./src/publish/outcome.ts";
export type { BatchResult } from "./src/publish/batch.ts";
export type { PublishContext, PublishInterceptor } from "./src/publish/interceptor.ts";
export type { Outbound } from "./src/message/outbound.ts";

// Consume
export { accept, park, reject, retry } from "./src/consume/ack.ts";
export type { Ack, HandlerResult } from "./src/consume/ack.ts";
export { Consumer } from "./src/consume/consumer.ts";
export type { ConsumerState } from "./src/consume/consumer.ts";
export { Delivery } from "./src/consume/deliveries.ts";
export type { ConsumeInterceptor, Handler } from "./src/consume/interceptor.ts";
export type { ConsumeOptions, DeliveriesOptions, ReceiveOptions } from "./src/consume/options.ts";
export type { IdempotencyOptions } from "./src/consume/idempotency/options.ts";
export { Message } from "./src/message/message.ts";
export type { MessageClaim, MessageSource } from "./src/message/message.ts";
export { causedBy, newEnvelope } from "./src/message/envelope.ts";
export type { DeclaredRoute, Envelope, EnvelopeFields, EnvelopeSources } from "./src/message/envelope.ts";
export type { HeaderValue, MessageHeaders, OutgoingHeaders } from "./src/message/header_value.ts";

// Set aside, looked at, put back
export { PeekedMessage } from "./src/patterns/replay/peeked_message.ts";
export type { DecodedBody } from "./src/patterns/replay/peeked_message.ts";
export type { PeekOptions } from "./src/patterns/replay/peek.ts";
export type { ReplayOptions, ReplayProgress, ReplayResult } from "./src/patterns/replay/replay_options.ts";
export type { ReplayTarget, SetAsideQueue } from "./src/patterns/replay/places.ts";
export type { Death } from "./src/message/deaths.ts";

// Never silent: the outbox
export { Relay, RunningRelay } from "./src/patterns/outbox/relay.ts";
export type { RelayOptions, RelayReport, RunOnceOptions } from "./src/patterns/outbox/relay_options.ts";

// Codecs
export { type ClaimCheckCodec, claimCheckCodec, type ClaimCheckOptions } from "./src/codec/claim_check.ts";
export { claimKeyOf } from "./src/codec/claim_frame.ts";
export { jsonCodec } from "./src/codec/json.ts";
export type { FromJson, JsonCodecOptions } from "./src/codec/json.ts";
export type { ReadBack, ReadBackTypes } from "./src/codec/read_back.ts";
export { textCodec } from "./src/codec/text.ts";
export type { TextPayload } from "./src/codec/text.ts";
export { bytesCodec } from "./src/codec/bytes.ts";
export type { BytesPayload } from "./src/codec/bytes.ts";
export { compositeCodec } from "./src/codec/composite.ts";
export { streamCodec } from "./src/codec/stream.ts";
export type { StreamCodecOptions, StreamPayload } from "./src/codec/stream.ts";
export { encryptedCodec } from "./src/codec/encrypted.ts";
export type { SealableCodec } from "./src/codec/encrypted.ts";
export { keyIdOf } from "./src/codec/encrypted_frame.ts";
export { EncryptionKey, keyFromBase64 } from "./src/codec/encryption_key.ts";
export { keyring } from "./src/codec/keyring.ts";
export type { Keyring, KeyringOptions } from "./src/codec/keyring.ts";
export type { CodecName } from "./src/codec/codecs.ts";
export type { ClaimCheckGetOptions, ClaimCheckStore, KeptPayload } from "./src/ports/claim_check_store.ts";
export type { Codec, DecodeContext, EncodedPayload, OpenedStream, StreamingCodec } from "./src/ports/codec.ts";
export type { InputOf, OutputOf, StandardIssue, StandardResult, StandardSchema } from "./src/ports/standard_schema.ts";

// Schemas
export { fingerprint } from "./src/schema/definition.ts";
export type { SchemaDefinition, UnreadableParts } from "./src/schema/definition.ts";
export type { CompatibilityMode } from "./src/schema/compatibility.ts";
export type {
  ImportedSchema,
  ImportOutcome,
  RegisteredSchema,
  RegisterOptions,
  RegistryCallOptions,
  SchemaRegistry,
} from "./src/ports/schema_registry.ts";

// Seen
export { aggregateHealth } from "./src/health/report.ts";
export type { AggregateHealthOptions, HealthCheck, HealthReport, HealthStatus } from "./src/health/report.ts";
export { jsonLogSink } from "./src/health/json_log_sink.ts";
export type { JsonLogSinkOptions } from "./src/health/json_log_sink.ts";
export { METRICS } from "./src/telemetry/names.ts";
export type { MetricName } from "./src/telemetry/names.ts";
export type { ConsumeOutcome, PublishOutcome } from "./src/telemetry/outcomes.ts";
export type { LogRecord, Metric, MetricLabels, TelemetrySink } from "./src/telemetry/sink.ts";

// Errors
export {
  AceMqError,
  ClaimMissingError,
  ClaimUnconfirmedError,
  CodecMissingError,
  ConnectionError,
  DecodeError,
  EncodeError,
  FatalError,
  isFatal,
  isRetryable,
  LayoutError,
  LeaseLostError,
  PublishBatchError,
  PublishError,
  RetryableError,
  SchemaRegistryError,
  SecurityError,
  StoreError,
  TopologyError,
} from "./src/errors.ts";
export type {
  AceMqErrorCode,
  BatchItem,
  CodecErrorOptions,
  ConnectionErrorCode,
  PublishErrorCode,
  PublishFailure,
  SchemaIssue,
  SchemaRegistryErrorCode,
  TopologyErrorCode,
} from "./src/errors.ts";

// Ports: for brokers of your own
export type {
  Broker,
  BrokerConnection,
  BrokerDelivery,
  BrokerEvent,
  BrokerLimits,
  BrokerOpenOptions,
  BrokerState,
  CompareResult,
  DeclareResult,
  DeliveryHandle,
  PublishOptions,
  PublishReceipt,
  PulledDelivery,
  Puller,
  QueueState,
  SettleAs,
  SubscribeOptions,
  Subscription,
} from "./src/ports/broker.ts";
export type { CallScope } from "./src/ports/call_scope.ts";
export type {
  ClaimAnswer,
  ClaimedMessage,
  ClaimFate,
  HeldClaim,
  IdempotencyStore,
  OnceWithin,
  PurgeOptions,
  RenewAnswer,
  StoreCallOptions,
  TwoAnswerStore,
} from "./src/ports/idempotency_store.ts";
export type {
  ClaimedFacts,
  ClaimedRow,
  OnRetired,
  OutboxAddOptions,
  OutboxClaim,
  OutboxClaimOptions,
  OutboxFailure,
  OutboxGiveBackOptions,
  OutboxListener,
  OutboxMode,
  OutboxNewsHooks,
  OutboxPurgeOptions,
  OutboxStats,
  OutboxStore,
  ReadableRow,
  RelayStore,
  RetiredRecord,
  UnreadableRow,
} from "./src/ports/outbox_store.ts";
export type { SqlResult, SqlRow, SqlSession, SqlValue } from "./src/ports/sql_session.ts";
export type { ReceivedMessage, ReceivedProperties } from "./src/message/received.ts";
export {
  WireDecimal,
  WireDouble,
  WireNested,
  WireText,
  WireTimestamp,
  WireUnsigned,
} from "./src/message/wire_value.ts";
export type { WireArray, WireTable, WireValue } from "./src/message/wire_value.ts";
export { randomUuid, systemClock, systemRandom } from "./src/clock.ts";
export type { Clock, NewId, Random } from "./src/clock.ts";
