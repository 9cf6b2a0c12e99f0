/**
 * An outbox in a SQL table: one implementation over what differs between databases and layouts.
 *
 * @module
 */

import { type NewId, randomUuid, systemClock, systemRandom } from "../../src/clock.ts";
import { LayoutError } from "../../src/errors.ts";
import { assertWholeNumber } from "../../src/internal/assert_option.ts";
import { Listeners } from "../../src/internal/listeners.ts";
import { signalOf } from "../../src/internal/option_kinds.ts";
import {
  assertAdditionOfRows,
  assertCheckOfRows,
  assertClaimOfRows,
  assertPurgeOfRows,
  assertReturnOfRows,
} from "../../src/internal/store_options.ts";
import { isPromise } from "../../src/internal/when_there.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { additionsOf } from "../../src/message/additions.ts";
import { assertOrderingKey } from "../../src/message/storable.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";
import type {
  OutboxAddOptions,
  OutboxClaim,
  OutboxClaimOptions,
  OutboxFailure,
  OutboxGiveBackOptions,
  OutboxListener,
  OutboxMode,
  OutboxPurgeOptions,
  OutboxStats,
  OutboxStore,
  RetiredRecord,
} from "../../src/ports/outbox_store.ts";
import type { SqlSession } from "../../src/ports/sql_session.ts";
import { type SqlDialect, tableName } from "./dialect.ts";
import { assertInTransaction } from "./given_session.ts";
import { guarded } from "./guarded.ts";
import { KnownTable } from "./known_table.ts";
import { decideOutbox, detectOutbox, outboxFacts } from "./outbox_detect.ts";
import { openOutbox } from "./outbox_open.ts";
import type { SqlOutboxOptions } from "./outbox_options.ts";
import { claimedRow, retiredRecord, storedMessage } from "./outbox_row.ts";
import { outboxLeasesSql, outboxSchemaSql } from "./outbox_schema.ts";
import type { OutboxTable, OutboxWork } from "./outbox_table.ts";
import { OutboxWorks } from "./outbox_works.ts";
import { OutboxWriter } from "./outbox_writer.ts";
import { readInteger } from "./values.ts";

/** What a store stands on. */
export interface SqlOutboxTarget<Handle> {
  /** For every statement of the store's own: never a transaction. */
  readonly session: SqlSession;
  /** Of the database behind it. */
  readonly dialect: SqlDialect;
  /** The session of what the caller hands in; one of a transaction unless `outside` says that it need not be. */
  readonly sessionOf: (tx: Handle | SqlSession, options: { readonly outside: boolean }) => SqlSession;
  /** Where the database can tell other processes. */
  readonly news?: OutboxNews;
}

/** What passes between the processes that share a table. */
export interface OutboxNews {
  /** Rows were added that may not be committed yet; `isLookedFor`: a relay of this process looks for them by itself. */
  added(ids: readonly string[], facts: { readonly isLookedFor: boolean }): void;
  /** Rows were claimed here: nobody else has to know of them. */
  taken(ids: readonly string[]): void;
  /** See {@linkcode OutboxStore.listen}; undefined where nothing can be heard. */
  readonly listen?: NonNullable<OutboxStore["listen"]>;
}

/** Microseconds that claims of one moment are told apart by, where the end of a lease is the token. */
const MICROS_OF_A_MS = 1_000;

/** Rows of one page of the retired. */
const PAGE = 100;

/** See {@linkcode OutboxStore}. `Handle` is what the driver calls a transaction. */
export class SqlOutboxStore<Handle> implements OutboxStore<Handle | SqlSession> {
  readonly maxAttempts: number;
  /** See {@linkcode OutboxStore.listen}; undefined where nothing can be heard. */
  readonly listen?: NonNullable<OutboxStore["listen"]>;
  readonly #target: SqlOutboxTarget<Handle>;
  readonly #options: SqlOutboxOptions;
  readonly #table: string;
  readonly #works: OutboxWorks;
  readonly #newId: NewId;
  readonly #listeners = new Listeners<readonly string[]>();
  readonly #known: KnownTable<OutboxTable>;
  #writer: OutboxWriter | undefined;
  #micros: number;

  /** Use the function of the database's adapter. */
  constructor(target: SqlOutboxTarget<Handle>, options: SqlOutboxOptions = {}) {
    const { table = "acemq_outbox", maxAttempts = 10, clock = systemClock(), newId = randomUuid } = options;
    assertWholeNumber("maxAttempts", maxAttempts, 1);
    tableName(table);
    this.maxAttempts = maxAttempts;
    if (target.news?.listen !== undefined) this.listen = target.news.listen;
    this.#target = target;
    this.#options = options;
    this.#table = table;
    // Where a statement fails, the table may have become another one.
    this.#known = new KnownTable(target.session, (session) => this.#detected(session));
    const failed = (): void => this.#known.forget();
    this.#works = new OutboxWorks({ dialect: target.dialect, clock, failed });
    this.#newId = newId;
    // By chance, so that it is another one in every process.
    this.#micros = Math.floor(MICROS_OF_A_MS * (options.random ?? systemRandom)());
  }

  /**
   * Creates the table where it is not there. For development: in production the table belongs to the tool that owns the schema, which
   * gets it from `outboxSchemaSql`.
   */
  async createSchemaIfAbsent(): Promise<void> {
    const { session, dialect } = this.#target;
    const { layout = "typescript" } = this.#options;
    const table = this.#table;
    const wanted = { table, dialect, wanted: this.#options.layout };
    const facts = await guarded("look at the table", () => outboxFacts(session, wanted));
    // A table of somebody else's is left as it is, but for what stands beside it.
    const found = facts.columns.length === 0 ? undefined : decideOutbox(facts, wanted).layout;
    const beside = found === "python" || found === "go" ? [outboxLeasesSql(dialect.name, table)] : [];
    for (const text of found === undefined ? outboxSchemaSql(dialect.name, { table, layout }) : beside) {
      await guarded("create the table", () => session.query(text));
    }
  }

  async check(options: StoreCallOptions & { readonly mode?: OutboxMode } = {}): Promise<void> {
    assertCheckOfRows(options);
    options.signal?.throwIfAborted();
    const table = await this.#known.on();
    await table.checkClaims(this.#work(this.#target.session));
    if (options.mode === "in_order") this.#assertOrdered(table, "have rows leave in order");
  }

  async add(
    tx: Handle | SqlSession,
    outbound: Outbound | PromiseLike<Outbound>,
    options: OutboxAddOptions = {},
  ): Promise<void> {
    await this.addAll(tx, [outbound], options);
  }

  async addAll(
    tx: Handle | SqlSession,
    outbounds: Iterable<Outbound | PromiseLike<Outbound>>,
    options: OutboxAddOptions = {},
  ): Promise<void> {
    const additions = additionsOf(outbounds);
    assertAdditionOfRows(options);
    const { orderingKey, outsideTransaction = false } = options;
    const key = assertOrderingKey(orderingKey) ?? null;
    const session = this.#target.sessionOf(tx, { outside: outsideTransaction });
    // What need not be waited for is not: a call that nobody awaits has then written before the transaction can end.
    const prepared = isPromise(additions) ? await additions : additions;
    const table = this.#known.now ?? await this.#known.on(session);
    if (key !== null) this.#assertOrdered(table, "keep an ordering key");
    const messages = prepared.map((outbound) => storedMessage(outbound, table));
    if (messages.length === 0) return;
    if (!outsideTransaction) assertInTransaction(session);
    if (this.#writer?.table !== table) this.#writer = new OutboxWriter(table, this.#target.dialect);
    await this.#writer.write(this.#work(session), messages, key);
    const ids = messages.map(({ id }) => id);
    this.#listeners.tell(ids);
    this.#target.news?.added(ids, { isLookedFor: this.#listeners.isHeard });
  }

  async claim(options: OutboxClaimOptions): Promise<OutboxClaim> {
    assertClaimOfRows(options);
    const { limit, leaseMs, mode, onRetired, signal } = options;
    const { maxAttempts } = this;
    this.#works.leases(leaseMs);
    signal?.throwIfAborted();
    const table = await this.#known.on();
    if (mode === "in_order") this.#assertOrdered(table, "have rows leave in order");
    const extraMs = this.#micros / 1_000;
    this.#micros = (this.#micros + 1) % MICROS_OF_A_MS;
    const request = { limit, leaseMs, extraMs, maxAttempts, mode, onRetired, token: this.#newId() };
    const { token, rows } = await table.claim(this.#work(), request);
    this.#target.news?.taken(rows.map(({ id }) => String(id)));
    return { token, rows: rows.map((row) => claimedRow(row, table)) };
  }

  async markPublished(token: string, ids: readonly string[], options: StoreCallOptions = {}): Promise<number> {
    signalOf("markPublished", options)?.throwIfAborted();
    return ids.length === 0 ? 0 : await (await this.#known.on()).markPublished(this.#work(), token, ids);
  }

  async markFailed(
    token: string,
    failures: readonly OutboxFailure[],
    options: StoreCallOptions = {},
  ): Promise<number> {
    signalOf("markFailed", options)?.throwIfAborted();
    return failures.length === 0 ? 0 : await (await this.#known.on()).markFailed(this.#work(), token, failures);
  }

  async giveBack(
    token: string,
    ids: readonly string[],
    options: OutboxGiveBackOptions = {},
  ): Promise<number> {
    assertReturnOfRows(options);
    const { signal, delayMs = 0 } = options;
    signal?.throwIfAborted();
    return ids.length === 0 ? 0 : await (await this.#known.on()).giveBack(this.#work(), token, { ids, delayMs });
  }

  async *retired(options: StoreCallOptions = {}): AsyncIterable<RetiredRecord> {
    const signal = signalOf("retired", options);
    signal?.throwIfAborted();
    const table = await this.#known.on();
    const work = this.#work();
    // The ids at once, the rest in pages: whoever releases what is given changes what a page would begin behind.
    const { rows } = await work.run("list the retired rows", table.retiredIds(this.maxAttempts));
    const ids = rows.map((row) => String(row["id"]));
    for (let start = 0; start < ids.length; start += PAGE) {
      signal?.throwIfAborted();
      const page = ids.slice(start, start + PAGE);
      const found = await work.run("list the retired rows", table.retiredRows(page, this.maxAttempts));
      const records = new Map(found.rows.map((row) => [String(row["id"]), retiredRecord(row, table)]));
      for (const id of page) {
        const record = records.get(id);
        if (record !== undefined) yield record;
      }
    }
  }

  async release(id: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("release", options)?.throwIfAborted();
    return await (await this.#known.on()).release(this.#work(), id, this.maxAttempts) > 0;
  }

  async stats(options: StoreCallOptions = {}): Promise<OutboxStats> {
    signalOf("stats", options)?.throwIfAborted();
    const table = await this.#known.on();
    const work = this.#work();
    const { rows: [row] } = await work.run("count the rows", table.stats(this.maxAttempts));
    const oldest = row?.["oldest_ms"] ?? undefined;
    return {
      pending: readInteger(row?.["pending"]),
      oldestAgeMs: oldest === undefined ? undefined : Math.max(0, Number(oldest)),
      retired: readInteger(row?.["retired"] ?? 0),
    };
  }

  async purgePublished(options: OutboxPurgeOptions): Promise<number> {
    assertPurgeOfRows(options);
    const { olderThanMs, batchSize = 1_000, signal } = options;
    const table = await this.#known.on();
    for (let total = 0;;) {
      signal?.throwIfAborted();
      const work = this.#works.on(this.#target.session, olderThanMs);
      const purge = table.purge(olderThanMs, batchSize);
      if (purge === undefined) return 0;
      const { changes } = await work.run("purge published rows", purge);
      total += changes;
      if (changes < batchSize) return total;
    }
  }

  onAdded(listener: OutboxListener): () => void {
    return this.#listeners.add(listener);
  }

  #assertOrdered({ unordered }: OutboxTable, what: string): void {
    if (unordered === undefined) return;
    throw new LayoutError(`Cannot ${what} with the table "${this.#table}": ${unordered}`);
  }

  #work(session = this.#target.session): OutboxWork {
    return this.#works.on(session);
  }

  async #detected(session: SqlSession): Promise<OutboxTable> {
    const { dialect } = this.#target;
    const { layout, dropHeaders = false } = this.#options;
    const table = this.#table;
    return await guarded(
      "look at the table",
      async () =>
        openOutbox(await detectOutbox(session, { table, dialect, wanted: layout }), { table, dialect, dropHeaders }),
    );
  }
}
