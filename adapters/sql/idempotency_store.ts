/**
 * Claims in a SQL table: one implementation over what differs between databases and layouts.
 *
 * @module
 */

import { randomUuid, systemClock, systemRandom } from "../../src/clock.ts";
import { LeaseLostError, RetryableError } from "../../src/errors.ts";
import { assertWholeNumber } from "../../src/internal/assert_option.ts";
import { signalOf } from "../../src/internal/option_kinds.ts";
import { assertPurgeOfClaims } from "../../src/internal/store_options.ts";
import type {
  ClaimAnswer,
  ClaimedMessage,
  ClaimFate,
  HeldClaim,
  IdempotencyStore,
  OnceWithin,
  PurgeOptions,
  RenewAnswer,
  StoreCallOptions,
} from "../../src/ports/idempotency_store.ts";
import type { SqlResult, SqlSession } from "../../src/ports/sql_session.ts";
import { ClockWatch } from "./clock_watch.ts";
import { type SqlDialect, tableName } from "./dialect.ts";
import { compile, sql, type Statement } from "./fragment.ts";
import { detectIdempotencyLayout } from "./idempotency_detect.ts";
import { assertClaimId } from "./idempotency_id.ts";
import { type ClaimFacts, type IdempotencyStatements, writeStatements } from "./idempotency_layout.ts";
import type { SqlIdempotencyOptions } from "./idempotency_options.ts";
import { idempotencySchemaSql } from "./idempotency_schema.ts";
import { guarded } from "./guarded.ts";
import { KnownTable } from "./known_table.ts";
import { OpenRenewals } from "./open_renewals.ts";
import { readBoolean, readInteger, readText } from "./values.ts";

/** What a store stands on. */
export interface SqlIdempotencyTarget<Handle> {
  /** For every statement of the store's own: never a transaction. */
  readonly session: SqlSession;
  /** Of the database behind it. */
  readonly dialect: SqlDialect;
  /** The session of a transaction the caller hands in. */
  readonly sessionOf: (tx: Handle | SqlSession) => SqlSession;
}

/** What stands in the row of a message. */
interface Seen {
  readonly confirmed: boolean;
  readonly expired: boolean;
}

const PURGE_BATCH = 1_000;

/** Whoever shares the table may have a longer lease than we have: at least that of the default is reckoned with. */
const LONGEST_OF_OTHERS_MS = 300_000;

/** A handler that outlives its lease may still confirm, as long as nobody else has the claim. */
const RENEWALS_KEPT_LEASES = 10;

/**
 * Microseconds added to a millisecond, so that claims of one moment have different tokens where the time is the token. Fewer than
 * SQLite rounds up.
 */
const MICROS_OF_A_MS = 490;

/** See {@linkcode IdempotencyStore}. `Handle` is what the driver calls a transaction. */
export class SqlIdempotencyStore<Handle> implements IdempotencyStore {
  readonly claimTimeoutMs: number;
  readonly retentionMs: number;
  readonly inProgressDelayMs: number;
  readonly purgeIntervalMs: number | undefined;
  /** See {@linkcode IdempotencyStore.observeClock}; undefined where the database's own clock decides. */
  readonly observeClock?: () => void;
  readonly #target: SqlIdempotencyTarget<Handle>;
  readonly #options: SqlIdempotencyOptions;
  readonly #table: string;
  readonly #watch: ClockWatch;
  readonly #known: KnownTable<IdempotencyStatements>;
  readonly #renewals: OpenRenewals;
  #micros: number;

  /** Use the function of the database's adapter. */
  constructor(target: SqlIdempotencyTarget<Handle>, options: SqlIdempotencyOptions = {}) {
    const { claimTimeoutMs = 300_000, retentionMs = 86_400_000, inProgressDelayMs = 1_000 } = options;
    assertWholeNumber("claimTimeoutMs", claimTimeoutMs, 1);
    assertWholeNumber("retentionMs", retentionMs, 1);
    assertWholeNumber("inProgressDelayMs", inProgressDelayMs, 0);
    if (options.purgeIntervalMs !== undefined) assertWholeNumber("purgeIntervalMs", options.purgeIntervalMs, 1);
    const { table = "acemq_idempotency", clock = systemClock() } = options;
    tableName(table);
    this.claimTimeoutMs = claimTimeoutMs;
    this.retentionMs = retentionMs;
    this.inProgressDelayMs = inProgressDelayMs;
    this.purgeIntervalMs = options.purgeIntervalMs;
    this.#target = target;
    this.#options = options;
    this.#table = table;
    this.#known = new KnownTable(target.session, (session) => this.#detected(session));
    this.#renewals = new OpenRenewals(clock, RENEWALS_KEPT_LEASES * claimTimeoutMs);
    this.#watch = new ClockWatch(clock, { leaseMs: Math.max(claimTimeoutMs, LONGEST_OF_OTHERS_MS), retentionMs });
    if (target.dialect.name === "sqlite") this.observeClock = () => void this.#watch.look();
    // By chance, so that it is another one in every process.
    this.#micros = Math.floor(MICROS_OF_A_MS * (options.random ?? systemRandom)());
  }

  /**
   * Creates the table where it is not there. For development: in production the table belongs to the tool that owns the schema, which
   * gets it from `idempotencySchemaSql`.
   */
  async createSchemaIfAbsent(): Promise<void> {
    const { layout } = this.#options;
    const { name } = this.#target.dialect;
    for (
      const text of idempotencySchemaSql(name, { table: this.#table, ...(layout === undefined ? {} : { layout }) })
    ) {
      await guarded("create the table", () => this.#target.session.query(text));
    }
  }

  async check(options: StoreCallOptions = {}): Promise<void> {
    signalOf("check", options)?.throwIfAborted();
    await this.#known.on();
  }

  async tryClaim(id: string, options: StoreCallOptions = {}): Promise<ClaimAnswer> {
    assertClaimId(id);
    signalOf("tryClaim", options)?.throwIfAborted();
    const statements = await this.#known.on();
    const { newId = randomUuid } = this.#options;
    const facts = this.#facts(id, newId());
    const claimed = await this.#run("claim a message", statements.insertClaim, facts);
    if (claimed.changes > 0) return { status: "claimed", token: tokenOf(claimed, facts), takenOver: false };
    const seen = await this.#look(statements, facts);
    // Gone meanwhile: somebody has released it, and whoever comes next gets it.
    if (seen === undefined) return { status: "in_progress" };
    if (!seen.expired) return { status: seen.confirmed ? "already_confirmed" : "in_progress" };
    const taken = await this.#run("claim a message", statements.takeOver, facts);
    if (taken.changes === 0) return { status: "in_progress" };
    return { status: "claimed", token: tokenOf(taken, facts), takenOver: !seen.confirmed };
  }

  async confirm(id: string, token: string, options: StoreCallOptions = {}): Promise<ClaimFate> {
    signalOf("confirm", options)?.throwIfAborted();
    const statements = await this.#known.on();
    const facts = this.#facts(id, token);
    const { changes } = await this.#run("confirm a message", statements.confirm, facts);
    this.#renewals.end(id, token);
    if (changes > 0) return "held";
    return isRemembered(await this.#look(statements, facts)) ? "held" : "lost";
  }

  async release(id: string, token: string, options: StoreCallOptions = {}): Promise<ClaimFate> {
    signalOf("release", options)?.throwIfAborted();
    const { release } = await this.#known.on();
    const { changes } = await this.#run("release a message", release, this.#facts(id, token));
    this.#renewals.end(id, token);
    return changes > 0 ? "held" : "lost";
  }

  async renew(id: string, token: string, options: StoreCallOptions = {}): Promise<RenewAnswer> {
    signalOf("renew", options)?.throwIfAborted();
    const { clock, renew } = await this.#known.on();
    const next = clock === undefined
      ? undefined
      : tokenOf(await this.#run("renew a claim", clock, undefined), { token });
    const facts = { ...this.#facts(id, token), ...(next === undefined ? {} : { next }) };
    if (next !== undefined) this.#renewals.begin(id, token, next);
    const renewed = await this.#run("renew a claim", renew, facts);
    this.#renewals.end(id, token);
    return renewed.changes > 0 ? { status: "held", token: tokenOf(renewed, facts) } : { status: "lost" };
  }

  async isConfirmed(id: string, options: StoreCallOptions = {}): Promise<boolean> {
    signalOf("isConfirmed", options)?.throwIfAborted();
    return isRemembered(await this.#look(await this.#known.on(), this.#facts(id)));
  }

  /**
   * Confirms a message inside the caller's own transaction, so that the work and the record of it commit together.
   *
   * In a consumer with this store, the claim of the delivery is confirmed, by its token. Elsewhere, the record is made here.
   *
   * @returns `already_confirmed` when the message was handled before, or this delivery has confirmed it: do nothing, and commit
   * @throws {LeaseLostError} the claim is somebody else's by now: let the transaction roll back
   * @throws {TypeError} the consumer has claimed the message in another store
   * @throws {RetryableError} somebody else has claimed the message and works on it; a `StoreError` when the database does not answer
   */
  async onceWithin(tx: Handle | SqlSession, message: ClaimedMessage): Promise<OnceWithin> {
    const session = this.#target.sessionOf(tx);
    const { claim } = message;
    const id = claim?.id ?? message.envelope.id;
    assertClaimId(id);
    // On the transaction's session: where one handle is one connection, another one would wait for the transaction's end.
    const statements = await this.#known.on(session);
    const facts = this.#facts(id, claim?.token);
    const run = async (statement: Statement<ClaimFacts>): Promise<boolean> =>
      (await this.#run("confirm a message", statement, facts, session)).changes > 0;
    if (claim !== undefined) {
      if (await run(statements.confirm)) {
        claim.confirmedWithin?.();
        return "confirmed";
      }
      const seen = await this.#look(statements, facts, session);
      if (claim.isConfirmedWithin === true && isRemembered(seen)) return "already_confirmed";
      throw notHeld(claim, { isHere: seen !== undefined, store: this });
    }
    if (await run(statements.insertConfirmed)) return "confirmed";
    const seen = await this.#look(statements, facts, session);
    if (isRemembered(seen)) return "already_confirmed";
    if (seen?.expired === true && await run(statements.takeOverConfirmed)) return "confirmed";
    throw new RetryableError(`Cannot confirm message "${id}": somebody else has claimed it and works on it`);
  }

  async purgeExpired(options: PurgeOptions = {}): Promise<number> {
    assertPurgeOfClaims(options);
    const { batchSize = PURGE_BATCH, signal } = options;
    const { purge } = await this.#known.on();
    for (let total = 0;;) {
      signal?.throwIfAborted();
      const facts = { limit: batchSize, ...this.#watch.look() };
      const { changes } = await this.#run("purge what has expired", purge, facts);
      total += changes;
      if (changes < batchSize) return total;
    }
  }

  async count(options: StoreCallOptions = {}): Promise<number> {
    signalOf("count", options)?.throwIfAborted();
    const count = compile(sql`SELECT count(*) AS n FROM ${tableName(this.#table)}`, this.#target.dialect.placeholder);
    const { rows } = await this.#run("count the claims", count, undefined);
    return readInteger(rows[0]?.["n"]);
  }

  #facts(id: string, token = ""): ClaimFacts {
    // The middle of the microsecond: a number of this size has not enough digits for its beginning.
    const { nowMs, leaseLeadMs, retentionLeadMs } = this.#watch.look();
    const micros = (this.#micros + 0.5) / 1_000;
    this.#micros = (this.#micros + 1) % MICROS_OF_A_MS;
    return {
      id,
      token: this.#renewals.tokensOf(id, token),
      nowMs: Math.floor(nowMs) + micros,
      leaseLeadMs,
      retentionLeadMs,
    };
  }

  async #look(
    { look }: IdempotencyStatements,
    facts: ClaimFacts,
    session = this.#target.session,
  ): Promise<Seen | undefined> {
    const { rows: [row] } = await this.#run("look at a message", look, facts, session);
    if (row === undefined) return undefined;
    return { confirmed: readBoolean(row["confirmed"]), expired: readBoolean(row["expired"]) };
  }

  async #detected(session: SqlSession): Promise<IdempotencyStatements> {
    const { dialect } = this.#target;
    const asked = { table: this.#table, dialect, wanted: this.#options.layout };
    const layout = await guarded("look at the table", () => detectIdempotencyLayout(session, asked, this));
    return writeStatements(layout, dialect.placeholder);
  }

  async #run<Facts>(
    what: string,
    { text, bind }: Statement<Facts>,
    facts: Facts,
    session = this.#target.session,
  ): Promise<SqlResult> {
    try {
      return await guarded(what, () => session.query(text, bind(facts)));
    } catch (error) {
      // The table may be another one by now, or none: whoever comes next looks again, and can say so.
      this.#known.forget();
      throw error;
    }
  }
}

/** Why a claim in a handler's hands could not be confirmed in its transaction. */
function notHeld({ id, store }: HeldClaim, found: { readonly isHere: boolean; readonly store: unknown }): Error {
  if (store !== undefined && store !== found.store && !found.isHere) {
    return new TypeError(
      `Cannot confirm message "${id}": its consumer has claimed it in another store; hand that one to the consumer or use it here`,
    );
  }
  return new LeaseLostError(
    `Cannot confirm message "${id}": its claim is somebody else's by now, or was confirmed before`,
  );
}

/** Confirmed, and the retention has not ended. */
function isRemembered(seen: Seen | undefined): boolean {
  return seen !== undefined && seen.confirmed && !seen.expired;
}

/** Where the time is the token, the database says what it wrote. */
function tokenOf({ rows: [row] }: SqlResult, { token }: Pick<ClaimFacts, "token">): string {
  return row === undefined ? token : readText(row["token"]);
}
