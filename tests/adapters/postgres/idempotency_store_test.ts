/** Claims in PostgreSQL, in every layout another language may have made, over both drivers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresIdempotencyStore } from "../../../adapters/postgres/mod.ts";
import type { IdempotencyLayoutName } from "../../../adapters/sql/mod.ts";
import { CLAIM_TIMEOUT_MS, idempotencyStoreContract, RETENTION_MS } from "../../contract/idempotency_store.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { SettableClock } from "../../support/settable_clock.ts";

const skip = await missing("postgresql");

const TIMES = { claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };
const LAYOUTS: readonly IdempotencyLayoutName[] = ["java", "python", "go", "dotnet"];

for (const layout of LAYOUTS) {
  idempotencyStoreContract(`PostgreSQL, layout '${layout}'`, async () => {
    const place = await scratch();
    const store = postgresIdempotencyStore(place.postgresJs(), { ...TIMES, layout });
    await store.createSchemaIfAbsent();
    const other = postgresIdempotencyStore(place.pool(), TIMES);
    return { store, other, pass: place.pass, close: place.close };
  }, { skip });
}

describe("claims in PostgreSQL", () => {
  it("are what the contract lists when they are made here", { skip }, async () => {
    const place = await scratch();
    const store = postgresIdempotencyStore(place.postgresJs(), { newId: () => "n-uuid" });
    await store.createSchemaIfAbsent();
    const read = async (): Promise<unknown> => {
      const [row] = await place.sql.unsafe(
        `SELECT message_id, state, claimed_by, extract(epoch FROM expires_at - recorded_at)::int AS seconds,
          abs(extract(epoch FROM recorded_at - now())) < 60 AS recent FROM acemq_idempotency`,
      );
      return { ...row };
    };
    const claim = { message_id: "6f1d…", state: "CLAIMED", claimed_by: "n-uuid", seconds: 300, recent: true };
    await store.tryClaim("6f1d…");
    assert.deepEqual(await read(), claim);
    await store.confirm("6f1d…", "n-uuid");
    assert.deepEqual(await read(), { ...claim, state: "CONFIRMED", claimed_by: null, seconds: 86_400 });
    await place.close();
  });

  it("end by the database's clock, whatever is done to the clocks of those who make them", { skip }, async () => {
    const place = await scratch();
    const clock = new SettableClock();
    const one = postgresIdempotencyStore(place.postgresJs(), { ...TIMES, clock });
    const other = postgresIdempotencyStore(place.pool(), { ...TIMES, clock });
    await one.createSchemaIfAbsent();
    const claim = await one.tryClaim("m");
    assert.ok(claim.status === "claimed");
    for (const hours of [30, -60, 30]) {
      clock.set(3_600_000 * hours);
      assert.deepEqual(await other.tryClaim("m"), { status: "in_progress" });
      assert.equal(await other.purgeExpired(), 0);
    }
    await place.pass(CLAIM_TIMEOUT_MS);
    const taken = await other.tryClaim("m");
    assert.ok(taken.status === "claimed");
    clock.set(3_600_000 * 30);
    assert.equal(await one.confirm("m", claim.token), "lost");
    assert.equal(await other.confirm("m", taken.token), "held");
    assert.equal(await one.purgeExpired(), 0);
    assert.equal(await one.isConfirmed("m"), true);
    await place.close();
  });
});
