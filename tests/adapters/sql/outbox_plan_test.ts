/** However many published rows are kept, a claim looks at the others alone: the databases say which index they use. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresOutboxStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import type { OutboxClaimOptions, OutboxMode, OutboxStore } from "../../../src/ports/outbox_store.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";
import { type LoggedStatement, StatementLog } from "../../support/statement_log.ts";

const skip = await missing("postgresql");

const KEPT = 20_000;
const PENDING = 2_000;

function claim(mode: OutboxMode): OutboxClaimOptions {
  return { limit: 10, leaseMs: 60_000, mode, onRetired: "release" };
}

/** The index of the ids, as either database calls it. */
const PRIMARY = /acemq_outbox_pkey|sqlite_autoindex_acemq_outbox_1/;

/** Everything a relay and an operator do, with what each statement must not read the whole table for. */
const ACTIONS: Readonly<
  Record<string, readonly [act: (store: OutboxStore<never>) => Promise<unknown>, index: RegExp]>
> = {
  "a claim": [(store) => store.claim(claim("continue")), /acemq_outbox_unpublished\b/],
  "a claim in order": [(store) => store.claim(claim("in_order")), /acemq_outbox_unpublished(?:_keys)?\b/],
  "a mark": [(store) => store.markPublished("t", ["kept-1", "kept-2"]), PRIMARY],
  "a failure": [
    (store) => store.markFailed("t", [{ id: "kept-1", attempts: 1, reason: "nack", retryDelayMs: 1 }]),
    PRIMARY,
  ],
  "a row that is given back": [(store) => store.giveBack("t", ["kept-1"]), PRIMARY],
  "the figures": [(store) => store.stats(), /acemq_outbox_unpublished(?:_keys)?\b/],
  "the retired": [async (store) => {
    for await (const record of store.retired()) assert.fail(record.id);
  }, /acemq_outbox_unpublished(?:_keys)?\b/],
  "a release": [(store) => store.release("kept-1"), PRIMARY],
  "a purge of nothing": [(store) => store.purgePublished({ olderThanMs: 86_400_000 }), /acemq_outbox_pending\b/],
};

interface Place {
  readonly session: SqlSession;
  readonly store: (log: StatementLog) => OutboxStore<never>;
  readonly explain: (statement: LoggedStatement) => Promise<string>;
}

async function assertPlans({ session, store, explain }: Place): Promise<void> {
  for (const [what, [act, index]] of Object.entries(ACTIONS)) {
    const log = new StatementLog(session);
    await act(store(log));
    const statements = log.statements.filter(({ text }) =>
      !/^SELECT (?:created_at FROM|name,|a\.attname)/.test(text) && /FROM|UPDATE/.test(text)
    );
    assert.ok(statements.length > 0, what);
    for (const statement of statements) {
      const plan = await explain(statement);
      assert.match(plan, index, `${what}: ${statement.text}\n${plan}`);
      assert.doesNotMatch(plan, /Seq Scan on acemq_outbox|SCAN acemq_outbox(?! USING)/, `${what}: ${plan}`);
      // The least key is the first of an index, and not one that is looked for among all rows.
      if (what !== "the figures") assert.doesNotMatch(plan, /Aggregate.*\n.* on acemq_outbox/, `${what}: ${plan}`);
    }
  }
}

const COLUMNS = "id, exchange_name, routing_key, body, body_encoding, content_type, headers, created_at, published_at";

/** Rows of the names, from 1. */
const VALUES =
  "'' AS exchange_name, 'k' AS routing_key, '{}' AS body, 'utf-8' AS body_encoding, '' AS content_type, '{}' AS headers";

describe("the plan of every statement of an outbox", () => {
  it("uses an index on SQLite, before the table is analysed and after [OB-04]", async () => {
    const file = sqliteFile();
    const database = file.open();
    const session = sqliteSession(database);
    await sqliteOutboxStore(session).createSchemaIfAbsent();
    const insert = (name: string, count: number, published: string): void =>
      database.exec(
        `INSERT INTO acemq_outbox (${COLUMNS}) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
          SELECT '${name}-' || i, ${VALUES}, '2999-01-01T00:00:00.000000Z', ${published} FROM n`,
      );
    insert("kept", KEPT, "'2999-01-01T00:00:00.000000Z'");
    const explain = async ({ text, params }: LoggedStatement): Promise<string> => {
      const { rows } = await session.query(`EXPLAIN QUERY PLAN ${text}`, params);
      return rows.map((row) => String(row["detail"])).join("\n");
    };
    const place = { session, store: (log: StatementLog) => sqliteOutboxStore(log), explain };
    await assertPlans(place);
    database.exec("ANALYZE");
    await assertPlans(place);
    insert("waits", PENDING, "NULL");
    await assertPlans(place);
    file.close();
  });

  it(
    "uses an index on PostgreSQL, also while the database takes a backlog for the few rows there were [OB-04, OB-07]",
    { skip },
    async () => {
      const place = await scratch();
      const session = postgresSession(place.sql);
      await postgresOutboxStore(session).createSchemaIfAbsent();
      await place.sql.unsafe("ALTER TABLE acemq_outbox SET (autovacuum_enabled = off)");
      const insert = (name: string, count: number, published: string): Promise<unknown> =>
        place.sql.unsafe(
          `INSERT INTO acemq_outbox (${COLUMNS}) SELECT '${name}-' || i, ${VALUES}, now(), ${published} FROM generate_series(1, ${count}) AS i`,
        );
      const explain = async ({ text, params }: LoggedStatement): Promise<string> => {
        const { rows } = await session.query(`EXPLAIN ${text}`, params);
        return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
      };
      const under = { session, store: (log: StatementLog) => postgresOutboxStore(log), explain };
      try {
        await insert("kept", KEPT, "now()");
        await place.sql.unsafe("VACUUM ANALYZE acemq_outbox");
        await insert("waits", PENDING, "NULL");
        await assertPlans(under);
        await place.sql.unsafe("ANALYZE acemq_outbox");
        await assertPlans(under);
      } finally {
        await place.close();
      }
    },
  );

  it(
    "reads no more of a backlog than it takes, also on a table that was never analysed [OB-07]",
    { skip },
    async () => {
      const place = await scratch();
      const session = postgresSession(place.sql);
      try {
        await postgresOutboxStore(session).createSchemaIfAbsent();
        await place.sql.unsafe("ALTER TABLE acemq_outbox SET (autovacuum_enabled = off)");
        await place.sql.unsafe(
          `INSERT INTO acemq_outbox (${COLUMNS}) SELECT 'waits-' || i, ${
            VALUES.replace("'{}' AS body", "repeat('x', 1000) AS body")
          }, now(), NULL FROM generate_series(1, 4000) AS i`,
        );
        const log = new StatementLog(session);
        await postgresOutboxStore(log).claim({ ...claim("continue"), limit: 100 });
        const { text = "", params } = log.statements.find((one) => one.text.startsWith("WITH picked")) ?? {};
        const { rows } = await session.query(`EXPLAIN (ANALYZE, TIMING off) ${text}`, params);
        const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
        assert.match(plan, /Index Scan using acemq_outbox_unpublished on .*actual rows=100 /, plan);
      } finally {
        await place.close();
      }
    },
  );
});
