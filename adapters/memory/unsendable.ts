/**
 * What keeps a message from being sent at all: it has no place on the wire, or is larger than the broker takes.
 *
 * @module
 */

import type { Outbound } from "../../src/message/outbound.ts";
import { contentHeaderSize } from "../../src/message/wire_size.ts";
import type { BrokerLimits } from "../../src/ports/broker.ts";
import { problemOfShortText } from "./wire_names.ts";

/** What one message may have, bytes. */
export interface MessageLimits extends BrokerLimits {
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
}

const HIGHEST_PRIORITY = 255;

/** Why nothing of a message is written; undefined when it can be, as far as its headers can. */
export function unsendable(outbound: Outbound, { maxBodyBytes, maxHeaderBytes }: MessageLimits): string | undefined {
  const { body, exchange, routingKey, contentType, replyTo } = outbound;
  if (body.byteLength > maxBodyBytes) {
    return `the body takes ${body.byteLength} bytes, the broker allows ${maxBodyBytes}`;
  }
  const problem = problemOf("exchange", exchange) ?? problemOf("routing key", routingKey) ??
    problemOf("content type", contentType) ?? problemOf("reply-to", replyTo) ?? problemOfNumbers(outbound);
  if (problem !== undefined) return problem;
  const size = contentHeaderSize(outbound);
  return size > maxHeaderBytes ? `the headers take ${size} bytes, a frame holds ${maxHeaderBytes}` : undefined;
}

function problemOf(what: string, text = ""): string | undefined {
  const problem = problemOfShortText(text);
  return problem === undefined ? undefined : `the ${what} ${problem}`;
}

function problemOfNumbers({ priority = 0, expirationMs = 0 }: Outbound): string | undefined {
  if (!Number.isInteger(priority) || priority < 0 || priority > HIGHEST_PRIORITY) {
    return `the priority must be a whole number from 0 to ${HIGHEST_PRIORITY}, found ${priority}`;
  }
  if (Number.isSafeInteger(expirationMs) && expirationMs >= 0) return undefined;
  return `the expiration must be a whole number of milliseconds, found ${expirationMs}`;
}
