/**
 * What a connection may be told, whatever the broker.
 *
 * @module
 */

import type { Clock, NewId, Random } from "./clock.ts";
import type { CodecName } from "./codec/codecs.ts";
import type { ConsumeInterceptor } from "./consume/interceptor.ts";
import { assertFiniteNumber, assertName, assertWholeNumber } from "./internal/assert_option.ts";
import { assertKinds, assertOptions, describeKind, type OptionKinds } from "./internal/option_kinds.ts";
import type { CallScope } from "./ports/call_scope.ts";
import type { Codec } from "./ports/codec.ts";
import type { PublishInterceptor } from "./publish/interceptor.ts";
import type { TelemetrySink } from "./telemetry/sink.ts";

/** Options of `connect`. */
export interface ConnectOptions {
  /** Connection name, and the first half of the origin of every message. @default {"acemq"} */
  readonly name?: string;
  /** What publishers and consumers use that name no codec of their own. @default {"json"} */
  readonly codec?: CodecName | Codec;
  /** Codecs that can be named besides `json`, `text` and `bytes`. @default {[]} */
  readonly codecs?: readonly Codec[];
  /**
   * Wait for the broker's confirm of every publish. Without it a publish resolves as `published` once it is written, and an
   * application never learns of an unroutable message; what the library publishes on somebody's behalf is confirmed all the same.
   *
   * @default {true}
   */
  readonly confirms?: boolean;
  /** Publishes that may wait for a confirm at once. @default {1_000} */
  readonly maxOutstandingPublishes?: number;
  /**
   * How long a publish waits for the broker's answer, milliseconds; then its outcome is unknown. What the library publishes on
   * somebody's behalf waits longer while the broker blocks the connection: its original is in hand.
   *
   * @default {10_000}
   */
  readonly publishTimeoutMs?: number;
  /** How long a publish waits for one of those permits, milliseconds; then nothing was written. @default {10_000} */
  readonly permitTimeoutMs?: number;
  /** How long a close waits for running handlers, all consumers together, milliseconds. @default {20_000} */
  readonly drainTimeoutMs?: number;
  /** Run for every publisher and every consumer, before their own. */
  readonly interceptors?: {
    readonly publish?: readonly PublishInterceptor[];
    readonly consume?: readonly ConsumeInterceptor[];
  };
  /** Where measurements and log records go. Attach it here: what happened before cannot be measured later. @default {nowhere} */
  readonly telemetry?: TelemetrySink;
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal;
  /** What time it is. @default {the broker's, else systemClock()} */
  readonly clock?: Clock;
  /** What jitter is drawn from. @default {systemRandom} */
  readonly random?: Random;
  /** Where message ids come from. @default {randomUuid} */
  readonly newId?: NewId;
  /** Lets a close from inside a handler see that it is. @default {by AsyncLocalStorage in `@acemq/amqp`, none in `@acemq/amqp/core`} */
  readonly scope?: CallScope;
}

/** Bounds and names with their defaults. */
export interface ConnectionSettings {
  readonly name: string;
  readonly confirms: boolean;
  readonly maxOutstandingPublishes: number;
  readonly publishTimeoutMs: number;
  readonly permitTimeoutMs: number;
  readonly drainTimeoutMs: number;
}

/** What the options of a connection must be. */
export const CONNECT_KINDS: Readonly<OptionKinds<ConnectOptions>> = {
  name: "checked",
  codec: "checked",
  codecs: "list",
  confirms: "boolean",
  maxOutstandingPublishes: "checked",
  publishTimeoutMs: "checked",
  permitTimeoutMs: "checked",
  drainTimeoutMs: "checked",
  interceptors: "object",
  telemetry: "object",
  signal: "signal",
  clock: "object",
  random: "function",
  newId: "function",
  scope: "object",
};

const INTERCEPTOR_KINDS: Readonly<OptionKinds<NonNullable<ConnectOptions["interceptors"]>>> = {
  publish: "functions",
  consume: "functions",
};

/** Throws a `TypeError` unless `value` is a broker. */
export function assertBroker(value: unknown): void {
  if (typeof value === "object" && value !== null && "open" in value && typeof value.open === "function") return;
  throw new TypeError(
    `Cannot connect: the first argument must be a broker such as memoryBroker(), found ${describeKind(value)}`,
  );
}

/** Checks the options and fills in their defaults. Throws before anything is dialled. */
export function connectionSettings(options: ConnectOptions): ConnectionSettings {
  // Names it does not know are another broker's options: one object may serve them all.
  assertKinds("a connection", options, CONNECT_KINDS);
  assertOptions("'interceptors'", options.interceptors ?? {}, INTERCEPTOR_KINDS);
  const {
    name = "acemq",
    confirms = true,
    maxOutstandingPublishes = 1_000,
    publishTimeoutMs = 10_000,
    permitTimeoutMs = 10_000,
    drainTimeoutMs = 20_000,
  } = options;
  assertName("option 'name'", name);
  assertWholeNumber("maxOutstandingPublishes", maxOutstandingPublishes, 1);
  assertFiniteNumber("publishTimeoutMs", publishTimeoutMs, 1);
  assertFiniteNumber("permitTimeoutMs", permitTimeoutMs, 0);
  assertFiniteNumber("drainTimeoutMs", drainTimeoutMs, 0);
  return { name, confirms, maxOutstandingPublishes, publishTimeoutMs, permitTimeoutMs, drainTimeoutMs };
}
