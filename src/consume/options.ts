/**
 * What a caller may say about consuming from a queue.
 *
 * @module
 */

import type { CodecName } from "../codec/codecs.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import type { Codec } from "../ports/codec.ts";
import { type Ladder, ladderOf } from "../retry/ladder.ts";
import { noRetry, type RetryPolicy } from "../retry/policy.ts";
import type { DeclareArguments } from "../topology/specs.ts";
import type { IdempotencyStore, TwoAnswerStore } from "../ports/idempotency_store.ts";
import type { IdempotencyOptions } from "./idempotency/options.ts";
import type { ConsumeInterceptor } from "./interceptor.ts";
import { assertStreamOffset } from "./stream_offset.ts";

/** Options of every form of consuming. */
export interface ReceiveOptions<T = unknown, S = undefined> {
  /** How bytes become payloads: a name, or the codec itself. @default {the connection's} */
  readonly codec?: CodecName | Codec<never, T>;
  /**
   * What payloads must fit, of any library that speaks Standard Schema, whatever the codec; the handler gets what the schema makes
   * of them. A message that does not fit is parked, with the schema's words in `x-acemq-error`: a library that quotes the value it
   * found shows it there. The price is one validation a message.
   *
   * @default {undefined: the codec alone decides what can be read}
   */
  readonly schema?: S;
  /**
   * How failures are tried again. Every retry runs the handler from its beginning, and goes to the back of the queue. A stream's
   * entries are not tried again, whatever the policy: the copy would be another entry for every reader.
   *
   * @default {noRetry(): the first failure goes to `.dlq`}
   */
  readonly retry?: RetryPolicy;
  /** Rungs beyond the policy's, for waits that handlers ask for, whole seconds in milliseconds. @default {[]} */
  readonly rungsMs?: readonly number[];
  /**
   * Unsettled deliveries the broker hands out at most, those that wait for another attempt included. The price of more is memory
   * (as many bodies at once, whatever their size) and a longer way back at a shutdown; of fewer, a round trip between messages.
   * `"unlimited"` is what it says.
   *
   * @default {50}
   */
  readonly prefetch?: number | "unlimited";
  /**
   * Declare `.dlq`, `.parked` and the rungs before subscribing. False for a login that may not configure, and for tools that read a
   * `.dlq`.
   *
   * @default {true}
   */
  readonly declare?: boolean;
  /** Shown by the broker. @default {`acemq-{queue}-` and eight random characters} */
  readonly consumerTag?: string;
  /** Consumer arguments, such as `x-priority`, and `x-stream-offset` for a stream, which takes no `retry`. */
  readonly arguments?: DeclareArguments;
}

/** Options of `mq.consume`. */
export interface ConsumeOptions<T = unknown, S = undefined> extends ReceiveOptions<T, S> {
  /**
   * Handlers that run at once, each on a message of its own: one that comes again after a lost connection waits until the handler
   * that has it has ended. One keeps the order of the queue, but for messages that fail and are retried.
   *
   * @default {1}
   */
  readonly concurrency?: number;
  /**
   * Claims each message before its handler, and confirms it after: a message is handled once, however often it is delivered and on
   * however many replicas. The price is two statements a message on a SQL store.
   *
   * @default {undefined: a message that comes again is handled again}
   */
  readonly idempotency?: IdempotencyStore | TwoAnswerStore | IdempotencyOptions;
  /** Run after the connection's, outermost first. */
  readonly interceptors?: readonly ConsumeInterceptor[];
  /** Closes the consumer when it aborts. */
  readonly signal?: AbortSignal;
}

/** Options of `mq.deliveries`. */
export interface DeliveriesOptions<T = unknown, S = undefined> extends ReceiveOptions<T, S> {
  /** Ends the loop when it aborts. */
  readonly signal?: AbortSignal;
}

/** Checked options with their defaults. */
export interface Intake {
  readonly prefetch: number;
  readonly ladder: Ladder;
  readonly declare: boolean;
}

const DEFAULT_PREFETCH = 50;

/** What AMQP can say: a short unsigned integer. */
const LARGEST_PREFETCH = 65_535;

/** Checks options and fills in their defaults. Throws before anything is declared. */
export function intakeOf(
  { prefetch = DEFAULT_PREFETCH, retry = noRetry(), rungsMs = [], declare = true, arguments: args = {} }:
    ReceiveOptions<unknown, unknown>,
): Intake {
  const intake: Intake = { prefetch: prefetchOf(prefetch), ladder: ladderOf(retry, rungsMs), declare };
  if (Object.hasOwn(args, "x-stream-offset")) {
    assertStreamOffset(args["x-stream-offset"]);
    assertNoRetry(intake.ladder);
  }
  return intake;
}

/** The broker takes the argument for streams alone. */
function assertNoRetry({ policy, rungsMs }: Ladder): void {
  if (policy.maxAttempts === 1 && rungsMs.length === 0) return;
  const found = policy.maxAttempts === 1 ? "'rungsMs'" : `'retry' with ${policy.maxAttempts} attempts`;
  throw new TypeError(`Cannot use option ${found} on a stream: its entries are not tried again`);
}

/** A prefetch as the port wants it: 0 for unlimited. */
export function prefetchOf(prefetch: number | "unlimited"): number {
  if (prefetch === "unlimited") return 0;
  assertWholeNumber("prefetch", prefetch, 1);
  if (prefetch > LARGEST_PREFETCH) {
    throw new RangeError(`Cannot use option 'prefetch': it must be at most ${LARGEST_PREFETCH}, found ${prefetch}`);
  }
  return prefetch;
}
