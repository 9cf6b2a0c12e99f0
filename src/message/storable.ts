/**
 * Whether a message can wait in a table (contract patterns 5.3).
 *
 * @module
 */

import { type Outbound, outboundId } from "./outbound.ts";

/**
 * The id a message is kept under. A row has a place for what every AceMQ language keeps: exchange, routing key, body, content type
 * and headers. Whatever else a message has would be lost on the way, so it is refused.
 *
 * @throws {TypeError} saying what there is no place for
 */
export function assertStorable(outbound: Outbound): string {
  const id = outboundId(outbound);
  const problem = problemOf(outbound, id);
  if (problem === undefined) return id;
  throw new TypeError(`Cannot add message "${id}" to the outbox: ${problem}`);
}

function problemOf({ priority, expirationMs, replyTo = "" }: Outbound, id: string): string | undefined {
  if (id === "") return "it has no id";
  if (priority !== undefined) return "a row keeps no priority";
  if (expirationMs !== undefined) return "a row keeps no expiration, and the message would not be published with one";
  return replyTo === "" ? undefined : "a row keeps no reply address";
}
