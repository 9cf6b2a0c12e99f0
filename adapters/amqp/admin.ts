/**
 * Declaring, asking, removing: each on a channel of its own, since a refusal closes the channel it was made on.
 *
 * What a refusal means is read from the broker's numbers, never from its words.
 *
 * @module
 */

import type { QueueOk } from "@cloudamqp/amqp-client";
import { TopologyError } from "../../src/errors.ts";
import { assertName, assertShortText } from "../../src/internal/assert_option.ts";
import type { DeclareResult, QueueState } from "../../src/ports/broker.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { assertNoStream } from "./is_stream.ts";
import { CallRefused, type Link } from "./link.ts";
import * as calls from "./wire/calls.ts";
import { Unwritable } from "./wire/unwritable.ts";

const NOT_FOUND = 404;
const RESOURCE_LOCKED = 405;
const PRECONDITION_FAILED = 406;

/** The exchange types every RabbitMQ has; the broker closes the whole connection over any other. */
const EXCHANGE_TYPES: readonly string[] = ["direct", "topic", "fanout", "headers"];

/** Why a declaration cannot even be sent; undefined when it can. */
export function unaskable(spec: ExchangeSpec | QueueSpec): string | undefined {
  if ("type" in spec) {
    return EXCHANGE_TYPES.includes(spec.type) ? undefined : `the exchange type "${spec.type}" is unknown`;
  }
  // The broker would make up a name that nobody hears of.
  return spec.name === "" ? "a queue needs a name" : undefined;
}

export async function declareExchange(link: Link, spec: ExchangeSpec): Promise<DeclareResult> {
  const { name } = spec;
  const reason = unaskable(spec);
  if (reason !== undefined) return { status: "refused", reason };
  return await declaring(
    () => onChannel(link, calls.declareExchange(spec)),
    async () => await checkExchange(link, name) === "present",
  );
}

export async function declareQueue(link: Link, spec: QueueSpec): Promise<DeclareResult> {
  const { name } = spec;
  const reason = unaskable(spec);
  if (reason !== undefined) return { status: "refused", reason };
  return await declaring(
    () => onChannel(link, calls.declareQueue(spec)),
    async () => (await checkQueue(link, name)).status === "present",
  );
}

export async function bindQueue(link: Link, spec: BindingSpec): Promise<DeclareResult> {
  return await declaring(() => onChannel(link, calls.bindQueue(spec)), () => Promise.resolve(false));
}

/** A queue that another connection holds for itself (405) is there; what is in it is not for us to know. */
export async function checkQueue(link: Link, name: string): Promise<QueueState> {
  assertName("the name of a queue", name);
  try {
    const { messageCount, consumerCount } = await onChannel(link, calls.checkQueue(name)) as QueueOk;
    return { status: "present", messages: messageCount, consumers: consumerCount };
  } catch (error) {
    if (isRefusedWith(error, NOT_FOUND)) return { status: "absent" };
    if (isRefusedWith(error, RESOURCE_LOCKED)) return { status: "present", messages: 0, consumers: 0 };
    throw topologyError(error, `ask for queue "${name}"`);
  }
}

/** Rejects with {@linkcode CallRefused} unless there is a queue that this connection may use. */
export async function checkQueueThere(link: Link, name: string): Promise<void> {
  await onChannel(link, calls.checkQueue(name));
}

/** The default exchange is always there, and cannot be asked for. */
export async function checkExchange(link: Link, name: string): Promise<"present" | "absent"> {
  if (name === "") return "present";
  assertShortText("the name of an exchange", name);
  try {
    await onChannel(link, calls.checkExchange(name));
    return "present";
  } catch (error) {
    if (isRefusedWith(error, NOT_FOUND)) return "absent";
    throw topologyError(error, `ask for exchange "${name}"`);
  }
}

/** A queue that is not there is no error; RabbitMQ says so itself, other brokers answer with 404. */
export async function deleteQueue(link: Link, name: string): Promise<void> {
  assertName("the name of a queue", name);
  try {
    await onChannel(link, calls.deleteQueue(name));
  } catch (error) {
    if (!isRefusedWith(error, NOT_FOUND)) throw topologyError(error, `delete queue "${name}"`);
  }
}

/** As {@linkcode deleteQueue}. */
export async function deleteExchange(link: Link, name: string): Promise<void> {
  assertName("the name of an exchange", name);
  try {
    await onChannel(link, calls.deleteExchange(name));
  } catch (error) {
    if (!isRefusedWith(error, NOT_FOUND)) throw topologyError(error, `delete exchange "${name}"`);
  }
}

export async function purgeQueue(link: Link, name: string): Promise<void> {
  assertName("the name of a queue", name);
  try {
    await assertNoStream(link, name, "purge");
    await onChannel(link, calls.purgeQueue(name));
  } catch (error) {
    throw topologyError(error, `purge queue "${name}"`);
  }
}

/** The error for a call that the broker refused, or that cannot be made; a lost connection stays what it is. */
export function topologyError(error: unknown, action: string): unknown {
  if (error instanceof Unwritable) {
    return new TopologyError("ACEMQ_TOPOLOGY_REFUSED", `Cannot ${action}: ${error.message}`);
  }
  if (!(error instanceof CallRefused)) return error;
  const { code, text } = error.reason;
  const kind = code === NOT_FOUND ? "ACEMQ_TOPOLOGY_MISSING" : "ACEMQ_TOPOLOGY_REFUSED";
  return new TopologyError(kind, `Cannot ${action}: ${text}`, { findings: [text] });
}

async function onChannel(link: Link, call: calls.Call): Promise<unknown> {
  const channel = await link.openChannel();
  try {
    return await link.call(channel, call);
  } finally {
    void channel.leave();
  }
}

/** A 406 on an object that is not there is about the arguments themselves, not about a difference. */
async function declaring(declare: () => Promise<unknown>, exists: () => Promise<boolean>): Promise<DeclareResult> {
  try {
    await declare();
    return { status: "declared" };
  } catch (error) {
    if (error instanceof Unwritable) return { status: "refused", reason: error.message };
    if (!(error instanceof CallRefused)) throw error;
    const { code, text } = error.reason;
    const differs = code === PRECONDITION_FAILED && await exists();
    return { status: differs ? "differs" : "refused", reason: text };
  }
}

function isRefusedWith(error: unknown, code: number): boolean {
  return error instanceof CallRefused && error.reason.code === code;
}
