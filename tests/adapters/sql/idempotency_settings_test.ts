/** Two programs with one table and different settings: each has the lease and the memory it was told, and none has the other's. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { postgresIdempotencyStore } from "../../../adapters/postgres/mod.ts";
import type { IdempotencyLayoutName } from "../../../adapters/sql/mod.ts";
import { type SqlIdempotencyOptions, sqliteIdempotencyStore } from "../../../adapters/sqlite/mod.ts";
import type { IdempotencyStore } from "../../../src/ports/idempotency_store.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const skip = await missing("postgresql");

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** One program is quick and forgets soon, the other one is neither. */
const SHORT = { claimTimeoutMs: MINUTE_MS, retentionMs: HOUR_MS };
const LONG = { claimTimeoutMs: 10 * MINUTE_MS, retentionMs: 24 * HOUR_MS };

/** One table. */
interface Place {
  readonly open: (options: SqlIdempotencyOptions) => IdempotencyStore & { createSchemaIfAbsent(): Promise<void> };
  readonly pass: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function inSqlite(): Promise<Place> {
  const file = sqliteFile();
  const clock = virtualClock();
  return {
    open: (options) => sqliteIdempotencyStore(file.open(), { ...options, clock }),
    pass: (ms) => clock.advance(ms),
    close: async () => file.close(),
  };
}

async function inPostgres(): Promise<Place> {
  const place = await scratch();
  const sql = place.postgresJs();
  return { open: (options) => postgresIdempotencyStore(sql, options), pass: place.pass, close: place.close };
}

const ENGINES: Readonly<Record<string, { readonly skip: string | false; readonly make: () => Promise<Place> }>> = {
  SQLite: { skip: false, make: inSqlite },
  PostgreSQL: { skip, make: inPostgres },
};

async function claimed(store: IdempotencyStore, id: string): Promise<string> {
  const claim = await store.tryClaim(id);
  assert.ok(claim.status === "claimed", `${id}: ${claim.status}`);
  return claim.token;
}

async function statusOf(store: IdempotencyStore, id: string): Promise<string> {
  const { status } = await store.tryClaim(id);
  return status;
}

for (const [engine, { skip, make }] of Object.entries(ENGINES)) {
  const withTable = (
    layout: IdempotencyLayoutName,
    play: (short: IdempotencyStore, long: IdempotencyStore, place: Place) => Promise<void>,
  ) =>
  async (): Promise<void> => {
    const place = await make();
    try {
      const short = place.open({ ...SHORT, layout });
      await short.createSchemaIfAbsent();
      await play(short, place.open(LONG), place);
    } finally {
      await place.close();
    }
  };

  describe(`two stores with one table and different settings in ${engine}`, () => {
    for (const layout of [engine === "SQLite" ? "ruby" : "java", "python"] as const) {
      it(
        `give a claim the lease of who made it, layout '${layout}'`,
        { skip },
        withTable(layout, async (short, long, { pass }) => {
          const ofLong = await claimed(long, "long");
          await claimed(short, "short");
          await pass(MINUTE_MS);
          assert.equal(await statusOf(short, "long"), "in_progress");
          assert.equal(await statusOf(long, "short"), "claimed");
          await pass(8 * MINUTE_MS);
          assert.equal(await statusOf(short, "long"), "in_progress");
          assert.equal(await statusOf(short, "short"), "in_progress", "It has the lease of its second holder now");
          assert.equal(await short.purgeExpired(), 0);
          assert.equal(await long.confirm("long", ofLong), "held");
        }),
      );

      it(
        `remember a confirmation as long as who made it said, layout '${layout}'`,
        { skip },
        withTable(layout, async (short, long, { pass }) => {
          for (const [store, id] of [[short, "short"], [long, "long"]] as const) {
            await store.confirm(id, await claimed(store, id));
          }
          await pass(HOUR_MS);
          assert.deepEqual([await long.isConfirmed("short"), await short.isConfirmed("long")], [false, true]);
          assert.equal(await short.purgeExpired(), 1);
          assert.equal(await statusOf(short, "long"), "already_confirmed");
          await pass(23 * HOUR_MS);
          assert.deepEqual([await long.isConfirmed("long"), await short.purgeExpired()], [false, 1]);
        }),
      );
    }

    for (const layout of ["go", "dotnet"] as const) {
      it(
        `let the later of two holders confirm, where a row does not say how long a claim lasts, layout '${layout}'`,
        { skip },
        withTable(layout, async (short, long, { pass }) => {
          const late = await claimed(long, "m");
          await pass(MINUTE_MS);
          const token = await claimed(short, "m");
          assert.equal(await long.confirm("m", late), "lost");
          assert.equal(await long.release("m", late), "lost");
          assert.deepEqual(await long.renew("m", late), { status: "lost" });
          assert.equal(await short.confirm("m", token), "held");
          assert.equal(await statusOf(long, "m"), "already_confirmed");
        }),
      );
    }

    it(
      "refuse a table that is another one's",
      { skip },
      withTable("go", async (_short, _long, { open }) => {
        for (const layout of ["java", "ruby", "python", "dotnet"] as const) {
          const store = open({ layout });
          await assert.rejects(store.check(), {
            code: "ACEMQ_TABLE_LAYOUT",
            message: /layout 'go', and '\w+' is wanted/,
          });
          await assert.rejects(store.tryClaim("m"), { code: "ACEMQ_TABLE_LAYOUT" });
        }
      }),
    );
  });
}
