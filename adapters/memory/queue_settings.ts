/**
 * What the arguments of a queue ask for, read once when it is declared.
 *
 * @module
 */

import type { QueueSpec } from "../../src/topology/specs.ts";
import { ArgumentReader } from "./argument_reader.ts";
import type { Declared } from "./equivalence.ts";

/** What becomes of a message that finds its queue full. */
export type Overflow = "drop-head" | "reject-publish" | "reject-publish-dlx";

/** How a queue behaves. */
export interface QueueSettings {
  readonly isQuorum: boolean;
  /** One consumer gets everything until it goes. */
  readonly isSingle: boolean;
  /** How long it stays when nobody uses it; `Infinity` for ever. */
  readonly expiresMs: number;
  /** The highest priority it tells apart; undefined where priorities do not count. */
  readonly maxPriority: number | undefined;
  /** `Infinity` where nothing expires. */
  readonly ttlMs: number;
  /** Messages that may wait; `Infinity` for any number. */
  readonly maxLength: number;
  /** Bytes of body that may wait; `Infinity` for any number. */
  readonly maxLengthBytes: number;
  readonly overflow: Overflow;
  /** Undefined where what is discarded is gone. */
  readonly deadLetterExchange: string | undefined;
  /** Undefined keeps the message's own keys. */
  readonly deadLetterRoutingKey: string | undefined;
  /** Whether what dies waits until everybody who is to have it has taken it. */
  readonly isPatient: boolean;
  /** Times a message may come back; `Infinity` for any number. */
  readonly deliveryLimit: number;
}

/** The types of queue there are. */
type Type = "classic" | "quorum";

/** Arguments that only queues of another type have. */
const OF_OTHER_TYPES: Readonly<Record<Type, readonly string[]>> = {
  classic: [
    "x-queue-leader-locator",
    "x-dead-letter-strategy",
    "x-max-in-memory-length",
    "x-max-in-memory-bytes",
    "x-quorum-initial-group-size",
    "x-delivery-limit",
    "x-max-age",
    "x-stream-max-segment-size-bytes",
    "x-initial-cluster-size",
  ],
  quorum: [
    "x-max-priority",
    "x-queue-mode",
    "x-queue-version",
    "x-queue-master-locator",
    "x-max-age",
    "x-stream-max-segment-size-bytes",
    "x-initial-cluster-size",
  ],
};

/** Where RabbitMQ may put a classic queue that is mirrored. */
const MASTER_LOCATORS: readonly unknown[] = ["client-local", "min-masters", "random", undefined];

/** Above that there are no priorities. */
const HIGHEST_PRIORITY = 255;

/**
 * Reads the arguments of a queue; throws the {@linkcode Refusal} the broker answers with where it refuses them.
 *
 * In the order the broker looks at them: it names the first that is wrong.
 */
export function queueSettings(spec: Declared<QueueSpec>): QueueSettings {
  const type = queueType(new ArgumentReader(spec));
  const read = new ArgumentReader(spec, OF_OTHER_TYPES[type]);
  const isQuorum = type === "quorum";
  const kept = {
    expiresMs: expiresMs(read),
    ttlMs: read.timeMs("x-message-ttl"),
    deadLetterExchange: deadLetterExchange(read),
    deadLetterRoutingKey: deadLetterRoutingKey(read),
    isPatient: isAtLeastOnce(read),
    maxLength: read.wholeNumber("x-max-length"),
    maxLengthBytes: read.wholeNumber("x-max-length-bytes"),
  };
  // What makes no difference in memory is still refused where it makes no sense.
  for (const argument of ["x-max-in-memory-length", "x-max-in-memory-bytes"]) read.wholeNumber(argument);
  const taken = { maxPriority: maxPriority(read), overflow: overflow(read, isQuorum) };
  assertStorage(read);
  const isSingle = read.truth("x-single-active-consumer");
  read.positive("x-quorum-initial-group-size");
  read.assertLeaderLocator();
  read.assertNoneIsForeign(type);
  if (isQuorum) read.assertReplicable(spec);
  assertMasterLocator(read);
  // Only together: what is dropped at the head would have to wait in a queue that has no room for it.
  const isPatient = kept.isPatient && taken.overflow === "reject-publish";
  return { isQuorum, ...kept, ...taken, isSingle, deliveryLimit: deliveryLimit(read), isPatient };
}

/** The broker looks whether it may use the exchange before it looks at anything else, of a queue of any type. */
export function assertDeadLetterExchange(spec: Declared<QueueSpec>): void {
  deadLetterExchange(new ArgumentReader(spec));
}

function queueType(read: ArgumentReader): Type {
  const value = read.text("x-queue-type") ?? "classic";
  if (value === "classic" || value === "quorum") return value;
  throw read.invalid("x-queue-type", `"unsupported queue type '${value}'"`);
}

function expiresMs(read: ArgumentReader): number {
  const ms = read.timeMs("x-expires");
  if (ms === 0) throw read.invalid("x-expires", "{value_zero,0}");
  return ms;
}

function deadLetterExchange(read: ArgumentReader): string | undefined {
  const value = read.value("x-dead-letter-exchange");
  if (value === undefined || typeof value === "string") return value;
  throw read.wrongType("x-dead-letter-exchange", value);
}

function deadLetterRoutingKey(read: ArgumentReader): string | undefined {
  const value = read.text("x-dead-letter-routing-key");
  if (value === undefined || read.has("x-dead-letter-exchange")) return value;
  throw read.invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined");
}

function maxPriority(read: ArgumentReader): number | undefined {
  const value = read.wholeNumber("x-max-priority");
  if (value === Infinity) return undefined;
  if (value > HIGHEST_PRIORITY) throw read.invalid("x-max-priority", `{max_value_exceeded,${value}}`);
  return value;
}

/** A quorum queue knows only two ways, and takes the third for the first. */
function overflow(read: ArgumentReader, isQuorum: boolean): Overflow {
  const value = read.text("x-overflow") ?? "drop-head";
  if (value === "reject-publish-dlx") return isQuorum ? "drop-head" : value;
  if (value === "drop-head" || value === "reject-publish") return value;
  throw read.invalid("x-overflow", "invalid_overflow");
}

/** The broker takes whatever it is given, and compares the count of returns with it. */
function deliveryLimit(read: ArgumentReader): number {
  const value = read.value("x-delivery-limit");
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : Infinity;
}

/** How a classic queue is stored. */
function assertStorage(read: ArgumentReader): void {
  const mode = read.text("x-queue-mode") ?? "default";
  if (mode !== "default" && mode !== "lazy") throw read.invalid("x-queue-mode", `"unsupported queue mode '${mode}'"`);
  const version = read.wholeNumber("x-queue-version");
  if (version !== Infinity && version !== 1 && version !== 2) {
    throw read.invalid("x-queue-version", `"unsupported queue version '${version}'"`);
  }
}

/** RabbitMQ closes the connection over a place that there is none of. */
function assertMasterLocator(read: ArgumentReader): void {
  if (MASTER_LOCATORS.includes(read.value("x-queue-master-locator"))) return;
  throw read.invalid("x-queue-master-locator", "invalid_queue_locator_arg");
}

function isAtLeastOnce(read: ArgumentReader): boolean {
  const strategy = read.text("x-dead-letter-strategy") ?? "at-most-once";
  if (strategy === "at-least-once") return true;
  if (strategy === "at-most-once") return false;
  throw read.invalid("x-dead-letter-strategy", "invalid_dlx_strategy");
}
