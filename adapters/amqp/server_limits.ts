/**
 * What the broker can hold, from what it says of itself. The broker's version decides over local limits, and over no behaviour but
 * for a fault of it that has to be gone round; only what can be asked depends on its name.
 *
 * @module
 */

import { readText } from "../../src/message/read_value.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type { BrokerLimits } from "../../src/ports/broker.ts";
import { FRAME_OVERHEAD } from "./wire/frames.ts";

/** RabbitMQ from 4.0. */
const MAX_BODY_BYTES = 16_777_216;
/** RabbitMQ before 4.0. */
const MAX_BODY_BYTES_BEFORE_4 = 134_217_728;

/** Looking a confirm up is cheap here; this bounds what one lane can lose track of when a link breaks. */
const MAX_UNCONFIRMED_PER_LANE = 256;

/** What is known of a connection when it opens. */
export interface ServerFacts {
  readonly frameMax: number;
  readonly properties: WireTable;
  /** The caller knows better. */
  readonly maxMessageBytes: number | undefined;
}

/** The limits of an open connection. */
export function limitsOf({ frameMax, properties, maxMessageBytes }: ServerFacts): BrokerLimits {
  return {
    maxHeaderBytes: frameMax - FRAME_OVERHEAD,
    maxBodyBytes: maxMessageBytes ?? defaultMaxBodyBytes(properties),
    maxUnconfirmedPerLane: MAX_UNCONFIRMED_PER_LANE,
  };
}

/** Whether the broker says that it is RabbitMQ. */
export function isRabbit(properties: WireTable): boolean {
  return readText(properties["product"]) === "RabbitMQ";
}

/** The first number of RabbitMQ's version; undefined for another broker, and for one that does not say. */
export function rabbitMajor(properties: WireTable): number | undefined {
  const major = Number.parseInt(readText(properties["version"]) ?? "", 10);
  return isRabbit(properties) && !Number.isNaN(major) ? major : undefined;
}

function defaultMaxBodyBytes(properties: WireTable): number {
  return (rabbitMajor(properties) ?? 0) >= 4 ? MAX_BODY_BYTES : MAX_BODY_BYTES_BEFORE_4;
}
