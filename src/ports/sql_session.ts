/**
 * Port: a SQL database, as far as a store needs one. Whoever hands it in has opened it and closes it.
 *
 * @module
 */

/** What may be bound to a statement. Anything else is bound differently by every driver, or not at all. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** One row, by the names of its columns. What type a value has depends on the driver: whoever reads it converts it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** What a statement gave. */
export interface SqlResult {
  /** Empty for a statement that returns none. */
  readonly rows: readonly SqlRow[];
  /** Rows inserted, updated or deleted; of a query it says nothing. */
  readonly changes: number;
}

/**
 * A handle statements run on: a database, or a transaction that is open on it. The handle is the transaction: what runs on a
 * transaction's session is committed or rolled back with it, and nothing else is.
 *
 * Errors are the driver's own; a store wraps them.
 */
export interface SqlSession {
  /** Whether a transaction is open on this handle; undefined when the driver does not tell, and the caller must say. */
  readonly inTransaction: boolean | undefined;
  /** Runs one statement. Placeholders are numbered from 1 and written as the database writes them. */
  query(text: string, params?: readonly SqlValue[]): Promise<SqlResult>;
  /**
   * Runs `work` in a transaction: commits when it resolves, rolls back and rethrows when it rejects. On a handle that is in a
   * transaction already, `work` joins it.
   */
  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T>;
}
