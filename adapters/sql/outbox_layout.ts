/**
 * The layouts of an outbox table as data (contract patterns 5.2).
 *
 * @module
 */

/**
 * Which layout a table has, by the language whose library made it. `typescript` is Ruby's with two columns more, which Ruby's
 * statements never touch.
 */
export type OutboxLayoutName = "typescript" | "ruby" | "java" | "python" | "go" | "dotnet";

/** All of them. */
export const OUTBOX_LAYOUTS: readonly OutboxLayoutName[] = ["typescript", "ruby", "java", "python", "go", "dotnet"];

/** The columns of a layout that is not ours, in their order. */
export type ForeignOutboxLayout = Exclude<OutboxLayoutName, "typescript">;

/** What a layout has, and what its columns are called. */
export interface OutboxColumns {
  /** All of them, in their order. */
  readonly names: readonly string[];
  /** Of the exchange. */
  readonly exchange: "exchange_name" | "exchange";
  /** How the message is kept. */
  readonly format: "text" | "bytes" | "envelope";
  /** Of the logical type, where the envelope has columns of its own. */
  readonly type?: "message_type" | "type";
  /** What becomes of a row that was published. */
  readonly published: "published_at" | "published" | "deleted";
  /** Characters of an id. */
  readonly longestId: number;
}

/** Who claimed a row stands in it, where the layout has a place for it. */
const LEASED: readonly string[] = ["created_at", "published_at", "attempts", "last_error", "locked_by", "locked_until"];

/** The layouts. Python's names are among Ruby's: the one with more of them is looked for first. */
export const OUTBOX_COLUMNS: Readonly<Record<ForeignOutboxLayout, OutboxColumns>> = {
  ruby: {
    names: ["id", "exchange_name", "routing_key", "body", "body_encoding", "content_type", "headers", ...LEASED],
    exchange: "exchange_name",
    format: "text",
    published: "published_at",
    longestId: 64,
  },
  java: {
    names: [
      "id",
      "exchange_name",
      "routing_key",
      "message_type",
      "payload",
      "correlation_id",
      "causation_id",
      ...LEASED,
    ],
    exchange: "exchange_name",
    format: "envelope",
    type: "message_type",
    published: "published_at",
    longestId: 64,
  },
  dotnet: {
    names: [
      "id",
      "exchange",
      "routing_key",
      "type",
      "payload",
      "correlation_id",
      "causation_id",
      "created_at",
      "attempts",
      "last_error",
      "published",
      "leased_until",
    ],
    exchange: "exchange",
    format: "envelope",
    type: "type",
    published: "published",
    longestId: 64,
  },
  go: {
    names: [
      "id",
      "exchange",
      "routing_key",
      "body",
      "content_type",
      "headers",
      "created_at",
      "attempts",
      "last_error",
    ],
    exchange: "exchange",
    format: "bytes",
    published: "deleted",
    longestId: 255,
  },
  python: {
    names: [
      "id",
      "exchange_name",
      "routing_key",
      "body",
      "content_type",
      "headers",
      "created_at",
      "attempts",
      "last_error",
    ],
    exchange: "exchange_name",
    format: "bytes",
    published: "deleted",
    longestId: 64,
  },
};

/** Of an ordering key: with it, rows leave in order. */
export const KEY_COLUMN = "ordering_key";

/** Of the write sequence on PostgreSQL; SQLite has its rowid. */
export const SEQUENCE_COLUMN = "seq";

/** The columns of a layout; ours are Ruby's. */
export function outboxColumns(layout: OutboxLayoutName): OutboxColumns {
  return OUTBOX_COLUMNS[layout === "typescript" ? "ruby" : layout];
}
