/**
 * Declaring something again: what must be the same, and what the broker says when it is not.
 *
 * @module
 */

import type { WireTable, WireValue } from "../../src/message/wire_value.ts";
import type { ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { inequivalent, lockedQueue, type Refusal } from "./refusals.ts";
import { isSameValue } from "./wire_equality.ts";
import { kindOf, textOf } from "./wire_kind.ts";

/** A specification whose arguments have crossed the wire. */
export type Declared<Spec> = Omit<Spec, "arguments"> & { readonly arguments: WireTable };

/** In the order the broker looks at them: it names the first that differs. */
const CLASSIC_ARGUMENTS: readonly string[] = [
  "x-expires",
  "x-message-ttl",
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-max-length",
  "x-max-length-bytes",
  "x-max-priority",
  "x-overflow",
  "x-queue-mode",
  "x-queue-version",
  "x-single-active-consumer",
  "x-queue-type",
  "x-queue-master-locator",
];

/** As {@linkcode CLASSIC_ARGUMENTS}. */
const QUORUM_ARGUMENTS: readonly string[] = [
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-dead-letter-strategy",
  "x-expires",
  "x-max-length",
  "x-max-length-bytes",
  "x-max-in-memory-length",
  "x-overflow",
  "x-single-active-consumer",
  "x-queue-type",
  "x-quorum-initial-group-size",
  "x-delivery-limit",
  "x-message-ttl",
  "x-queue-leader-locator",
];

/** As {@linkcode CLASSIC_ARGUMENTS}. */
const STREAM_ARGUMENTS: readonly string[] = [
  "x-max-length-bytes",
  "x-queue-type",
  "x-max-age",
  "x-stream-max-segment-size-bytes",
  "x-initial-cluster-size",
  "x-queue-leader-locator",
];

/** Why a queue that exists cannot be declared so; undefined when it can. */
export function queueDifference(there: Declared<QueueSpec>, asked: Declared<QueueSpec>): Refusal | undefined {
  if (there.exclusive !== asked.exclusive) return lockedQueue(there.name);
  const names = argumentsOf(argument(there.arguments, "x-queue-type"));
  return difference(`queue '${there.name}'`, [
    ["durable", there.durable, asked.durable],
    ["auto_delete", there.autoDelete, asked.autoDelete],
    ...names.map((name) => [name, argument(there.arguments, name), argument(asked.arguments, name)] as const),
  ]);
}

function argumentsOf(type: WireValue | undefined): readonly string[] {
  if (type === "stream") return STREAM_ARGUMENTS;
  return type === "quorum" ? QUORUM_ARGUMENTS : CLASSIC_ARGUMENTS;
}

/** Why an exchange that exists cannot be declared so; undefined when it can. */
export function exchangeDifference(there: Declared<ExchangeSpec>, asked: Declared<ExchangeSpec>): Refusal | undefined {
  const name = "alternate-exchange";
  return difference(`exchange '${there.name}'`, [
    ["type", there.type, asked.type],
    ["durable", there.durable, asked.durable],
    ["auto_delete", there.autoDelete, asked.autoDelete],
    [name, argument(there.arguments, name), argument(asked.arguments, name)],
  ]);
}

type Comparison = readonly [name: string, there: WireValue | undefined, asked: WireValue | undefined];

function difference(what: string, comparisons: readonly Comparison[]): Refusal | undefined {
  const found = comparisons.find(([, there, asked]) => !isSameArgument(there, asked));
  if (found === undefined) return undefined;
  const [name, there, asked] = found;
  const words = there === undefined || asked === undefined
    ? `received ${withKind(asked)} but current is ${withKind(there)}`
    : `received '${textOf(asked)}' but current is '${textOf(there)}'`;
  return inequivalent(`inequivalent arg '${name}' for ${what} in vhost '/': ${words}`);
}

/** Integers of all widths are one kind; nothing else of another kind is the same. */
function isSameArgument(there: WireValue | undefined, asked: WireValue | undefined): boolean {
  return typeof there === typeof asked && isSameValue(there, asked);
}

/** Classic is what a queue without a type is. */
function argument(args: WireTable, name: string): WireValue | undefined {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return name === "x-queue-type" && value === "classic" ? undefined : value;
}

function withKind(value: WireValue | undefined): string {
  return value === undefined ? "none" : `the value '${textOf(value)}' of type '${kindOf(value)}'`;
}
