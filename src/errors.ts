/**
 * One error family. A class exists for each reaction a caller can have; `code` says precisely what happened.
 *
 * @module
 */

import { firstWords } from "./internal/error_words.ts";

export { describeError } from "./internal/error_words.ts";

/** Every code an {@linkcode AceMqError} can carry: a union, so that `switch (error.code)` is checked by the compiler. */
export type AceMqErrorCode =
  | "ACEMQ_FATAL"
  | "ACEMQ_RETRYABLE"
  | PublishErrorCode
  | "ACEMQ_PUBLISH_BATCH"
  | "ACEMQ_ENCODE"
  | "ACEMQ_DECODE"
  | "ACEMQ_CLAIM_MISSING"
  | ConnectionErrorCode
  | TopologyErrorCode
  | "ACEMQ_CODEC_MISSING"
  | SchemaRegistryErrorCode
  | "ACEMQ_SECURITY"
  | "ACEMQ_STORE"
  | "ACEMQ_TABLE_LAYOUT"
  | "ACEMQ_LEASE_LOST"
  | "ACEMQ_CLAIM_UNCONFIRMED";

/** Why one publish did not succeed (contract core 7.1). */
export type PublishErrorCode =
  | "ACEMQ_PUBLISH_UNROUTABLE"
  | "ACEMQ_PUBLISH_NACKED"
  | "ACEMQ_PUBLISH_PAUSED"
  | "ACEMQ_PUBLISH_REFUSED"
  | "ACEMQ_PUBLISH_UNKNOWN";

/** Why a connection could not be opened, or is not there any more. */
export type ConnectionErrorCode =
  | "ACEMQ_CONNECT_REFUSED"
  | "ACEMQ_CONNECT_AUTH"
  | "ACEMQ_CONNECT_VHOST"
  | "ACEMQ_CONNECT_TLS"
  | "ACEMQ_CONNECTION_LOST"
  | "ACEMQ_CONNECTION_CLOSED";

/** Why a topology was refused. */
export type TopologyErrorCode = "ACEMQ_TOPOLOGY_DRIFT" | "ACEMQ_TOPOLOGY_MISSING" | "ACEMQ_TOPOLOGY_REFUSED";

/** Why a schema registry refused. */
export type SchemaRegistryErrorCode =
  | "ACEMQ_SCHEMA_NOT_FOUND"
  | "ACEMQ_SCHEMA_CONFLICT"
  | "ACEMQ_SCHEMA_INCOMPATIBLE";

/**
 * The root of everything this library throws on purpose.
 *
 * Wrong arguments are the built-in `TypeError` and `RangeError`: they are faults of the call, not of the world.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { AceMqError, FatalError } from "@acemq/amqp/core";
 *
 * const error = new FatalError("No such product");
 * assert.ok(error instanceof AceMqError);
 * assert.equal(error.code, "ACEMQ_FATAL");
 * ```
 */
export class AceMqError extends Error {
  /** What happened, stable across releases. */
  readonly code: AceMqErrorCode;

  /** For the classes below, and for adapters; the name is that of the class. */
  constructor(code: AceMqErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Thrown in a handler: trying again cannot help, so the message goes to the dead letters on this attempt. */
export class FatalError extends AceMqError {
  /** The message stands in `x-acemq-error` of the dead letter: no payload and no secret in it. */
  constructor(
    message: string,
    options: ErrorOptions & { readonly code?: "ACEMQ_FATAL" | "ACEMQ_CLAIM_UNCONFIRMED" } = {},
  ) {
    const { code = "ACEMQ_FATAL", ...rest } = options;
    super(code, message, rest);
  }
}

/** Trying again may help: in a handler it walks the retry ladder; a codec throws it when what it depends on is away. */
export class RetryableError extends AceMqError {
  /** The message stands in `x-acemq-error` when the attempts are used up: no payload and no secret in it. */
  constructor(message: string, options: ErrorOptions & { readonly code?: "ACEMQ_RETRYABLE" | "ACEMQ_STORE" } = {}) {
    const { code = "ACEMQ_RETRYABLE", ...rest } = options;
    super(code, message, rest);
  }
}

/** The facts of a failed publish. */
export interface PublishFailure {
  /** What became of the message. */
  readonly code: PublishErrorCode;
  /** Empty for the default exchange. */
  readonly exchange: string;
  /** What the exchange was to route by; a queue's name on the default exchange. */
  readonly routingKey: string;
  /** The id to resend it under. */
  readonly messageId: string;
  /** The broker's words, or ours where the broker was not asked. */
  readonly reason: string;
}

/**
 * One publish that did not end as "confirmed and routed".
 *
 * `ACEMQ_PUBLISH_UNKNOWN` may have arrived: resend it under the same `messageId`. After every other code the broker does
 * not have the message.
 */
export class PublishError extends AceMqError {
  /** Empty for the default exchange. */
  readonly exchange: string;
  /** What the exchange was to route by; a queue's name on the default exchange. */
  readonly routingKey: string;
  /** The id to resend it under. */
  readonly messageId: string;
  /** The broker's words, or ours where the broker was not asked. */
  readonly reason: string;

  /** Says what was to go where, and why it did not. */
  constructor(failure: PublishFailure, options?: ErrorOptions) {
    super(failure.code, `Cannot publish ${describe(failure)}: ${why(failure)}`, options);
    this.exchange = failure.exchange;
    this.routingKey = failure.routingKey;
    this.messageId = failure.messageId;
    this.reason = failure.reason;
  }

  /** True when the broker took the message and found no queue for it. */
  get unroutable(): boolean {
    return this.code === "ACEMQ_PUBLISH_UNROUTABLE";
  }

  /** True when nothing was written because publishing is paused: by the application, by the broker, or for want of a connection. */
  get paused(): boolean {
    return this.code === "ACEMQ_PUBLISH_PAUSED";
  }
}

/** What became of one payload of a batch; `index` is its place in the batch. */
export type BatchItem =
  | { readonly index: number; readonly status: "sent"; readonly messageId: string }
  | { readonly index: number; readonly status: "failed"; readonly error: unknown };

/**
 * A batch of which at least one message failed. The others went out: a batch is never atomic, so resend by index.
 *
 * The sentence is the one the AceMQ libraries share (contract core 2.6).
 */
export class PublishBatchError extends AceMqError {
  /** One entry a payload, in payload order. */
  readonly results: readonly BatchItem[];
  /** How many messages the batch had. */
  readonly total: number;
  /** How many of them failed. */
  readonly failed: number;
  /** How many of them did not. */
  readonly confirmed: number;

  /** Counts the results; the cause is the first failure in payload order. */
  constructor(results: readonly BatchItem[]) {
    const errors = results.flatMap((item) => item.status === "failed" ? [item.error] : []);
    const ok = results.length - errors.length;
    const text = firstWords(errors[0]);
    super(
      "ACEMQ_PUBLISH_BATCH",
      `${errors.length} of ${results.length} messages were not confirmed; ${ok} were. The first failure was: ${text}`,
      { cause: errors[0] },
    );
    this.results = results;
    this.total = results.length;
    this.failed = errors.length;
    this.confirmed = ok;
  }

  /** True only when every failure was an unroutable message. */
  get unroutable(): boolean {
    return this.#every((error) => error.unroutable);
  }

  /** True only when every failure was a publish declined before a byte was written. */
  get paused(): boolean {
    return this.#every((error) => error.paused);
  }

  #every(test: (error: PublishError) => boolean): boolean {
    return this.results.every((item) =>
      item.status === "sent" || (item.error instanceof PublishError && test(item.error))
    );
  }
}

/** Where a payload does not fit its schema, and why. */
export interface SchemaIssue {
  /** The members that lead there, outermost first; empty for the payload itself. */
  readonly path: readonly (string | number)[];
  /** In the words of the schema. */
  readonly message: string;
}

/** What an error of a codec can have beside its text. */
export interface CodecErrorOptions extends ErrorOptions {
  /** What the schema said. @default {[]} */
  readonly issues?: readonly SchemaIssue[];
}

/** A payload that cannot become bytes, or does not fit its schema. Nothing was sent. */
export class EncodeError extends AceMqError {
  /** What the schema said; empty when the format refused. */
  readonly issues: readonly SchemaIssue[];

  /** Says what the format cannot hold, without showing the payload. */
  constructor(message: string, options: CodecErrorOptions = {}) {
    super("ACEMQ_ENCODE", message, options);
    this.issues = options.issues ?? [];
  }
}

/**
 * Bytes that cannot become a payload, or whose payload does not fit its schema. The message is parked, never retried: it would not
 * read next time either.
 */
export class DecodeError extends AceMqError {
  /** What the schema said; empty when the bytes could not be read. */
  readonly issues: readonly SchemaIssue[];

  /** Says what was wrong with the bytes, without showing them. */
  constructor(message: string, options: CodecErrorOptions & { readonly code?: "ACEMQ_CLAIM_MISSING" } = {}) {
    super(options.code ?? "ACEMQ_DECODE", message, options);
    this.issues = options.issues ?? [];
  }
}

/** A payload that is not in its store, or a key that is none. The message is parked: put the payload back, and replay it. */
export class ClaimMissingError extends DecodeError {
  /** Says by which key, and where it was looked for. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, code: "ACEMQ_CLAIM_MISSING" });
  }
}

/** A connection that could not be opened, was lost, or is closed. Never carries a credential. */
export class ConnectionError extends AceMqError {
  /** Says where to and why not, in the broker's words where it spoke. */
  constructor(code: ConnectionErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A topology the broker does not have, or has otherwise. Raised before anything is declared. */
export class TopologyError extends AceMqError {
  /** One line for each object that is missing or differs, with the broker's own words. */
  readonly findings: readonly string[];

  /** Says what was to be declared or checked; the findings say what is otherwise. */
  constructor(code: TopologyErrorCode, message: string, options: ErrorOptions & { findings?: readonly string[] } = {}) {
    super(code, message, options);
    this.findings = options.findings ?? [];
  }
}

/** What a schema registry does not have, or must not take: an id has one meaning for ever. Trying again changes nothing. */
export class SchemaRegistryError extends AceMqError {
  /** One line for each place where a new version does not go with those that stand; empty for every other code. */
  readonly findings: readonly string[];

  /** Says which id or subject; the findings say what is otherwise. */
  constructor(
    code: SchemaRegistryErrorCode,
    message: string,
    options: ErrorOptions & { readonly findings?: readonly string[] } = {},
  ) {
    super(code, message, options);
    this.findings = options.findings ?? [];
  }
}

/** A codec that was named but not handed in, or whose library is not installed. Raised at start-up. */
export class CodecMissingError extends AceMqError {
  /** Says which codec, and what brings it. */
  constructor(message: string, options?: ErrorOptions) {
    super("ACEMQ_CODEC_MISSING", message, options);
  }
}

/** Settings that would weaken security without saying so. Raised before dialling. */
export class SecurityError extends AceMqError {
  /** Says which setting, and what would make it safe. */
  constructor(message: string, options?: ErrorOptions) {
    super("ACEMQ_SECURITY", message, options);
  }
}

/** A database or an object store that did not do what it was asked: it is away, locked, or refuses. A message is retried. */
export class StoreError extends RetryableError {
  /** Says what was to be done; the driver's own words, which may show values, are in the cause alone. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, code: "ACEMQ_STORE" });
  }
}

/** A table that is not there or not of a layout the store knows. Raised before anything is written. */
export class LayoutError extends AceMqError {
  /** Says which table, what was found and what is wanted. */
  constructor(message: string, options?: ErrorOptions) {
    super("ACEMQ_TABLE_LAYOUT", message, options);
  }
}

/** The claim of a message is somebody else's by now. Whatever the handler's transaction holds is rolled back by it. */
export class LeaseLostError extends AceMqError {
  /** Says of which message. */
  constructor(message: string, options?: ErrorOptions) {
    super("ACEMQ_LEASE_LOST", message, options);
  }
}

/**
 * What `message.confirm()` rejects with when the store has not said, while the lease ran, that what the handler has done is on record.
 *
 * It may be all the same: a statement that hangs may still be carried out. So another attempt is a duplicate, or does the work again,
 * and nobody knows which. Let out of the handler, this error spares it the attempt: the message goes to the dead letters. A handler for
 * which the work is all that counts catches it, and accepts.
 */
export class ClaimUnconfirmedError extends FatalError {
  /** Says of which message; the last failure is the cause. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, code: "ACEMQ_CLAIM_UNCONFIRMED" });
  }
}

/**
 * Whether an error, or anything in its chain of causes, says that trying again cannot help.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { FatalError, isFatal } from "@acemq/amqp/core";
 *
 * assert.equal(isFatal(new Error("outer", { cause: new FatalError("No such product") })), true);
 * assert.equal(isFatal(new Error("try again")), false);
 * ```
 */
export function isFatal(error: unknown): boolean {
  return causes(error).some((one) => one instanceof FatalError);
}

/**
 * Whether an error, or anything in its chain of causes, says that trying again may help.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { isRetryable, RetryableError } from "@acemq/amqp/core";
 *
 * assert.equal(isRetryable(new RetryableError("The store is away")), true);
 * ```
 */
export function isRetryable(error: unknown): boolean {
  return causes(error).some((one) => one instanceof RetryableError);
}

/** Whether an error, or anything in its chain of causes, says that a claim is somebody else's by now. */
export function saysLeaseLost(error: unknown): boolean {
  return causes(error).some((one) => one instanceof LeaseLostError);
}

/** Every error of a chain of causes once, also when the chain is a ring. */
function causes(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && !chain.includes(one); one = one.cause) chain.push(one);
  return chain;
}

function describe({ exchange, routingKey, messageId }: PublishFailure): string {
  const where = exchange === "" ? `to queue "${routingKey}"` : `to exchange "${exchange}" with key "${routingKey}"`;
  return `message "${messageId}" ${where}`;
}

/** The broker's word for an unroutable message says little to whoever has not met it before. */
function why({ code, exchange, reason }: PublishFailure): string {
  if (code !== "ACEMQ_PUBLISH_UNROUTABLE") return reason;
  return `${exchange === "" ? "there is no queue of that name" : "no queue is bound for this key"} (${reason})`;
}
