/**
 * How a layout keeps a message: text with its encoding, bytes, or a payload beside columns of the envelope (contract patterns 5.3).
 *
 * @module
 */

import { parseContentType } from "../../src/codec/content_type.ts";
import { DecodeError } from "../../src/errors.ts";
import {
  HEADER_ATTEMPT,
  HEADER_CAUSATION,
  HEADER_CORRELATION,
  HEADER_FIRST_SEEN,
  HEADER_ID,
  HEADER_ORIGIN,
  HEADER_TYPE,
  HEADER_VERSION,
} from "../../src/message/header_names.ts";
import { type Outbound, outboundId, outboundType } from "../../src/message/outbound.ts";
import { own } from "../../src/message/parse_envelope.ts";
import { readInteger, readText } from "../../src/message/read_value.ts";
import type { WireTable } from "../../src/message/wire_value.ts";
import type { SqlRow, SqlValue } from "../../src/ports/sql_session.ts";
import type { SqlDialect } from "./dialect.ts";
import { bytesOf, readBody, storeBody, textOfBody } from "./outbox_body.ts";
import { formatHeaders, parseHeaders } from "./outbox_headers.ts";
import type { OutboxColumns } from "./outbox_layout.ts";

/** What the columns hold for a message, or why they cannot. */
export type StoredContent = { readonly values: readonly SqlValue[] } | { readonly problem: string };

/** What a row says beside where it goes. */
export type Content = Pick<Outbound, "body" | "contentType" | "headers">;

/** The columns of a message's content. */
export interface OutboxFormat {
  /** Their names, in the order of the values. */
  readonly columns: readonly string[];
  /** The same as they are asked for. */
  readonly selected: string;
  /** Writes a message. */
  store(outbound: Outbound): StoredContent;
  /** Reads a row, which has `id` and `created_ms` too. Throws a `DecodeError`. */
  read(row: SqlRow): Content;
}

/** How a message is kept, and what of it may be lost. */
export interface FormatOptions {
  readonly dialect: SqlDialect;
  /** Whether headers that have no column may be dropped. */
  readonly dropHeaders: boolean;
}

/** The format of a layout. */
export function outboxFormat(columns: OutboxColumns, options: FormatOptions): OutboxFormat {
  switch (columns.format) {
    case "text":
      return textFormat(options);
    case "bytes":
      return bytesFormat();
    default:
      return envelopeFormat(columns, options);
  }
}

/** Ruby's. SQLite is asked for bytes: a text with NUL in it, as others write it, ends early in some drivers. */
function textFormat({ dialect }: FormatOptions): OutboxFormat {
  return {
    columns: ["body", "body_encoding", "content_type", "headers"],
    selected: `${exactly(dialect, "body")}, body_encoding, content_type, headers`,
    store: (outbound) => {
      const headers = formatHeaders(outbound.headers);
      if ("problem" in headers) return headers;
      const { text, encoding } = storeBody(outbound.body);
      return { values: [text, encoding, outbound.contentType ?? "", headers.text] };
    },
    read: (row) => ({
      body: readBody(row["body"], String(row["body_encoding"])),
      contentType: contentTypeOf(row),
      headers: parseHeaders(String(row["headers"])),
    }),
  };
}

/** Python's and Go's. */
function bytesFormat(): OutboxFormat {
  return {
    columns: ["body", "content_type", "headers"],
    selected: "body, content_type, headers",
    store: (outbound) => {
      const headers = formatHeaders(outbound.headers);
      return "problem" in headers ? headers : { values: [outbound.body, outbound.contentType ?? "", headers.text] };
    },
    read: (row) => ({
      body: bytesOf(row["body"]),
      contentType: contentTypeOf(row),
      headers: parseHeaders(String(row["headers"])),
    }),
  };
}

/** Headers that have a column, and those every message has and no column: whoever relays the row makes them anew. */
const KNOWN_HEADERS: readonly string[] = [
  HEADER_ID,
  HEADER_TYPE,
  HEADER_CORRELATION,
  HEADER_CAUSATION,
  HEADER_VERSION,
  HEADER_ATTEMPT,
  HEADER_FIRST_SEEN,
  HEADER_ORIGIN,
];

/** Java's and .NET's: text of JSON and four facts of the envelope, nothing else. */
function envelopeFormat({ type = "type" }: OutboxColumns, { dialect, dropHeaders }: FormatOptions): OutboxFormat {
  return {
    columns: [type, "payload", "correlation_id", "causation_id"],
    selected: `${type} AS type, ${exactly(dialect, "payload")}, correlation_id, causation_id`,
    store: (outbound) => {
      const text = textOfBody(outbound.body);
      const problem = problemOfEnvelope(outbound, text, dropHeaders);
      if (text === undefined || problem !== undefined) return { problem: problem ?? "its body is no text" };
      const { headers } = outbound;
      const correlation = readText(own(headers, HEADER_CORRELATION)) ?? outboundId(outbound);
      return { values: [outboundType(outbound), text, correlation, readText(own(headers, HEADER_CAUSATION)) ?? null] };
    },
    read: (row) => ({
      body: bytesOf(row["payload"]),
      contentType: "application/json",
      headers: freshHeaders(row),
    }),
  };
}

function problemOfEnvelope(outbound: Outbound, text: string | undefined, dropHeaders: boolean): string | undefined {
  const { headers, contentType = "" } = outbound;
  if (text === undefined) return "its body is not text, and the table keeps no bytes";
  if (parseContentType(contentType)?.essence !== "application/json") {
    return `its content type is ${JSON.stringify(contentType)}, and whoever relays the row says application/json`;
  }
  const version = readInteger(own(headers, HEADER_VERSION)) ?? 1;
  if (version !== 1) return `its version is ${version}, and whoever relays the row says 1`;
  const type = outboundType(outbound);
  if ([...type].length > 255) return "its type is longer than the 255 characters of its column";
  for (const name of [HEADER_CORRELATION, HEADER_CAUSATION]) {
    const value = readText(own(headers, name)) ?? "";
    if ([...value].length > 64) return `header ${JSON.stringify(name)} is longer than the 64 characters of its column`;
  }
  const lost = Object.keys(headers).filter((name) => !KNOWN_HEADERS.includes(name));
  if (lost.length === 0 || dropHeaders) return undefined;
  return `the table has no column for ${lost.map((name) => JSON.stringify(name)).join(", ")}; ` +
    "with 'dropHeaders: true' the store leaves such headers out";
}

/** As the library of the layout makes them when it relays the row, but that the first sight is when the row was written. */
function freshHeaders(row: SqlRow): WireTable {
  const id = String(row["id"]);
  const causation = row["causation_id"];
  return {
    [HEADER_ID]: id,
    [HEADER_TYPE]: String(row["type"]),
    [HEADER_VERSION]: 1,
    [HEADER_CORRELATION]: String(row["correlation_id"] ?? id),
    [HEADER_ATTEMPT]: 1,
    [HEADER_FIRST_SEEN]: BigInt(Math.trunc(Number(row["created_ms"]))),
    ...(typeof causation === "string" && causation !== "" ? { [HEADER_CAUSATION]: causation } : {}),
  };
}

function exactly(dialect: SqlDialect, column: string): string {
  return dialect.name === "sqlite" ? `CAST(${column} AS BLOB) AS ${column}` : column;
}

/** The column is never NULL; an empty one stands for none. */
function contentTypeOf(row: SqlRow): string | undefined {
  const type = row["content_type"];
  if (type === "" || type === null) return undefined;
  if (typeof type === "string") return type;
  throw new DecodeError("Cannot read the content type: text is wanted");
}
