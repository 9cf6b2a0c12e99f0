/**
 * Comparing what is to be declared with what the broker has, without creating it.
 *
 * The broker judges, by its numbers: a passive question first, and only where that finds something the declaration itself, both on
 * one channel that is given up afterwards. Something that vanishes between the two would be created by the second; nothing in AMQP
 * closes that window of one round trip.
 *
 * @module
 */

import type { CompareResult } from "../../src/ports/broker.ts";
import type { ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { unaskable } from "./admin.ts";
import { CallRefused, type Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import * as calls from "./wire/calls.ts";
import { Unwritable } from "./wire/unwritable.ts";

const NOT_FOUND = 404;
const RESOURCE_LOCKED = 405;
const PRECONDITION_FAILED = 406;

export async function compareExchange(link: Link, spec: ExchangeSpec): Promise<CompareResult> {
  const reason = unaskable(spec);
  if (reason !== undefined) return { status: "refused", reason };
  return await comparing(link, { check: calls.checkExchange(spec.name), declare: calls.declareExchange(spec) });
}

export async function compareQueue(link: Link, spec: QueueSpec): Promise<CompareResult> {
  const reason = unaskable(spec);
  if (reason !== undefined) return { status: "refused", reason };
  return await comparing(link, { check: calls.checkQueue(spec.name), declare: calls.declareQueue(spec) });
}

/** The same thing asked for twice: whether it is there, and whether it may be declared. */
interface Questions {
  readonly check: calls.Call;
  readonly declare: calls.Call;
}

async function comparing(link: Link, { check, declare }: Questions): Promise<CompareResult> {
  const channel = await link.openChannel();
  const ask = (call: calls.Call): Promise<Refused | undefined> => refusalOf(link, channel, call);
  try {
    const missing = await ask(check);
    if (missing !== undefined) {
      return { status: missing.code === NOT_FOUND ? "absent" : "refused", reason: missing.text };
    }
    const other = await ask(declare);
    if (other === undefined) return { status: "same" };
    // What another connection holds is refused to the passive question already: here, 405 is about the property itself.
    const differs = other.code === PRECONDITION_FAILED || other.code === RESOURCE_LOCKED;
    return { status: differs ? "differs" : "refused", reason: other.text };
  } finally {
    void channel.leave();
  }
}

/** Why a call was refused; without a number when it could not be written. */
interface Refused {
  readonly code?: number;
  readonly text: string;
}

/** Undefined when the call was answered; a lost connection is thrown. */
async function refusalOf(link: Link, channel: LinkChannel, call: calls.Call): Promise<Refused | undefined> {
  try {
    await link.call(channel, call);
    return undefined;
  } catch (error) {
    if (error instanceof Unwritable) return { text: error.message };
    if (error instanceof CallRefused) return error.reason;
    throw error;
  }
}
