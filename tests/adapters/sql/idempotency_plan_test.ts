/** However many messages are remembered, what has expired is found without reading them: the databases say which index they use. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { postgresIdempotencyStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { IdempotencyLayoutName } from "../../../adapters/sql/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import type { IdempotencyStore } from "../../../src/ports/idempotency_store.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";
import { type LoggedStatement, StatementLog } from "../../support/statement_log.ts";

const skip = await missing("postgresql");

const LIVE = 20_000;

/** What a layout is looked through by: the index, and the column it is on. */
const INDEXES: Readonly<Record<IdempotencyLayoutName, readonly [index: string, column: string]>> = {
  java: ["acemq_idempotency_expiry", "expires_at"],
  ruby: ["acemq_idempotency_expiry", "expires_at"],
  python: ["acemq_idempotency_expiry", "expires_at"],
  go: ["acemq_idempotency_handled_at", "handled_at"],
  dotnet: ["acemq_idempotency_claimed", "claimed_at"],
};

/** The columns of a row, and its values: confirmed in a century, so that it is live by any clock. */
function liveRows(layout: IdempotencyLayoutName, instant: string): string {
  switch (layout) {
    case "go":
      return `("key", handled_at, confirmed) SELECT 'live-' || i, ${instant}, TRUE`;
    case "dotnet":
      return `(message_id, claimed_at, confirmed) SELECT 'live-' || i, ${instant}, 1`;
    default:
      return `(message_id, state, recorded_at, expires_at) SELECT 'live-' || i, 'CONFIRMED', ${instant}, ${instant}`;
  }
}

interface Place {
  readonly session: SqlSession;
  readonly open: (session: SqlSession) => IdempotencyStore;
  readonly explain: string;
}

/** Purges through a log, and gives the plan of what was run. */
async function planOfPurge({ session, open, explain }: Place, batchSize: number, expired: number): Promise<string> {
  const log = new StatementLog(session);
  const store = open(log);
  await store.check();
  log.statements.length = 0;
  assert.equal(await store.purgeExpired({ batchSize }), expired);
  assert.equal(log.statements.length, Math.floor(expired / batchSize) + 1);
  return await planOf(session, log.statements[0], explain);
}

async function planOf(session: SqlSession, statement: LoggedStatement | undefined, explain: string): Promise<string> {
  assert.ok(statement !== undefined);
  const { rows } = await session.query(`${explain} ${statement.text}`, statement.params);
  return rows.map((row) => String(row["detail"] ?? row["QUERY PLAN"])).join("\n");
}

describe("a purge on SQLite", () => {
  for (const layout of ["ruby", "python", "go", "dotnet"] as const) {
    it(`looks at what has expired alone, in bounded batches, before the table is analysed and after, layout '${layout}'`, async () => {
      const file = sqliteFile();
      const database = file.open();
      const session = sqliteSession(database);
      const clock = virtualClock();
      const open = (over: SqlSession): IdempotencyStore => sqliteIdempotencyStore(over, { clock });
      await sqliteIdempotencyStore(session, { layout }).createSchemaIfAbsent();
      const instant = layout === "python" ? "4102444800000" : "'2100-01-01 00:00:00'";
      const text = layout === "ruby" ? "'2100-01-01T00:00:00.000000Z'" : instant;
      database.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIVE})
          INSERT INTO acemq_idempotency ${liveRows(layout, text)} FROM n`,
      );
      const [index, column] = INDEXES[layout];
      for (const analysed of [false, true]) {
        if (analysed) database.exec("ANALYZE");
        for (let count = 0; count < 5; count++) await open(session).tryClaim(`dead-${count}`);
        await clock.advance(300_000);
        const plan = await planOfPurge({ session, open, explain: "EXPLAIN QUERY PLAN" }, 2, 5);
        assert.ok(plan.includes(`USING INDEX ${index} (${column}<?)`), plan);
        assert.doesNotMatch(plan, /SCAN/, plan);
        if (layout === "go" || layout === "dotnet") {
          assert.ok(plan.includes(`USING INDEX acemq_idempotency_claims (${column}<?)`), plan);
        }
      }
      file.close();
    });
  }

  it("removes what has expired of whatever Java and Ruby write beside one another, in time or, with a zone, by its wall clock", async () => {
    const file = sqliteFile();
    const database = file.open();
    const clock = virtualClock("2026-09-09T13:59:00Z");
    const store = sqliteIdempotencyStore(database, { clock });
    await store.createSchemaIfAbsent();
    await store.check();
    const rows: readonly (readonly [id: string, expiresAt: string | number])[] = [
      ["short", "2026-09-09T14:00:00Z"],
      ["one digit", "2026-09-09T14:00:00.5Z"],
      ["six digits", "2026-09-09T14:00:00.500000Z"],
      ["nine digits", "2026-09-09T14:00:00.500000000Z"],
      ["number", Date.parse("2026-09-09T14:00:00.500Z")],
      ["west", "2026-09-09T09:00:00.5-05:00"],
      ["east", "2026-09-09T16:00:00.5+02:00"],
    ];
    const insert = database.prepare("INSERT INTO acemq_idempotency VALUES (?, 'CONFIRMED', NULL, '', ?)");
    for (const row of rows) insert.run(...row);
    const left = (): unknown[] =>
      database.prepare("SELECT message_id FROM acemq_idempotency").all().map((row) => row["message_id"]);
    await clock.advance(60_000);
    assert.equal(await store.purgeExpired(), 1);
    await clock.advance(499);
    assert.equal(await store.purgeExpired(), 0);
    await clock.advance(1);
    assert.equal(await store.purgeExpired(), 5);
    assert.deepEqual(left(), ["east"]);
    assert.equal((await store.tryClaim("east")).status, "claimed", "A claim does not wait for a purge");
    file.close();
  });
});

describe("the first look at a table on SQLite", () => {
  it("does not read its rows", async () => {
    const file = sqliteFile();
    const session = sqliteSession(file.open());
    await sqliteIdempotencyStore(session).createSchemaIfAbsent();
    const log = new StatementLog(session);
    await sqliteIdempotencyStore(log).check();
    const plans = await Promise.all(
      log.statements.filter(({ text }) => /min\(/.test(text)).map((one) => planOf(session, one, "EXPLAIN QUERY PLAN")),
    );
    assert.equal(plans.length, 1);
    assert.equal(plans[0]?.match(/SEARCH acemq_idempotency USING COVERING INDEX acemq_idempotency_expiry/g)?.length, 2);
    assert.doesNotMatch(plans[0] ?? "", /SCAN acemq_idempotency/, plans[0]);
    file.close();
  });
});

describe("a purge on PostgreSQL", () => {
  for (const layout of ["java", "python", "go", "dotnet"] as const) {
    it(`looks at what has expired alone, layout '${layout}'`, { skip }, async () => {
      const place = await scratch();
      try {
        const session = postgresSession(place.sql);
        const open = (over: SqlSession): IdempotencyStore => postgresIdempotencyStore(over);
        await postgresIdempotencyStore(session, { layout }).createSchemaIfAbsent();
        const instant = layout === "python" ? "4102444800000" : "'2100-01-01T00:00:00Z'::timestamptz";
        await place.sql.unsafe(
          `INSERT INTO acemq_idempotency ${liveRows(layout, instant)} FROM generate_series(1, ${LIVE}) AS i`,
        );
        await place.sql.unsafe("VACUUM ANALYZE acemq_idempotency");
        for (let count = 0; count < 5; count++) await open(session).tryClaim(`dead-${count}`);
        await place.pass(300_000);
        const plan = await planOfPurge({ session, open, explain: "EXPLAIN" }, 2, 5);
        assert.match(plan, new RegExp(`Index Scan (?:using|on) ${INDEXES[layout][0]}\\b`), plan);
        // The few that are looked for are joined to the table by its key, or by a look at each.
        assert.doesNotMatch(plan, /Seq Scan/, plan);
      } finally {
        await place.close();
      }
    });
  }
});
