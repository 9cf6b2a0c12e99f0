/**
 * Messages as rows of an outbox: what a row can hold is decided before anything is written.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
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

/** Reads a row that was claimed. */
export function claimedRow(row: SqlRow, { format, exchange }: { format: OutboxFormat; exchange: string }): ClaimedRow {
  const id = String(row["id"]);
  const facts = {
    id,
    orderingKey: keyOf(row),
    attempts: readInteger(row["attempts"]),
    ageMs: Math.max(0, Number(row["age_ms"])),
  };
  const to = { exchange: String(row[exchange]), routingKey: String(row["routing_key"]) };
  try {
    const outbound = {
      ...to,
      messageId: id,
      persistent: true,
      mandatory: true,
      ...format.read(row),
    };
    return { ...facts, outbound };
  } catch (error) {
    if (error instanceof DecodeError) return { ...facts, ...to, unreadable: error };
    throw error;
  }
}

/** Reads a retired row. */
export function retiredRecord(row: SqlRow, { exchange }: { readonly exchange: string }): RetiredRecord {
  const lastError = row["last_error"];
  return {
    id: String(row["id"]),
    exchange: String(row[exchange]),
    routingKey: String(row["routing_key"]),
    orderingKey: keyOf(row),
    attempts: readInteger(row["attempts"]),
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
