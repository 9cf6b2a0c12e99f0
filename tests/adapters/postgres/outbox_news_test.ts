/** What passes between processes that share an outbox in PostgreSQL: notices, once the rows are there, and word of it when none arrive. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import postgres from "postgres";
import {
  type PostgresHandle,
  type PostgresOutboxOptions,
  type PostgresOutboxStore,
  postgresOutboxStore,
  postgresSession,
} from "../../../adapters/postgres/mod.ts";
import { randomUuid } from "../../../src/clock.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { outboundOf } from "../../support/outbox_world.ts";
import { Complaints, CountingClock } from "../../support/residue.ts";
import { missing, PGBOUNCER_URL, POSTGRES_URL } from "../../support/services.ts";
import { StatementLog } from "../../support/statement_log.ts";
import { deferred, until } from "../../support/until.ts";

const skip = await missing("postgresql");
const skipPooler = skip || await missing("pgbouncer");

const DRIVERS = ["postgres", "pg"] as const;
type Driver = typeof DRIVERS[number];

/** Time passes as it does, but that nobody waits a minute. */
class HastyClock extends CountingClock {
  override delay(ms: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    return super.delay(ms >= 60_000 ? 200 : ms, options);
  }
}

/** A table in a schema of its own, and what was heard of it. */
class Place {
  readonly schema = `acemq_${randomUuid().replaceAll("-", "")}`;
  readonly table = `${this.schema}.acemq_outbox`;
  readonly admin = postgres(POSTGRES_URL, { max: 3, onnotice: () => {} });
  readonly clock: CountingClock;
  readonly complaints = new Complaints();
  /** What a store was told, in order: `added`, `hearing`, or why not. */
  readonly heard: string[] = [];
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(clock = new CountingClock()) {
    this.clock = clock;
  }

  static async open(clock?: CountingClock): Promise<Place> {
    const place = new Place(clock);
    await place.admin.unsafe(`CREATE SCHEMA ${place.schema}`);
    await place.store(place.admin).createSchemaIfAbsent();
    return place;
  }

  handle(driver: Driver, { url = POSTGRES_URL, max = 4 } = {}): postgres.Sql | pg.Pool {
    if (driver === "postgres") {
      const sql = postgres(url, { max, onnotice: () => {}, backoff: () => 0.02 });
      this.#ends.push(() => sql.end({ timeout: 5 }));
      return sql;
    }
    const pool = new pg.Pool({ connectionString: url, max });
    // A program that does not listen dies of the first connection that is lost.
    pool.on("error", () => {});
    this.#ends.push(() => pool.end());
    return pool;
  }

  store(handle: PostgresHandle | SqlSession, options: PostgresOutboxOptions = {}): PostgresOutboxStore {
    return postgresOutboxStore(handle, { table: this.table, clock: this.clock, ...options });
  }

  /** Has a store listen; what it hears is kept. */
  async listen(store: PostgresOutboxStore, signal?: AbortSignal): Promise<() => Promise<void>> {
    assert.ok(store.listen !== undefined);
    const stop = await store.listen({
      added: () => void this.heard.push("added"),
      hears: ({ hearing, reason = "" }) => void this.heard.push(hearing ? "hearing" : reason),
    }, { signal });
    this.#stops.push(stop);
    return stop;
  }

  async add(id: string): Promise<void> {
    const store = this.store(this.admin);
    await this.admin.begin((tx) => store.add(tx, outboundOf(id)));
  }

  get additions(): number {
    return this.heard.filter((one) => one === "added").length;
  }

  /** The connections that listen, or did so last. */
  async listening(): Promise<readonly number[]> {
    const rows = await this.admin.unsafe(
      `SELECT pid FROM pg_stat_activity WHERE query ILIKE 'listen "' || $1 || '"%' AND pid <> pg_backend_pid()`,
      [await this.channel()],
    );
    return rows.map(({ pid }) => Number(pid));
  }

  async channel(): Promise<string> {
    const [row] = await this.admin.unsafe("SELECT 'acemq_outbox_' || to_regclass($1)::oid AS channel", [this.table]);
    return String(row?.["channel"]);
  }

  /** Ends the connection that listens. */
  async cut(): Promise<void> {
    const [pid] = await this.listening();
    await this.admin.unsafe("SELECT pg_terminate_backend($1::int)", [pid ?? assert.fail("Nobody listens")]);
  }

  async close(): Promise<void> {
    for (const end of [...this.#stops, ...this.#ends]) await end();
    await this.admin.unsafe(`DROP SCHEMA ${this.schema} CASCADE`);
    await this.admin.end({ timeout: 5 });
    this.complaints.close();
    assert.deepEqual(this.complaints.heard, []);
  }
}

async function within(play: (place: Place) => Promise<void>, clock?: CountingClock): Promise<void> {
  const place = await Place.open(clock);
  try {
    await play(place);
  } finally {
    await place.close();
  }
}

for (const driver of DRIVERS) {
  describe(`an outbox that others add to, over '${driver}'`, () => {
    it("is told when what was added is there, and not before", { skip }, () =>
      within(async (place) => {
        const stop = await place.listen(place.store(place.handle(driver)));
        assert.deepEqual(place.heard, ["hearing"]);
        const adder = place.store(place.admin);
        const commit = deferred();
        const adding = place.admin.begin(async (tx) => {
          await adder.add(tx, outboundOf("a"));
          await commit.promise;
        });
        await place.clock.delay(100);
        const early = place.additions;
        commit.resolve();
        await adding;
        assert.equal(early, 0);
        await until("the notice", () => place.additions === 1);
        await stop();
        await place.add("b");
        await until("nobody to look any more", () => place.clock.pending === 0);
        assert.equal(place.additions, 1);
      }));

    it(
      "is told nothing of what is rolled back, and nobody looks for it for longer than a second or so",
      { skip },
      () =>
        within(async (place) => {
          const stop = await place.listen(place.store(place.handle(driver)));
          const log = new StatementLog(postgresSession(place.admin));
          const clock = new CountingClock();
          const adder = place.store(log, { clock });
          const begunMs = performance.now();
          await assert.rejects(
            log.transaction(async (tx) => {
              await adder.add(tx, outboundOf("a"));
              throw new Error("no");
            }),
            /no/,
          );
          await until("nobody to look any more", () => clock.pending === 0 && performance.now() - begunMs > 1_500);
          const looks = log.statements.filter(({ text }) => text.includes("pg_notify")).length;
          assert.ok(looks >= 5 && looks <= 25, `${looks} looks`);
          assert.equal(place.additions, 0);
          await stop();
        }),
    );

    it(
      "is told again when the connection that listens was cut, and looks for what it did not hear of",
      { skip },
      () =>
        within(async (place) => {
          const stop = await place.listen(place.store(place.handle(driver)));
          for (let round = 1; round <= 3; round++) {
            const before = place.heard.length;
            await place.cut();
            // A driver that says nothing of the loss opens the line again by itself: then it may have been deaf in between.
            await until(
              "a reason to look",
              () => place.heard.slice(before).some((one) => /^(?:added|hearing)$/.test(one)),
            );
            await until("a connection that listens", async () => (await place.listening()).length === 1);
            if (driver === "pg") assert.match(place.heard.slice(before)[0] ?? "", /terminat/);
            const seen = place.additions;
            await place.add(`m-${round}`);
            await until("the notice", () => place.additions > seen);
          }
          await stop();
        }),
    );

    it(
      "knows that a pooler swallows LISTEN, and says what helps [OB-39]",
      { skip: skipPooler, timeout: 60_000 },
      () =>
        within(async (place) => {
          const pooled = place.handle(driver, { url: PGBOUNCER_URL });
          const stop = await place.listen(place.store(pooled));
          assert.equal(place.heard.length, 1);
          assert.match(place.heard[0] ?? "", /pooler in transaction mode, which swallows LISTEN; give 'listenOn'/);
          // What is told goes through a pooler, and what is heard goes past it.
          const stopPast = await place.listen(place.store(pooled, { listenOn: place.handle(driver) }));
          assert.equal(place.heard[1], "hearing");
          const adder = place.store(pooled);
          await adder.addAll(pooled, [outboundOf("a")], { outsideTransaction: true });
          await until("the notice", () => place.additions === 1);
          await Promise.all([stop(), stopPast()]);
        }),
    );

    it(
      "leaves no connection that listens, no timer and no listener behind when it ends, twice as once",
      { skip },
      () =>
        within(async (place) => {
          const handle = place.handle(driver);
          const stop = await place.listen(place.store(handle));
          assert.equal((await place.listening()).length, 1);
          await Promise.all([stop(), stop()]);
          await stop();
          await until("nobody to listen", async () => (await place.listening()).length === 0);
          assert.equal(place.clock.pending, 0);
          if (driver === "pg") assert.equal((handle as pg.Pool).totalCount - (handle as pg.Pool).idleCount, 0);
        }),
    );

    it("gives up at once when its signal aborts", { skip: skipPooler }, () =>
      within(async (place) => {
        const store = place.store(place.handle(driver, { url: PGBOUNCER_URL }));
        const reason = new Error("enough");
        const ending = new AbortController();
        const begunMs = performance.now();
        const listening = place.listen(store, ending.signal);
        place.clock.delay(50).then(() => ending.abort(reason));
        await assert.rejects(listening, reason);
        assert.ok(performance.now() - begunMs < 4_000);
        assert.deepEqual(place.heard, []);
        assert.equal(place.clock.pending, 0);
        await assert.rejects(place.listen(store, AbortSignal.abort(reason)), reason);
      }));

    it(
      "listens again where the table is another one by now, or comes late",
      { skip, timeout: 60_000 },
      () =>
        within(async (place) => {
          await place.admin.unsafe(`DROP TABLE ${place.table}`);
          const stop = await place.listen(place.store(place.handle(driver)));
          assert.match(place.heard[0] ?? "", /there is no table "acemq_\w+\.acemq_outbox"/);
          await place.store(place.admin).createSchemaIfAbsent();
          await until("news", () => place.heard.at(-1) === "hearing");
          await place.admin.unsafe(`DROP TABLE ${place.table}`);
          await place.store(place.admin).createSchemaIfAbsent();
          await until("a line on its channel", async () => (await place.listening()).length === 1);
          await place.add("a");
          await until("the notice", () => place.additions > 0);
          await stop();
        }, new HastyClock()),
    );

    it(
      "is told no more often than fifty times a second, however much is added [OB-33]",
      { skip, timeout: 60_000 },
      () =>
        within(async (place) => {
          const stop = await place.listen(place.store(place.handle(driver)));
          const adder = place.store(place.admin);
          const begunMs = performance.now();
          let added = 0;
          while (performance.now() - begunMs < 1_000) {
            await adder.add(postgresSession(place.admin), outboundOf(`m-${added++}`), { outsideTransaction: true });
          }
          await until("nobody to look any more", () => place.clock.pending === 1);
          const most = 2 + (performance.now() - begunMs) / 20;
          assert.ok(added > most, `${added} are no test`);
          assert.ok(
            place.additions >= 2 && place.additions <= most,
            `${place.additions} notices of ${added} additions`,
          );
          await stop();
        }),
    );
  });
}

describe("an outbox in PostgreSQL", () => {
  it("tells in no transaction of the caller's [OB-33]", { skip }, () =>
    within(async (place) => {
      const log = new StatementLog(postgresSession(place.admin));
      const stop = await place.listen(place.store(place.handle("pg")));
      const adder = place.store(postgresSession(place.handle("postgres")));
      await log.transaction((tx) => adder.addAll(tx, [outboundOf("a"), outboundOf("b")]));
      await until("the notice", () => place.additions === 1);
      assert.deepEqual(log.statements.filter(({ text }) => /notify/i.test(text)), []);
      await stop();
    }));

  it("tells nobody of what a relay of its own process takes at once", { skip }, () =>
    within(async (place) => {
      const log = new StatementLog(postgresSession(place.admin));
      const store = place.store(log);
      const stopHearing = store.onAdded(() => {});
      await store.add(log, outboundOf("a"), { outsideTransaction: true });
      await store.claim({ limit: 10, leaseMs: 60_000, mode: "continue", onRetired: "release" });
      await until("nobody to look any more", () => place.clock.pending === 0);
      assert.deepEqual(log.statements.filter(({ text }) => text.includes("pg_notify")), []);
      await store.add(log, outboundOf("b"), { outsideTransaction: true });
      await until("others to be told of what it leaves", () =>
        log.statements.some(({ text }) => text.includes("pg_notify")));
      stopHearing();
    }));

  it(
    "neither tells nor hears where news are not wanted, nor hears where it has one connection",
    { skip },
    () =>
      within(async (place) => {
        const log = new StatementLog(postgresSession(place.admin));
        const store = place.store(log, { news: false });
        assert.equal(store.listen, undefined);
        await store.add(log, outboundOf("a"), { outsideTransaction: true });
        assert.equal(place.clock.pending, 0);
        assert.equal(place.store(place.admin, { news: false }).listen, undefined);
        assert.equal(place.store(log).listen, undefined);
        const client = new pg.Client({ connectionString: POSTGRES_URL });
        assert.equal(place.store(client).listen, undefined);
        assert.throws(() => place.store(log, { listenOn: client as never }), {
          name: "TypeError",
          message: "Cannot use option 'listenOn': a root of 'postgres' or a pool of 'pg' is wanted",
        });
      }),
  );

  it(
    "does not listen with the only client of a pool, which its statements need",
    { skip },
    () =>
      within(async (place) => {
        const store = place.store(place.handle("pg", { max: 1 }));
        const stop = await place.listen(store);
        assert.match(
          place.heard[0] ?? "",
          /a pool of one client, which the statements need: give 'listenOn' another one/,
        );
        await store.check();
        await stop();
      }),
  );
});
