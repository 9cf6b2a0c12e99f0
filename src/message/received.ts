/**
 * A message as a broker hands it over, before anything is understood of it.
 *
 * @module
 */

import type { WireTable } from "./wire_value.ts";

/** The AMQP basic properties the contract reads; the others are ignored (contract core 1.2). */
export interface ReceivedProperties {
  readonly contentType?: string | undefined;
  readonly messageId?: string | undefined;
  readonly replyTo?: string | undefined;
  /** 1 transient, 2 persistent. */
  readonly deliveryMode?: number | undefined;
  readonly priority?: number | undefined;
  readonly expiration?: string | undefined;
}

/** One message off the wire. */
export interface ReceivedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** The broker says it may have been delivered before. */
  readonly redelivered: boolean;
  readonly properties: ReceivedProperties;
  /** Every header as it came, with its wire kind. */
  readonly headers: WireTable;
  /** The body; nobody else writes to these bytes. */
  readonly body: Uint8Array;
}
