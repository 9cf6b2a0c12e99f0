/** An outbox in PostgreSQL, in every layout another language may have made, over both drivers. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { postgresOutboxStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { OutboxLayoutName } from "../../../adapters/sql/mod.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { MAX_ATTEMPTS, outboxStoreContract, type OutboxStoreUnderTest } from "../../contract/outbox_store.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";

const skip = await missing("postgresql");

const LAYOUTS: readonly OutboxLayoutName[] = ["typescript", "ruby", "java", "python", "go", "dotnet"];

/** A place for all cases of a layout: making one takes longer than most of them. */
async function openPlace(layout: OutboxLayoutName): Promise<OutboxStoreUnderTest<SqlSession> & { place: Scratch }> {
  const place = await scratch();
  const store = postgresOutboxStore(place.postgresJs(), { maxAttempts: MAX_ATTEMPTS, layout });
  await store.createSchemaIfAbsent();
  const pool = place.pool();
  const session = postgresSession(pool);
  return {
    place,
    store,
    // What the database says is all the second one knows.
    other: postgresOutboxStore(pool, { maxAttempts: MAX_ATTEMPTS }),
    transaction: (work) => session.transaction(work),
    outside: session,
    isOrdered: layout === "typescript",
    isWhole: layout !== "java" && layout !== "dotnet",
    keepsPublished: !hasLeases(layout),
    // The database's own clock tells moments apart by itself, but where it is written in milliseconds.
    pass: async (ms) => ms > 1 || layout === "python" ? await place.pass(ms) : undefined,
    close: async () =>
      void await place.sql.unsafe(
        `TRUNCATE ${hasLeases(layout) ? "acemq_outbox, acemq_outbox_leases" : "acemq_outbox"}`,
      ),
  };
}

/** Whether leases stand in a table of their own, and rows go when they are published. */
function hasLeases(layout: OutboxLayoutName): boolean {
  return layout === "python" || layout === "go";
}

for (const layout of LAYOUTS) {
  describe(`an outbox in PostgreSQL, layout '${layout}' [OBX-07, OBX-08, OBX-12, OB-23, OB-28, OB-30]`, () => {
    let opened: ReturnType<typeof openPlace> | undefined;
    after(async () => await (await opened)?.place.close());
    outboxStoreContract(`PostgreSQL, layout '${layout}'`, () => opened ??= openPlace(layout), { skip });
  });
}

describe("an outbox in PostgreSQL that commits", () => {
  it("waits for the disk when it marks rows, and not when it claims them", { skip }, async () => {
    const place = await scratch();
    try {
      const sql = place.postgresJs({ max: 1 });
      await sql.unsafe("SET synchronous_commit = on");
      const store = postgresOutboxStore(sql);
      await store.createSchemaIfAbsent();
      await sql.unsafe(
        `CREATE TABLE noted (setting text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO noted VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
        CREATE TRIGGER noting AFTER UPDATE ON acemq_outbox EXECUTE FUNCTION note();`,
      );
      const outbound = { exchange: "", routingKey: "q", headers: {}, body: new Uint8Array(), messageId: "1" };
      await store.add(sql, { ...outbound, persistent: true, mandatory: true }, { outsideTransaction: true });
      const claim = await store.claim({ limit: 1, leaseMs: 60_000, mode: "continue", onRetired: "release" });
      await store.markPublished(claim.token, claim.rows.map(({ id }) => id));
      const noted = await sql<{ setting: string }[]>`SELECT setting FROM noted`;
      assert.deepEqual(noted.map(({ setting }) => setting), ["off", "on"]);
    } finally {
      await place.close();
    }
  });
});
