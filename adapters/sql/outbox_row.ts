/**
 * Messages as rows of an outbox: what a row can hold is decided before anything is written.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { describeKind } from "../../src/internal/option_kinds.ts";
import { assertStorable, problemOfText, unstorable } from "../../src/message/storable.ts";
import type { ClaimedRow, RetiredRecord } from "../../src/ports/outbox_store.ts";
import type { SqlRow, SqlValue } from "../../src/ports/sql_session.ts";
import type { OutboxFormat } from "./outbox_format.ts";
import { readInteger } from "./values.ts";

/** A message as a table holds it. */
export interface StoredMessage {
  readonly id: string;
  readonly exchange: string;
  readonly routingKey: string;
  /** In the order of the format's columns. */
  readonly content: readonly SqlValue[];
}

/** Characters of an exchange, a routing key and a content type. */
const LONGEST_NAME = 255;

/**
 * Makes a row of a message.
 *
 * @throws {PublishError} with the code `ACEMQ_PUBLISH_REFUSED`: the message is one no row can hold as it is
 */
export function storedMessage(
  outbound: Outbound,
  { format, longestId }: { readonly format: OutboxFormat; readonly longestId: number },
): StoredMessage {
  const { exchange, routingKey } = outbound;
  const id = assertStorable(outbound, (found) => problemOf(outbound, found, longestId));
  const content = format.store(outbound);
  if ("values" in content) return { id, exchange, routingKey, content: content.values };
  throw unstorable(outbound, content.problem);
}

/** Reads a row that was claimed. Never throws: it is in the caller's hands already, and others with it. */
export function claimedRow(row: SqlRow, { format, exchange }: { format: OutboxFormat; exchange: string }): ClaimedRow {
  const id = shownText(row["id"]);
  const facts = {
    id,
    orderingKey: keyOf(row),
    attempts: countOf(row["attempts"]) ?? 0,
    ageMs: Math.max(0, Number(row["age_ms"])),
  };
  const to = { exchange: shownText(row[exchange]), routingKey: shownText(row["routing_key"]) };
  try {
    assertKinds(row, ["id", exchange, "routing_key"]);
    const outbound = {
      ...to,
      messageId: id,
      persistent: true,
      mandatory: true,
      ...format.read(row),
    };
    return { ...facts, outbound };
  } catch (error) {
    return { ...facts, ...to, unreadable: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Reads a retired row. */
export function retiredRecord(row: SqlRow, { exchange }: { readonly exchange: string }): RetiredRecord {
  const lastError = row["last_error"];
  return {
    id: shownText(row["id"]),
    exchange: shownText(row[exchange]),
    routingKey: shownText(row["routing_key"]),
    orderingKey: keyOf(row),
    attempts: countOf(row["attempts"]) ?? 0,
    lastError: typeof lastError === "string" ? lastError : undefined,
    createdAt: new Date(Math.floor(Number(row["created_ms"]))),
  };
}

function problemOf(
  { exchange, routingKey, contentType = "" }: Outbound,
  id: string,
  longestId: number,
): string | undefined {
  return problemOfText("its id", id, longestId) ??
    problemOfText("its exchange", exchange, LONGEST_NAME) ??
    problemOfText("its routing key", routingKey, LONGEST_NAME) ??
    problemOfText("its content type", contentType, LONGEST_NAME);
}

function keyOf(row: SqlRow): string | undefined {
  const key = row["ordering_key"];
  return typeof key === "string" && key !== "" ? key : undefined;
}

/** SQLite keeps any kind in any column: bytes of an id, say, are no text to it, and no text finds them. */
function assertKinds(row: SqlRow, texts: readonly string[]): void {
  for (const column of texts) {
    if (typeof row[column] === "string") continue;
    throw new DecodeError(`Cannot read the column "${column}": text is wanted, found ${describeKind(row[column])}`);
  }
  if (countOf(row["attempts"]) === undefined) {
    throw new DecodeError('Cannot read the column "attempts": a whole number is wanted');
  }
}

/** A column's text; of anything else what comes near it, for a person. */
function shownText(value: unknown): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
}

function countOf(value: unknown): number | undefined {
  try {
    return readInteger(value);
  } catch {
    return undefined;
  }
}
