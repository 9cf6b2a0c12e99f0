/**
 * What is said between the processes that share an outbox, and on which channel. No effect here.
 *
 * A channel belongs to the whole database, and a table has a name along somebody's search path: so the channel is named after the number
 * the database knows the table by.
 *
 * @module
 */

import type { SqlValue } from "../../src/ports/sql_session.ts";
import { postgresDialect, tableName } from "../sql/dialect.ts";
import { compile, type Fragment, raw, sql } from "../sql/fragment.ts";

const PREFIX = "acemq_outbox_";
const ADDED = "added";
const PROBE = "probe ";

/** A statement and its parameters. */
export interface Question {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** What was heard. */
export type Heard =
  /** Rows are there. */
  | { readonly is: "added" }
  /** Somebody has asked whether anything is heard. */
  | { readonly is: "probe"; readonly nonce: string };

/** Reads what was heard. What nobody here has said may be a trigger of somebody's: rows are there. */
export function parseHeard(payload: string): Heard {
  return payload.startsWith(PROBE) ? { is: "probe", nonce: payload.slice(PROBE.length) } : { is: "added" };
}

/** Gives the channel's name as `channel`; null when the table is not there. */
export function askChannel(table: string): Question {
  return written(sql`SELECT ${channelOf(table)} AS channel`);
}

/** Has a nonce come back to whoever listens on a channel. */
export function sendProbe(channel: string, nonce: string): Question {
  return written(sql`SELECT pg_notify(${channel}::text, ${PROBE + nonce}::text)`);
}

/**
 * Gives those of the ids of which rows are there, and if there are any tells it. The same notice twice in a transaction is one.
 */
export function tellWhatIsThere(table: string, ids: readonly string[]): Question {
  const { isListed } = postgresDialect();
  return written(
    sql`SELECT id, pg_notify(${channelOf(table)}, ${ADDED}::text) FROM ${tableName(table)} WHERE ${
      isListed(raw("id"), JSON.stringify(ids))
    }`,
  );
}

function channelOf(table: string): Fragment {
  return sql`${PREFIX}::text || to_regclass(${table}::text)::oid::text`;
}

function written(fragment: Fragment): Question {
  const { text, bind } = compile(fragment, postgresDialect().placeholder);
  return { text, params: bind(undefined) };
}
