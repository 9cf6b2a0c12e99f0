/**
 * A message as a broker hands it over, before anything is understood of it.
 *
 * @module
 */

import type { WireTable } from "./wire_value.ts";

/** The AMQP basic properties the contract reads; the others are ignored (contract core 1.2). */
export interface ReceivedProperties {
  /** Names the format of the body; absent and empty alike mean that none was named. */
  readonly contentType?: string | undefined;
  /** The id of a message that has none in its headers. */
  readonly messageId?: string | undefined;
  /** Where a request wants its answer, unless a header says otherwise. */
  readonly replyTo?: string | undefined;
  /** 1 transient, 2 persistent. */
  readonly deliveryMode?: number | undefined;
  /** 0 to 255. */
  readonly priority?: number | undefined;
  /** Time to live in the queue: decimal text of milliseconds. */
  readonly expiration?: string | undefined;
}

/** One message off the wire. */
export interface ReceivedMessage {
  /** Empty for the default exchange. */
  readonly exchange: string;
  /** The key of this trip; the name of the queue when it came through the default exchange. */
  readonly routingKey: string;
  /** The broker says it may have been delivered before. */
  readonly redelivered: boolean;
  /** As they came, empty texts included. */
  readonly properties: ReceivedProperties;
  /** Every header as it came, with its wire kind. */
  readonly headers: WireTable;
  /** The body; nobody else writes to these bytes. */
  readonly body: Uint8Array;
}
