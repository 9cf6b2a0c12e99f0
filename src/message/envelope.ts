/**
 * The envelope: what the library knows about a message beside its payload. A value; a change is a new value.
 *
 * @module
 */

import { type Clock, type NewId, randomUuid, systemClock } from "../clock.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../internal/option_kinds.ts";

/** Where a message stands on a declared route. */
export interface DeclaredRoute {
  /** All step names, done and to do. */
  readonly steps: readonly string[];
  /** Index of the step the message is for; `steps.length` when the route is finished. */
  readonly position: number;
  /** Absent when the sender gave none. */
  readonly runId?: string | undefined;
}

/** What travels with every message (contract core 1.1). Optional fields are absent, never empty. */
export interface Envelope {
  /** Message id and idempotency key; survives every retry. */
  readonly id: string;
  /** Logical type; the routing key when the sender gave none. */
  readonly type: string;
  /** Payload schema version, from 1. */
  readonly version: number;
  /** Business correlation; the id when the sender gave none. */
  readonly correlationId: string;
  /** Id of the message that caused this one. */
  readonly causationId?: string | undefined;
  /** Delivery attempt, from 1. */
  readonly attempt: number;
  /** First publish, epoch milliseconds; survives every hop, replay included. */
  readonly firstSeenMs: number;
  /** `service@host` of the first publisher. */
  readonly origin?: string | undefined;
  /** Why the message was set aside; only on copies in `.dlq` and `.parked`. */
  readonly error?: string | undefined;
  /** Where the payload is, when the application says so; whether it is still there is for the application to know. */
  readonly claim?: string | undefined;
  /** The declared route the message follows. */
  readonly route?: DeclaredRoute | undefined;
  /** Queue the message was last replayed from. */
  readonly replayedFrom?: string | undefined;
  /** When the message was last replayed. */
  readonly replayedAt?: Date | undefined;
  /** How often the message was replayed; absent for never. */
  readonly replayCount?: number | undefined;
}

/** What a new envelope is made from. */
export interface EnvelopeFields {
  /** Logical type; `message` when it is empty. */
  readonly type: string;
  /** Message id and idempotency key. @default {a new one} */
  readonly id?: string | undefined;
  /** Payload schema version, from 1. @default {1} */
  readonly version?: number | undefined;
  /** Business correlation. @default {the id} */
  readonly correlationId?: string | undefined;
  /** Id of the message that caused this one. */
  readonly causationId?: string | undefined;
  /** `service@host` of the publisher; the connection stamps its own when there is none. */
  readonly origin?: string | undefined;
  /** Where the payload is, when the application says so. */
  readonly claim?: string | undefined;
  /** The declared route the message follows. */
  readonly route?: DeclaredRoute | undefined;
}

/** Where time and ids come from. */
export interface EnvelopeSources {
  /** Says when the message was first seen. @default {systemClock()} */
  readonly clock?: Clock;
  /** Gives the id. @default {randomUuid} */
  readonly newId?: NewId;
}

const SOURCE_KINDS: Readonly<OptionKinds<EnvelopeSources>> = { clock: "object", newId: "function" };

/**
 * The envelope of a message that has never been published.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { newEnvelope } from "@acemq/amqp/core";
 *
 * const envelope = newEnvelope({ type: "order.placed" });
 * assert.equal(envelope.attempt, 1);
 * assert.equal(envelope.correlationId, envelope.id);
 * ```
 *
 * @throws {RangeError} a version that is no whole number from 1
 * @throws {TypeError} sources that there are not, or of another type
 */
export function newEnvelope(fields: EnvelopeFields, sources: EnvelopeSources = {}): Envelope {
  assertOptions("the sources of an envelope", sources, SOURCE_KINDS);
  const { clock = systemClock(), newId = randomUuid } = sources;
  const { version = 1 } = fields;
  assertWholeNumber("version", version, 1);
  const id = present(fields.id) ?? newId();
  return {
    id,
    type: present(fields.type) ?? TYPE_OF_EMPTY_KEY,
    version,
    correlationId: present(fields.correlationId) ?? id,
    causationId: present(fields.causationId),
    attempt: 1,
    firstSeenMs: clock.now(),
    origin: present(fields.origin),
    error: undefined,
    claim: present(fields.claim),
    route: fields.route,
    replayedFrom: undefined,
    replayedAt: undefined,
    replayCount: undefined,
  };
}

/**
 * The fields a message caused by `parent` takes over: its correlation, and its id as causation (contract core 1.7).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { causedBy, newEnvelope } from "@acemq/amqp/core";
 *
 * const placed = newEnvelope({ type: "order.placed", correlationId: "cart-8812" });
 * const charged = newEnvelope({ type: "order.charged", ...causedBy(placed) });
 * assert.equal(charged.correlationId, "cart-8812");
 * assert.equal(charged.causationId, placed.id);
 * ```
 */
export function causedBy(parent: Envelope): { correlationId: string; causationId: string } {
  return { correlationId: parent.correlationId, causationId: parent.id };
}

/** The envelope of the next attempt: everything else stays, the id and the first sight included. */
export function nextAttempt(envelope: Envelope): Envelope {
  return { ...envelope, attempt: envelope.attempt + 1 };
}

/** What a replay says of itself. */
export interface ReplayStamp {
  /** The queue the message was read from. */
  readonly from: string;
  /** When, epoch milliseconds. */
  readonly atMs: number;
  /** The attempt and the error stay as they are, for a message that is only to be moved. */
  readonly keepAttempts: boolean;
}

/**
 * The envelope of a message that is put back: a first attempt without an error, and where it came from (contract core 6). Id, first
 * sight and route stay, so that a limit on the age counts on and a run goes on where it stood.
 */
export function replayed(envelope: Envelope, { from, atMs, keepAttempts }: ReplayStamp): Envelope {
  return {
    ...envelope,
    attempt: keepAttempts ? envelope.attempt : 1,
    error: keepAttempts ? envelope.error : undefined,
    replayedFrom: from,
    replayedAt: new Date(atMs),
    replayCount: (envelope.replayCount ?? 0) + 1,
  };
}

/** The most that 32 bits hold: what the contract gives version, attempt, route position and replay count (contract core 1.1). */
export const LARGEST_INT32 = 2_147_483_647;

/** The type of a message whose routing key is empty (contract core 1.6). */
export const TYPE_OF_EMPTY_KEY = "message";

function present(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
