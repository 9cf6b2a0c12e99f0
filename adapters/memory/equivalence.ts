/**
 * Declaring something again: what must be the same, and what the broker says when it is not.
 *
 * @module
 */

import type { WireTable, WireValue } from "../../src/message/wire_value.ts";
import type { ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { sameValue } from "./headers_match.ts";
import { lockedQueue, preconditionFailed, type Refusal } from "./refusals.ts";

/** A specification whose arguments have crossed the wire. */
export type Declared<Spec> = Omit<Spec, "arguments"> & { readonly arguments: WireTable };

/** In the order the broker looks at them: it names the first that differs. */
const QUEUE_ARGUMENTS: readonly string[] = [
  "x-expires",
  "x-message-ttl",
  "x-dead-letter-exchange",
  "x-dead-letter-routing-key",
  "x-max-length",
  "x-max-length-bytes",
  "x-delivery-limit",
  "x-overflow",
  "x-queue-type",
];

/** Why a queue that exists cannot be declared so; undefined when it can. */
export function queueDifference(there: Declared<QueueSpec>, asked: Declared<QueueSpec>): Refusal | undefined {
  if (there.exclusive !== asked.exclusive) return lockedQueue(there.name);
  return difference(`queue '${there.name}'`, [
    ["durable", there.durable, asked.durable],
    ["auto_delete", there.autoDelete, asked.autoDelete],
    ...QUEUE_ARGUMENTS.map((name) => [name, argument(there.arguments, name), argument(asked.arguments, name)] as const),
  ]);
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
  const found = comparisons.find(([, there, asked]) => !sameValue(there, asked));
  if (found === undefined) return undefined;
  const [name, there, asked] = found;
  const words = there === undefined || asked === undefined
    ? `received ${withKind(asked)} but current is ${withKind(there)}`
    : `received '${asked}' but current is '${there}'`;
  return preconditionFailed(`inequivalent arg '${name}' for ${what} in vhost '/': ${words}`);
}

/** Classic is what a queue without a type is. */
function argument(args: WireTable, name: string): WireValue | undefined {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return name === "x-queue-type" && value === "classic" ? undefined : value;
}

function withKind(value: WireValue | undefined): string {
  return value === undefined ? "none" : `the value '${value}' of type '${kindOf(value)}'`;
}

/** The broker's name for the kind of an argument. */
export function kindOf(value: WireValue): string {
  if (typeof value === "number") return value === (value | 0) ? "signedint" : "long";
  if (typeof value === "bigint") return "long";
  if (typeof value === "string") return "longstr";
  if (typeof value === "boolean") return "bool";
  if (value === null) return "void";
  if (Array.isArray(value)) return "array";
  if (value instanceof Date) return "timestamp";
  return value instanceof Uint8Array ? "binary" : "table";
}
