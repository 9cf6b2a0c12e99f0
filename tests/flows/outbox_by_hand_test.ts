/** The SQL that `docs/outbox.md` gives a person does on either database what it says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { postgresOutboxStore, postgresSession } from "../../adapters/postgres/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import type { OutboxClaim, OutboxStore } from "../../src/ports/outbox_store.ts";
import type { SqlRow, SqlSession } from "../../src/ports/sql_session.ts";
import { outboundOf } from "../support/outbox_world.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

const skip = await missing("postgresql");

const PAGE = readFileSync(new URL("../../docs/outbox.md", import.meta.url), "utf8");
const BLOCKS = [...PAGE.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text = ""]) => text);
/** Each statement by the comment above it; one alone has none. */
const STATEMENTS = new Map(
  BLOCKS.flatMap((block) => block.split(/^-- /m)).filter((text) => text.trim() !== "").map((text) => {
    const [comment = "", ...lines] = text.split("\n");
    const isComment = !/^SELECT/.test(comment);
    const statement = (isComment ? lines : [comment, ...lines]).join("\n").trim().replace(/;$/, "");
    return [isComment ? comment : "whose transaction", statement] as const;
  }),
);
const SQLITE_NOW = /`now\(\)` is\s+`(strftime\([^`]+\))`/.exec(PAGE)?.[1] ?? assert.fail("The page says what now() is");

/** Statements of the page on one database. */
interface Desk {
  readonly store: OutboxStore<SqlSession>;
  readonly session: SqlSession;
  /** Runs the statement whose comment begins so. */
  readonly ask: (comment: string, id?: string) => Promise<readonly SqlRow[]>;
}

function deskOf(store: OutboxStore<SqlSession>, session: SqlSession, now: string): Desk {
  const ask = async (comment: string, id = "…"): Promise<readonly SqlRow[]> => {
    const found = [...STATEMENTS].find(([above]) => above.startsWith(comment));
    const [, text] = found ?? assert.fail(`The page has a statement '${comment}'`);
    return (await session.query(text.replaceAll("now()", now).replaceAll("'…'", `'${id}'`))).rows;
  };
  return { store, session, ask };
}

function claim(store: OutboxStore<SqlSession>, limit: number): Promise<OutboxClaim> {
  return store.claim({ limit, leaseMs: 60_000, mode: "continue", onRetired: "release" });
}

function column(rows: readonly SqlRow[], name: string): readonly unknown[] {
  return rows.map((row) => row[name]);
}

/** One row published, one retired, one that waits for its next attempt, one in hand, and two that nobody has touched. */
async function goThrough({ store, session, ask }: Desk): Promise<void> {
  const ids = ["published", "retired", "failed", "held", "new", "newer"];
  for (const id of ids) {
    await session.transaction((tx) => store.add(tx, outboundOf(id), { orderingKey: id.startsWith("new") ? "n" : id }));
  }
  const { token } = await claim(store, 3);
  await store.markPublished(token, ["published"]);
  await store.markFailed(token, [
    { id: "retired", attempts: 10, reason: "unroutable: no queue is bound", retryDelayMs: 0 },
    { id: "failed", attempts: 3, reason: "nacked", retryDelayMs: 200_000 },
  ]);
  const held = await claim(store, 1);
  const [waiting] = await ask("what waits");
  assert.equal(Number(waiting?.["count"] ?? waiting?.["count(*)"]), 5);
  const tooOften = await ask("what failed too often");
  assert.deepEqual(column(tooOften, "id"), ["retired"]);
  assert.deepEqual(column(tooOften, "last_error"), ["unroutable: no queue is bound"]);
  const inHand = await ask("what relays have in hand");
  assert.deepEqual(column(inHand, "id"), ["held", "failed"]);
  assert.deepEqual(column(inHand, "locked_by"), [held.token, null]);
  assert.deepEqual(column(await ask("what a key waits for"), "ordering_key")[0], "n");
  await ask("tried again", "retired");
  assert.equal((await store.stats()).retired, 0);
  await ask("tried again", "published");
  await ask("given up", "published");
  await ask("given up", "new");
  const { rows } = await claim(store, 10);
  assert.deepEqual(rows.map(({ id, attempts }) => [id, attempts]), [["retired", 0], ["newer", 0]]);
  const { rows: left } = await session.query("SELECT id FROM acemq_outbox ORDER BY id");
  assert.deepEqual(column(left, "id"), ["failed", "held", "newer", "published", "retired"]);
}

describe("the SQL a person is given for an outbox", () => {
  it("does what it says on SQLite", async () => {
    const file = sqliteFile();
    try {
      const session = sqliteSession(file.open());
      const store = sqliteOutboxStore(session);
      await store.createSchemaIfAbsent();
      await goThrough(deskOf(store, session, SQLITE_NOW));
    } finally {
      file.close();
    }
  });

  it("does what it says on PostgreSQL, and names whose transaction keeps old rows [OB-08]", { skip }, async () => {
    const place = await scratch();
    try {
      const session = postgresSession(place.postgresJs());
      const store = postgresOutboxStore(session);
      await store.createSchemaIfAbsent();
      const desk = deskOf(store, session, "now()");
      await goThrough(desk);
      await place.postgresJs({ max: 1 }).begin("ISOLATION LEVEL REPEATABLE READ", async (sql) => {
        await sql.unsafe("SELECT 1 FROM acemq_outbox");
        const [{ pid } = { pid: -1 }] = await sql.unsafe("SELECT pg_backend_pid() AS pid");
        const found = await session.query(
          (STATEMENTS.get("whose transaction") ?? "").replace(/ LIMIT 5$/, ""),
        );
        assert.ok(column(found.rows, "pid").includes(pid));
      });
    } finally {
      await place.close();
    }
  });
});
