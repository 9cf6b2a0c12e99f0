/**
 * How a column holds an instant, and whose clock decides.
 *
 * PostgreSQL's own clock does, so that processes whose clocks disagree agree on a lease. On SQLite, a file of one machine, it is the
 * store's clock.
 *
 * @module
 */

import { type Fragment, type Hole, raw, sql } from "./fragment.ts";

/** What a statement is told of the time; PostgreSQL does not look at it. */
export interface Moment {
  /** By the store's clock. */
  readonly nowMs: number;
}

/** Instants of one column kind. */
export interface Instants {
  /** The value for an instant so long from now. */
  at(offsetMs: number): Fragment<Moment>;
  /** Whether the instant in a column, moved by an offset, has come. */
  hasCome(column: string, offsetMs?: number): Fragment<Moment>;
  /** The instant in a column as a text that compares equal to itself alone. */
  asText(column: string): Fragment;
  /** Whether the instant in a column is the one `asText` gave. */
  is<Facts>(column: string, text: Hole<Facts>): Fragment<Facts>;
}

/** `statement_timestamp()` stands still within a statement, so an index can be used; within a transaction it goes on. */
const NOW = "statement_timestamp()";

function postgresInstants(now: string, type: string): Instants {
  const moved = (ms: number): Fragment =>
    ms === 0 ? raw(now) : sql`${raw(now)} + ${ms}::float8 * interval '1 millisecond'`;
  return {
    at: moved,
    hasCome: (column, offsetMs = 0) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    asText: (column) => raw(`to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`),
    // As a text first: a driver that knows the parameter for a time would round it.
    is: (column, text) => sql`${raw(column)} = ${text}::text::${raw(type)}`,
  };
}

/** PostgreSQL, `TIMESTAMP WITH TIME ZONE`. */
export function timestampWithZone(): Instants {
  return postgresInstants(NOW, "timestamptz");
}

/** PostgreSQL, `TIMESTAMP`: the languages that use it write UTC. */
export function timestampInUtc(): Instants {
  return postgresInstants(`(${NOW} AT TIME ZONE 'UTC')`, "timestamp");
}

/** PostgreSQL, `BIGINT`: milliseconds since 1970. */
export function postgresMillis(): Instants {
  const moved = (ms: number): Fragment =>
    sql`floor(extract(epoch FROM ${raw(NOW)}) * 1000)::bigint + ${Math.round(ms)}::bigint`;
  return {
    at: moved,
    hasCome: (column, offsetMs = 0) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    asText: (column) => raw(`${column}::text`),
    is: (column, text) => sql`${raw(column)} = ${text}::text::bigint`,
  };
}

/** SQLite, milliseconds since 1970 as an integer. */
export function sqliteMillis(): Instants {
  return sqliteInstants((ms) => Math.floor(ms));
}

/** SQLite, a text of one width: `2026-09-09T14:00:00.000000Z`. */
export function sqliteText(): Instants {
  return sqliteInstants((ms) => `${new Date(Math.floor(ms)).toISOString().slice(0, -1)}000Z`);
}

/**
 * SQLite, as Go's and .NET's drivers write it, with a zone or without: `2026-09-09 14:00:02.123+00:00`. What is below a millisecond is
 * kept, since the text is a claim's token there.
 */
export function sqliteSpacedText(zone: string): Instants {
  return sqliteInstants((ms) => {
    const [day, time = ""] = new Date(Math.floor(ms)).toISOString().replace("Z", "").split("T");
    const micros = String(Math.floor((ms % 1) * 1_000)).padStart(3, "0");
    return `${day} ${`${time}${micros}`.replace(/\.?0+$/, "")}${zone}`;
  });
}

function sqliteInstants(write: (ms: number) => string | number): Instants {
  return {
    at: (offsetMs) => sql`${({ nowMs }: Moment) => write(nowMs + offsetMs)}`,
    hasCome: (column, offsetMs = 0) => {
      const limit = ({ nowMs }: Moment): number => Math.floor(nowMs - offsetMs);
      return sql`${millisOf(column)} <= ${limit}`;
    },
    asText: (column) => raw(`CAST(${column} AS TEXT)`),
    is: (column, text) => sql`CAST(${raw(column)} AS TEXT) = ${text}`,
  };
}

/**
 * Milliseconds of whatever stands in a column: SQLite lets an integer and texts of any width live side by side, and would compare them
 * by their kind. SQLite rounds to milliseconds. One driver of Go writes ` +0000 UTC` where the others have a zone SQLite knows.
 */
function millisOf(column: string): Fragment {
  const readable = `replace(${column}, ' +0000 UTC', 'Z')`;
  return raw(
    `CASE typeof(${column}) WHEN 'text' THEN CAST(round((julianday(${readable}) - 2440587.5) * 86400000) AS INTEGER) ` +
      `ELSE CAST(${column} AS INTEGER) END`,
  );
}
