/**
 * Whether a message can wait in a table (contract patterns 5.3).
 *
 * @module
 */

import { PublishError } from "../errors.ts";
import { describeKind } from "../internal/option_kinds.ts";
import { type Outbound, outboundId } from "./outbound.ts";

/** Characters of an ordering key. */
const LONGEST_KEY = 255;

/**
 * The id a message is kept under. A row has a place for what every AceMQ language keeps: exchange, routing key, body, content type
 * and headers; and it is published as persistent and mandatory. Whatever else a message says would be lost on the way, so it is
 * refused.
 *
 * @param problem what else is wrong with it, where it is kept
 * @throws {PublishError} with the code `ACEMQ_PUBLISH_REFUSED`, saying what there is no place for
 */
export function assertStorable(
  outbound: Outbound,
  problem: (id: string) => string | undefined = () => undefined,
): string {
  const id = outboundId(outbound);
  const found = problemOf(outbound, id) ?? problem(id);
  if (found !== undefined) throw unstorable(outbound, found);
  return id;
}

/**
 * The ordering key a row is kept with; an empty one is none.
 *
 * @throws {TypeError} it is no text
 * @throws {RangeError} a text no column keeps
 */
export function assertOrderingKey(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key !== "string") {
    throw new TypeError(`Cannot use option 'orderingKey': it must be text, found ${describeKind(key)}`);
  }
  const problem = problemOfText("option 'orderingKey'", key, LONGEST_KEY);
  if (problem !== undefined) throw new RangeError(`Cannot use ${problem}`);
  return key === "" ? undefined : key;
}

/** Why a column of so many characters does not keep a text as it is; undefined where it does. */
export function problemOfText(what: string, text: string, longest: number): string | undefined {
  // Characters are counted only where there may be too many: never more than code units.
  const length = text.length > longest ? [...text].length : text.length;
  if (length > longest) return `${what}: it has ${length} characters, and ${longest} can be kept`;
  if (text.includes("\0")) return `${what}: it has a NUL character, which a database does not keep`;
  return text.isWellFormed() ? undefined : `${what}: it has half a character in it, which a database does not keep`;
}

/** The error for a message that cannot be kept as it is. */
export function unstorable(outbound: Outbound, problem: string): PublishError {
  const { exchange, routingKey } = outbound;
  return new PublishError({
    code: "ACEMQ_PUBLISH_REFUSED",
    exchange,
    routingKey,
    messageId: outboundId(outbound),
    reason: `an outbox cannot keep it: ${problem}`,
  });
}

function problemOf(outbound: Outbound, id: string): string | undefined {
  const { priority, expirationMs, replyTo = "", persistent, mandatory, messageId = id } = outbound;
  if (id === "") return "it has no id";
  if (!id.isWellFormed()) return "its id has half a character in it";
  if (messageId !== id) return "its property messageId is another one than its header x-acemq-id";
  if (priority !== undefined) return "a row has no 'priority'";
  if (expirationMs !== undefined) return "a row has no 'expirationMs', and the message would be published without one";
  if (replyTo !== "") return "a row has no 'replyTo'";
  if (!persistent) return "a row is published as persistent, and 'persistent' is false";
  return mandatory ? undefined : "a row is published as mandatory, and 'mandatory' is false";
}
