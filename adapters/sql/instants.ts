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
  /** How far that is ahead of what was written before it was set. @default {0} */
  readonly leadMs?: number;
}

/** Instants the database gave as texts. */
export interface GivenInstants {
  /** The time, as `asText` would give it. */
  readonly now: Fragment;
  /** The value for what it gave. */
  of<Facts>(text: Hole<Facts>): Fragment<Facts>;
  /** Whether the instant in a column is one of those, with commas between. */
  isOneOf<Facts>(column: string, texts: Hole<Facts>): Fragment<Facts>;
}

/** Instants of one column kind. */
export interface Instants {
  /** The value for an instant so long from now. */
  at(offsetMs: number): Fragment<Moment>;
  /** The value for an instant so long from now as a column says, milliseconds. */
  after(column: string): Fragment<Moment>;
  /** What tells two instants apart, milliseconds. */
  readonly stepMs: number;
  /** Whether the store's clock decides. */
  readonly isByStore: boolean;
  /** Whether the instant in a column, moved by an offset, has come, by a clock that is ahead of what was written. */
  hasCome<Facts extends Moment>(column: string, offsetMs: number, leadMs: (facts: Facts) => number): Fragment<Facts>;
  /**
   * Whether the instant in a column, moved by an offset, may have come: true of all that have, and of what comes within the second. It
   * is what an index on the column can tell, however wide its texts are.
   */
  mayHaveCome(column: string, offsetMs: number): Fragment<Moment>;
  /** Whether the instant in a column lies before now, moved by an offset and by the lead; as an index on the column would have it. */
  isBefore(column: string, offsetMs?: number): Fragment<Moment>;
  /** How long ago the instant in a column was, milliseconds. */
  ageMs(column: string): Fragment<Moment>;
  /** The instant in a column, milliseconds since 1970. */
  epochMs(column: string): Fragment;
  /** The instant in a column as a text that compares equal to itself alone. */
  asText(column: string): Fragment;
  /** Whether the instant in a column is the one `asText` gave. */
  is<Facts>(column: string, text: Hole<Facts>): Fragment<Facts>;
  /** Where the database's clock decides, an instant of it can be had before it is written. */
  readonly given?: GivenInstants;
}

/** `statement_timestamp()` stands still within a statement, so an index can be used; within a transaction it goes on. */
const NOW = "statement_timestamp()";

function postgresInstants(now: string, type: string): Instants {
  const asText = (time: string): Fragment => raw(`to_char(${time}, 'YYYY-MM-DD HH24:MI:SS.US')`);
  // As a text first: a driver that knows the parameter for a time would round it.
  const of = <Facts>(text: Hole<Facts>): Fragment<Facts> => sql`${text}::text::${raw(type)}`;
  const moved = (ms: number): Fragment =>
    ms === 0 ? raw(now) : sql`${raw(now)} + ${ms}::float8 * interval '1 millisecond'`;
  return {
    at: moved,
    after: (column) => raw(`${now} + ${column} * interval '1 millisecond'`),
    stepMs: 0.001,
    isByStore: false,
    hasCome: (column, offsetMs) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    mayHaveCome: (column, offsetMs) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    isBefore: (column, offsetMs = 0) => sql`${raw(column)} < ${moved(offsetMs)}`,
    ageMs: (column) => raw(`(extract(epoch FROM ${now} - ${column}) * 1000)::float8`),
    epochMs: (column) => raw(`(extract(epoch FROM ${column}) * 1000)::float8`),
    asText,
    is: (column, text) => sql`${raw(column)} = ${of(text)}`,
    given: {
      now: asText(now),
      of,
      isOneOf: (column, texts) => sql`${raw(column)} = ANY (string_to_array(${texts}::text, ',')::${raw(type)}[])`,
    },
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
    after: (column) => raw(`(extract(epoch FROM ${NOW}) * 1000 + ${column})::bigint`),
    stepMs: 1,
    isByStore: false,
    hasCome: (column, offsetMs) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    mayHaveCome: (column, offsetMs) => sql`${raw(column)} <= ${moved(-offsetMs)}`,
    isBefore: (column, offsetMs = 0) => sql`${raw(column)} < ${moved(offsetMs)}`,
    ageMs: (column) => raw(`(extract(epoch FROM ${NOW}) * 1000 - ${column})::float8`),
    epochMs: (column) => raw(`${column}::float8`),
    asText: (column) => raw(`${column}::text`),
    is: (column, text) => sql`${raw(column)} = ${text}::text::bigint`,
  };
}

/** How an instant is written in SQLite. */
interface SqliteWriting {
  readonly write: (ms: number) => string | number;
  /** The same of milliseconds that the database adds up. */
  readonly written: (ms: Fragment<Moment>) => Fragment<Moment>;
  readonly stepMs: number;
  /** Whether all instants in a column are written alike, and compare as they are. */
  readonly sorts: boolean;
}

/** SQLite, milliseconds since 1970 as an integer. */
export function sqliteMillis(): Instants {
  return sqliteInstants({
    write: (ms) => Math.floor(ms),
    written: (ms) => sql`CAST(${ms} AS INTEGER)`,
    stepMs: 1,
    sorts: true,
  });
}

/** SQLite, a text of one width: `2026-09-09T14:00:00.000000Z`. */
export function sqliteText(): Instants {
  return textOfOneWidth((ms) => `${new Date(Math.floor(ms)).toISOString().slice(0, -1)}000Z`, 1);
}

/** The same with what is below a millisecond, in microseconds. */
export function sqliteMicrosText(): Instants {
  return textOfOneWidth((ms) => `${new Date(Math.floor(ms)).toISOString().slice(0, -1)}${microsOf(ms)}Z`, 0.001);
}

/** SQLite, as the driver of Go wrote `sample`: one of two writes the zone as nobody else does. */
export function sqliteGoText(sample: unknown): Instants {
  const isModernc = typeof sample === "string" && sample.endsWith(" UTC");
  return sqliteSpacedText(isModernc ? " +0000 UTC" : "+00:00");
}

/**
 * SQLite, as Go's and .NET's drivers write it, with a zone or without: `2026-09-09 14:00:02.123+00:00`. What is below a millisecond is
 * kept, since the text is a claim's token there.
 */
export function sqliteSpacedText(zone: string): Instants {
  return sqliteInstants({
    write: (ms) => {
      const [day, time = ""] = new Date(Math.floor(ms)).toISOString().replace("Z", "").split("T");
      return `${day} ${`${time}${microsOf(ms)}`.replace(/\.?0+$/, "")}${zone}`;
    },
    written: (ms) => sql`strftime(${`%Y-%m-%d %H:%M:%f${zone}`}, ${ms} / 1000.0, 'unixepoch')`,
    stepMs: 0.001,
    sorts: false,
  });
}

function textOfOneWidth(write: (ms: number) => string, stepMs: number): Instants {
  const written = (ms: Fragment<Moment>): Fragment<Moment> =>
    sql`strftime('%Y-%m-%dT%H:%M:%f000Z', ${ms} / 1000.0, 'unixepoch')`;
  return sqliteInstants({ write, written, stepMs, sorts: true });
}

/** Three digits. A number of this size has not enough for a microsecond's beginning: what is just below it is meant to be it. */
function microsOf(ms: number): string {
  return String(Math.min(999, Math.floor((ms % 1) * 1_000 + 0.25))).padStart(3, "0");
}

/** What all texts of an instant agree on. */
const SECOND_MS = 1_000;

function sqliteInstants({ write, written, stepMs, sorts }: SqliteWriting): Instants {
  const movedBy = (offsetMs: number) => ({ nowMs }: Moment): string | number => write(nowMs + offsetMs);
  const now = ({ nowMs }: Moment): number => Math.floor(nowMs);
  const limit = (offsetMs: number) => ({ nowMs, leadMs = 0 }: Moment): number => nowMs - leadMs + offsetMs;
  return {
    at: (offsetMs) => sql`${movedBy(offsetMs)}`,
    after: (column) => written(sql`(${now} + ${raw(column)})`),
    stepMs,
    isByStore: true,
    hasCome: <Facts extends Moment>(column: string, offsetMs: number, leadMs: (facts: Facts) => number) =>
      sql<Facts>`${millisOf(column)} <= ${(facts) => Math.floor(facts.nowMs - offsetMs - leadMs(facts))}`,
    // Texts of any width are alike up to the second, so that one of an earlier second is the lesser text.
    mayHaveCome: (column, offsetMs) => sql`${raw(column)} < ${movedBy(SECOND_MS - offsetMs)}`,
    isBefore: (column, offsetMs = 0) =>
      sorts
        ? sql`${raw(column)} < ${(moment: Moment) => write(limit(offsetMs)(moment))}`
        : sql`${millisOf(column)} < ${(moment: Moment) => Math.floor(limit(offsetMs)(moment))}`,
    ageMs: (column) => sql`${now} - (${millisOf(column)})`,
    epochMs: millisOf,
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
