/**
 * What was declared, as something that can be declared again.
 *
 * @module
 */

import { describeError } from "../../src/errors.ts";
import type { DeclareResult } from "../../src/ports/broker.ts";
import { bindingKey, type Declared } from "../../src/topology/declared.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { bindQueue, declareExchange, declareQueue } from "./admin.ts";
import type { Link } from "./link.ts";

/** One object of the broker's. */
export interface Declaration {
  /** Tells it from every other. */
  readonly key: string;
  /** What it is called in an event. */
  readonly object: string;
  readonly declare: (link: Link) => Promise<DeclareResult>;
  /** Whether it was not deleted or declared otherwise since. */
  readonly isWanted: () => boolean;
  /** Whether any connection may declare it. */
  readonly isShared: boolean;
}

/** An exchange, unless it was deleted. */
export function exchangeDeclarations(declared: Declared, name: string): readonly Declaration[] {
  const spec = declared.exchange(name);
  return spec === undefined ? [] : [exchangeDeclaration(declared, spec)];
}

/** A queue, unless it was deleted, then its bindings. */
export function queueDeclarations(declared: Declared, name: string): readonly Declaration[] {
  const spec = declared.queue(name);
  const queues = spec === undefined ? [] : [queueDeclaration(declared, spec)];
  return [...queues, ...declared.bindingsOf(name).map((binding) => bindingDeclaration(declared, binding))];
}

/** Declares; why it does not stand, undefined when it does. */
export async function failureOf(link: Link, { declare }: Declaration): Promise<string | undefined> {
  try {
    const result = await declare(link);
    return result.status === "declared" ? undefined : result.reason;
  } catch (error) {
    return link.fault ?? describeError(error);
  }
}

function exchangeDeclaration(declared: Declared, spec: ExchangeSpec): Declaration {
  const object = `exchange "${spec.name}"`;
  return {
    key: object,
    object,
    declare: (link) => declareExchange(link, spec),
    isWanted: () => declared.exchange(spec.name) === spec,
    isShared: true,
  };
}

function queueDeclaration(declared: Declared, spec: QueueSpec): Declaration {
  const object = `queue "${spec.name}"`;
  return {
    key: object,
    object,
    declare: (link) => declareQueue(link, spec),
    isWanted: () => declared.queue(spec.name) === spec,
    isShared: !spec.exclusive,
  };
}

function bindingDeclaration(declared: Declared, spec: BindingSpec): Declaration {
  return {
    key: `binding ${bindingKey(spec)}`,
    object: `binding of "${spec.queue}" to "${spec.exchange}" with key "${spec.routingKey}"`,
    declare: (link) => bindQueue(link, spec),
    isWanted: () => declared.bindingsOf(spec.queue).includes(spec),
    isShared: declared.queue(spec.queue)?.exclusive !== true,
  };
}
