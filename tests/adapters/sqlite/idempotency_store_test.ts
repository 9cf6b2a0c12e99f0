/** Claims in a SQLite file, in every layout another language may have made. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { IdempotencyLayoutName } from "../../../adapters/sql/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { CLAIM_TIMEOUT_MS, idempotencyStoreContract, RETENTION_MS } from "../../contract/idempotency_store.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const TIMES = { claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };
const LAYOUTS: readonly IdempotencyLayoutName[] = ["ruby", "python", "go", "dotnet"];

for (const layout of LAYOUTS) {
  idempotencyStoreContract(`SQLite, layout '${layout}'`, async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const store = sqliteIdempotencyStore(file.open(), { ...TIMES, clock, layout });
    await store.createSchemaIfAbsent();
    // What the file says is all the second one knows.
    const other = sqliteIdempotencyStore(file.open(), { ...TIMES, clock });
    return { store, other, pass: (ms) => clock.advance(ms), close: async () => file.close() };
  });
}

describe("claims in SQLite", () => {
  it("are what the contract lists, byte for byte, when they are made here", async () => {
    const file = sqliteFile();
    const database = file.open();
    const clock = virtualClock("2026-09-09T14:00:00Z");
    const store = sqliteIdempotencyStore(database, { clock, newId: () => "n-uuid", random: () => 0 });
    await store.createSchemaIfAbsent();
    await store.tryClaim("6f1d…");
    const row = (): unknown[] => Object.values(database.prepare("SELECT * FROM acemq_idempotency").get() ?? {});
    assert.deepEqual(row(), [
      "6f1d…",
      "CLAIMED",
      "n-uuid",
      "2026-09-09T14:00:00.000000Z",
      "2026-09-09T14:05:00.000000Z",
    ]);
    await clock.advance(2_000);
    await store.confirm("6f1d…", "n-uuid");
    assert.deepEqual(row(), ["6f1d…", "CONFIRMED", null, "2026-09-09T14:00:02.000000Z", "2026-09-10T14:00:02.000000Z"]);
    file.close();
  });

  it("are made in the transaction that is handed in, as a session or as the handle it is open on", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteIdempotencyStore(database);
    await store.createSchemaIfAbsent();
    const message = (id: string) => ({ envelope: { id } });
    const session = sqliteSession(database);
    assert.equal(await session.transaction((tx) => store.onceWithin(tx, message("a"))), "confirmed");
    const undone = session.transaction(async (tx) => {
      await store.onceWithin(tx, message("b"));
      throw new Error("rolled back");
    });
    await assert.rejects(undone, /rolled back/);
    database.exec("BEGIN");
    assert.equal(await store.onceWithin(database, message("c")), "confirmed");
    database.exec("ROLLBACK");
    assert.deepEqual(
      await Promise.all(["a", "b", "c"].map((id) => store.isConfirmed(id))),
      [true, false, false],
    );
    await assert.rejects(store.onceWithin(database, message("d")), /no transaction is open on it/);
    await assert.rejects(store.onceWithin(session, message("d")), /no transaction is open on it/);
    const stranger = session.transaction(async () => void await store.onceWithin(database, message("d")));
    await assert.rejects(stranger, /a session began the one that is open/);
    file.close();
  });
});
