/**
 * A session that keeps what runs on it, and may be stopped between two statements.
 *
 * @module
 */
import type { SqlResult, SqlSession, SqlValue } from "../../src/ports/sql_session.ts";

/** A statement as it was run. */
export interface LoggedStatement {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** See the module. */
export class StatementLog implements SqlSession {
  readonly statements: LoggedStatement[];
  readonly #session: SqlSession;
  readonly #behind: (statement: LoggedStatement) => Promise<void>;

  constructor(
    session: SqlSession,
    behind: (statement: LoggedStatement) => Promise<void> = async () => {},
    statements: LoggedStatement[] = [],
  ) {
    this.#session = session;
    this.#behind = behind;
    this.statements = statements;
  }

  get inTransaction(): boolean | undefined {
    return this.#session.inTransaction;
  }

  async query(text: string, params: readonly SqlValue[] = []): Promise<SqlResult> {
    const statement = { text, params };
    this.statements.push(statement);
    const result = await this.#session.query(text, params);
    await this.#behind(statement);
    return result;
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return await this.#session.transaction((tx) => work(new StatementLog(tx, this.#behind, this.statements)));
  }
}
