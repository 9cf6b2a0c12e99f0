/**
 * The parts of `postgres` (postgres.js) and `pg` used here. Nothing is imported from them: the caller opens and closes.
 *
 * @module
 */

import { hasMembers } from "../sql/given_session.ts";

/** What a statement of postgres.js gives: its rows, with the count beside them. */
export interface PostgresJsResult extends Iterable<unknown> {
  /** Rows given or changed. */
  readonly count: number | null;
  /** What was done: `INSERT`, `COMMIT` … */
  readonly command: string;
}

/** `postgres(…)`, or the `sql` inside its `begin`, or a reserved one. */
export interface PostgresJs {
  /** Runs a statement as it stands, unprepared. */
  unsafe(text: string, params?: never[]): PromiseLike<PostgresJsResult>;
  /** Only the root has it. */
  begin?: unknown;
  /** Only a transaction has it. */
  savepoint?: unknown;
  /** Only the root has it. */
  listen?: unknown;
}

/** A root of postgres.js, for `LISTEN`. */
export interface PostgresJsListener extends PostgresJs {
  /** Listens on a connection of its own; `onlisten` is called each time the database listens. */
  listen(
    channel: string,
    onnotify: (payload: string) => void,
    onlisten: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
}

/** What a statement of `pg` gives. */
export interface PgResult {
  /** What was done: `INSERT`, `COMMIT` … */
  readonly command: string;
  /** Objects by column. */
  readonly rows: readonly unknown[];
  /** Rows given or changed. */
  readonly rowCount: number | null;
}

/** A `Client`, or one of a pool. */
export interface PgClient {
  /** Runs a statement. */
  query(text: string, params?: unknown[]): Promise<PgResult>;
  /** `I` idle, `T` in a transaction, `E` in a failed one; since pg 8.18. */
  getTransactionStatus?(): string | null;
}

/** What `LISTEN` brings. */
export interface PgNotification {
  /** On which it came. */
  readonly channel: string;
  /** Empty where there is none. */
  readonly payload?: string | undefined;
}

/** A client a pool has handed out. */
export interface PgPoolClient extends PgClient {
  /** An error or true: do not use it again. */
  release(destroy?: Error | boolean): void;
  /** Hears of a connection that is lost while nobody waits for an answer on it. */
  on?(event: "error", listener: (error: Error) => void): unknown;
  /** Hears what is notified. */
  on?(event: "notification", listener: (told: PgNotification) => void): unknown;
  /** Hears of the end of the connection. */
  on?(event: "end", listener: () => void): unknown;
  /** Listens no more. */
  removeListener?(event: "error", listener: (error: Error) => void): unknown;
}

/** A `Pool`. */
export interface PgPool {
  /** Runs a statement on any of its clients. */
  query(text: string, params?: unknown[]): Promise<PgResult>;
  /** Hands out a client, or says why it cannot. */
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): unknown;
  /** How many clients it has: what tells a pool from a client. */
  readonly totalCount: number;
  /** How it was made; `max` is how many clients it may have. */
  readonly options?: { readonly max?: number };
}

/** Any handle of the two drivers. */
export type PostgresHandle = PostgresJs | PgPool | PgClient;

/** Whether a value is one of postgres.js. */
export function isPostgresJs(handle: unknown): handle is PostgresJs {
  return hasMembers(handle) && "unsafe" in handle && typeof handle.unsafe === "function";
}

/** The root of postgres.js: it begins transactions. */
export interface PostgresJsRoot extends PostgresJs {
  begin(work: (tx: PostgresJs) => Promise<void>): Promise<unknown>;
}

/** Whether a handle of postgres.js is the root. */
export function isPostgresJsRoot(sql: PostgresJs): sql is PostgresJsRoot {
  return typeof sql.begin === "function";
}

/** Whether a handle of postgres.js can listen. */
export function isPostgresJsListener(sql: PostgresJs): sql is PostgresJsListener {
  return isPostgresJsRoot(sql) && typeof sql.listen === "function";
}

/** Whether a value is a pool of `pg`. */
export function isPgPool(handle: unknown): handle is PgPool {
  return hasMembers(handle) && "query" in handle && "connect" in handle && "totalCount" in handle;
}

/** Whether a value is a client of `pg`. */
export function isPgClient(handle: unknown): handle is PgClient {
  return hasMembers(handle) && "query" in handle && typeof handle.query === "function" && !("totalCount" in handle);
}
