/**
 * Writing messages into an outbox: in one statement where the database takes as many parameters.
 *
 * @module
 */

import type { SqlDialect } from "./dialect.ts";
import { compile, type Statement } from "./fragment.ts";
import { type InsertFacts, parametersOfRow } from "./outbox_insert.ts";
import type { StoredMessage } from "./outbox_row.ts";
import type { OutboxTable, OutboxWork } from "./outbox_table.ts";

/** What rows are written by. */
export class OutboxWriter {
  /** What it writes into. */
  readonly table: OutboxTable;
  readonly #dialect: SqlDialect;
  readonly #most: number;
  #ofOne: Statement<InsertFacts> | undefined;

  constructor(table: OutboxTable, dialect: SqlDialect) {
    this.table = table;
    this.#dialect = dialect;
    this.#most = Math.floor(dialect.mostParameters / parametersOfRow(table.format));
  }

  /** Writes rows, all of them or none. */
  async write(work: OutboxWork, messages: readonly StoredMessage[], key: string | null): Promise<void> {
    if (messages.length > this.#most) await work.together((inner) => this.#writeAll(inner, messages, key));
    else await this.#writeAll(work, messages, key);
  }

  async #writeAll(work: OutboxWork, messages: readonly StoredMessage[], key: string | null): Promise<void> {
    for (let from = 0; from < messages.length; from += this.#most) {
      const rows = messages.slice(from, from + this.#most);
      await work.write("add to the outbox", this.#statement(rows.length, from), { messages: rows, key, from });
    }
  }

  /** The one for a single row is what runs in every transaction: its text is made once. */
  #statement(count: number, from: number): Statement<InsertFacts> {
    const make = (): Statement<InsertFacts> => compile(this.table.insert(count, from), this.#dialect.placeholder);
    return count === 1 && from === 0 ? this.#ofOne ??= make() : make();
  }
}
