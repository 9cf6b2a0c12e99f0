/**
 * An outbox in memory, with transactions of its own: for tests, and for a process that may forget when it ends.
 *
 * @module
 */

import { type Clock, type NewId, randomUuid, systemClock } from "../../src/clock.ts";
import { assertWholeNumber } from "../../src/internal/assert_option.ts";
import { Listeners } from "../../src/internal/listeners.ts";
import { assertOptions, type OptionKinds, signalOf } from "../../src/internal/option_kinds.ts";
import {
  assertAdditionOfRows,
  assertCheckOfRows,
  assertClaimOfRows,
  assertPurgeOfRows,
  assertReturnOfRows,
} from "../../src/internal/store_options.ts";
import { failureText } from "../../src/internal/failure_text.ts";
import { isPromise } from "../../src/internal/when_there.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { additionsOf } from "../../src/message/additions.ts";
import { assertOrderingKey, assertStorable } from "../../src/message/storable.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";
import type {
  ClaimedRow,
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
import { type MemoryOutboxTransaction, OutboxTransaction } from "./outbox_transaction.ts";
import { OutboxTable, type OutboxTableRow } from "./outbox_table.ts";

/** How an outbox in memory works. */
export interface MemoryOutboxOptions {
  /** Failures after which a row is retired. @default {10} */
  readonly maxAttempts?: number;
  /** Leases and ages run by it. @default {systemClock()} */
  readonly clock?: Clock;
  /** Makes the tokens. @default {randomUuid} */
  readonly newId?: NewId;
}

const KINDS: Readonly<OptionKinds<MemoryOutboxOptions>> = {
  maxAttempts: "checked",
  clock: "object",
  newId: "function",
};

/** See {@linkcode memoryOutboxStore}. */
export class MemoryOutboxStore implements OutboxStore<MemoryOutboxTransaction> {
  /** Failures after which a row is retired. */
  readonly maxAttempts: number;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #listeners = new Listeners<readonly string[]>();
  readonly #table: OutboxTable;

  /** Use {@linkcode memoryOutboxStore}. */
  constructor(options: MemoryOutboxOptions = {}) {
    assertOptions("an outbox in memory", options, KINDS);
    const { maxAttempts = 10, clock = systemClock(), newId = randomUuid } = options;
    assertWholeNumber("maxAttempts", maxAttempts, 1);
    this.maxAttempts = maxAttempts;
    this.#clock = clock;
    this.#newId = newId;
    this.#table = new OutboxTable(maxAttempts);
  }

  /** What is added on `tx` is there when `work` resolves, all of it at once, and not when it rejects. */
  async transaction<T>(work: (tx: MemoryOutboxTransaction) => T | Promise<T>): Promise<T> {
    const tx = new OutboxTransaction(this);
    try {
      const result = await work(tx);
      this.#table.insert(tx.end());
      return result;
    } finally {
      tx.end();
    }
  }

  /** Nothing can be wrong with a store in memory. */
  async check(options: StoreCallOptions & { readonly mode?: OutboxMode } = {}): Promise<void> {
    assertCheckOfRows(options);
    options.signal?.throwIfAborted();
  }

  /** Adds a message in a transaction of this store. */
  add(
    tx: MemoryOutboxTransaction | undefined,
    outbound: Outbound | PromiseLike<Outbound>,
    options: OutboxAddOptions = {},
  ): Promise<void> {
    return this.addAll(tx, [outbound], options);
  }

  /** Adds many, which leave in this order. */
  async addAll(
    tx: MemoryOutboxTransaction | undefined,
    outbounds: Iterable<Outbound | PromiseLike<Outbound>>,
    options: OutboxAddOptions = {},
  ): Promise<void> {
    const additions = additionsOf(outbounds);
    assertAdditionOfRows(options);
    const { orderingKey, outsideTransaction = false } = options;
    const key = assertOrderingKey(orderingKey);
    const messages = isPromise(additions) ? await additions : additions;
    const rows = messages.map((outbound) =>
      this.#table.newRow(assertStorable(outbound), copied(outbound), {
        orderingKey: key,
        createdAtMs: this.#clock.now(),
        addedAtMs: this.#clock.elapsed(),
      })
    );
    if (outsideTransaction) this.#table.insert(rows);
    else openTransaction(tx, this).add(rows);
    if (rows.length > 0) this.#listeners.tell(rows.map(({ id }) => id));
  }

  /** Takes rows under a lease. */
  async claim(options: OutboxClaimOptions): Promise<OutboxClaim> {
    assertClaimOfRows(options);
    const { limit, leaseMs, mode, onRetired, signal } = options;
    signal?.throwIfAborted();
    const token = this.#newId();
    const nowMs = this.#clock.elapsed();
    const taken = this.#table.claimable(nowMs, { limit, mode, onRetired });
    const rows = taken.map((row): ClaimedRow => {
      row.token = token;
      row.freeAtMs = nowMs + leaseMs;
      const { id, orderingKey, attempts, outbound, addedAtMs } = row;
      return { id, orderingKey, attempts, outbound, ageMs: nowMs - addedAtMs };
    });
    return { token, rows };
  }

  /** Marks rows published that are still the token's. */
  async markPublished(token: string, ids: readonly string[], options: StoreCallOptions = {}): Promise<number> {
    signalOf("markPublished", options)?.throwIfAborted();
    const rows = this.#table.held(token, ids);
    for (const row of rows) this.#table.publish(row, this.#clock.elapsed());
    return rows.length;
  }

  /** Counts a failure of each row that is still the token's, and gives it back. */
  async markFailed(
    token: string,
    failures: readonly OutboxFailure[],
    options: StoreCallOptions = {},
  ): Promise<number> {
    signalOf("markFailed", options)?.throwIfAborted();
    let marked = 0;
    for (const { id, reason, attempts, retryDelayMs } of failures) {
      const [row] = this.#table.held(token, [id]);
      if (row === undefined) continue;
      row.attempts = attempts;
      row.lastError = failureText(reason);
      this.#free(row, retryDelayMs);
      marked++;
    }
    return marked;
  }

  /** Gives rows back that are still the token's. */
  async giveBack(
    token: string,
    ids: readonly string[],
    options: OutboxGiveBackOptions = {},
  ): Promise<number> {
    assertReturnOfRows(options);
    const { signal, delayMs = 0 } = options;
    signal?.throwIfAborted();
    const rows = this.#table.held(token, ids);
    for (const row of rows) this.#free(row, delayMs);
    return rows.length;
  }

  /** The retired rows, oldest first. */
  async *retired(options: StoreCallOptions = {}): AsyncIterableIterator<RetiredRecord> {
    const signal = signalOf("retired", options);
    signal?.throwIfAborted();
    for (const row of this.#table.retired()) {
      signal?.throwIfAborted();
      const { exchange, routingKey } = row.outbound;
      const { id, orderingKey, attempts, lastError, createdAtMs } = row;
      yield { id, exchange, routingKey, orderingKey, attempts, lastError, createdAt: new Date(createdAtMs) };
    }
  }

  /** Has a retired row tried again, from the beginning. */
  async release(id: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("release", options)?.throwIfAborted();
    const row = this.#table.retired().find((one) => one.id === id);
    if (row === undefined) return false;
    row.attempts = 0;
    this.#free(row, 0);
    return true;
  }

  /** How the outbox stands. */
  async stats(options: StoreCallOptions = {}): Promise<OutboxStats> {
    signalOf("stats", options)?.throwIfAborted();
    return this.#table.stats(this.#clock.elapsed());
  }

  /** Forgets rows that were published: their ids may be added again. */
  async purgePublished(options: OutboxPurgeOptions): Promise<number> {
    assertPurgeOfRows(options);
    const { olderThanMs, signal } = options;
    signal?.throwIfAborted();
    return this.#table.purge(this.#clock.elapsed() - olderThanMs);
  }

  /** Hears of what is added through this store, before it is committed. */
  onAdded(listener: OutboxListener): () => void {
    return this.#listeners.add(listener);
  }

  #free(row: OutboxTableRow, delayMs: number): void {
    row.token = undefined;
    row.freeAtMs = this.#clock.elapsed() + delayMs;
  }
}

/**
 * An outbox in memory. It is of this process alone, and a restart forgets it.
 *
 * Price: every message that waits, and 100 bytes for the id of one that was published, until it is purged.
 *
 * @throws {TypeError} an option that there is not, or of another type
 * @throws {RangeError} an option out of range
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, topology } from "@acemq/amqp/core";
 * import { memoryBroker, memoryOutboxStore } from "@acemq/amqp/memory";
 *
 * const mq = await connect(memoryBroker());
 * await mq.declare(topology().queue("orders.new"));
 * const placed = mq.publisher("", "orders.new");
 *
 * const outbox = memoryOutboxStore();
 * await outbox.transaction((tx) => outbox.add(tx, placed.prepare({ id: "A-1" })));
 * await assert.rejects(outbox.transaction(async (tx) => {
 *   await outbox.add(tx, placed.prepare({ id: "A-2" }));
 *   throw new Error("no such product");
 * }));
 * assert.equal((await outbox.stats()).pending, 1);
 * await mq.close();
 * ```
 */
export function memoryOutboxStore(options: MemoryOutboxOptions = {}): MemoryOutboxStore {
  return new MemoryOutboxStore(options);
}

function openTransaction(tx: unknown, store: MemoryOutboxStore): OutboxTransaction {
  if (tx instanceof OutboxTransaction && tx.store === store && tx.isOpen) return tx;
  const found = tx instanceof OutboxTransaction
    ? tx.store === store ? "it is over" : "it is one of another store"
    : "it is none of this store; use 'store.transaction(…)', or say 'outsideTransaction'";
  throw new TypeError(`Cannot use the handle as a transaction: ${found}`);
}

/** Whoever handed the bytes in may write into them again. */
function copied(outbound: Outbound): Outbound {
  return { ...outbound, body: outbound.body.slice() };
}
