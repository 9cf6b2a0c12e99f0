/** An outbox in a SQLite file while somebody sets the machine's clock: nobody takes what another one has in hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OutboxLayoutName } from "../../../adapters/sql/mod.ts";
import { type SqliteOutboxStore, sqliteOutboxStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import type { OutboxClaim } from "../../../src/ports/outbox_store.ts";
import { outboundOf } from "../../support/outbox_world.ts";
import { SettableClock } from "../../support/settable_clock.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const LAYOUTS: readonly OutboxLayoutName[] = ["typescript", "ruby", "java", "dotnet", "python", "go"];
const HOUR_MS = 3_600_000;
const LEASE_MS = 60_000;

/** Two processes on one machine. */
interface Machine {
  readonly clock: SettableClock;
  readonly one: SqliteOutboxStore;
  readonly other: SqliteOutboxStore;
  readonly add: (...ids: readonly string[]) => Promise<void>;
}

async function onMachine(layout: OutboxLayoutName, play: (machine: Machine) => Promise<void>): Promise<void> {
  const file = sqliteFile();
  const clock = new SettableClock();
  const one = sqliteOutboxStore(file.open(), { clock, layout, dropHeaders: true });
  const session = sqliteSession(file.open());
  const add = async (...ids: readonly string[]): Promise<void> => {
    const messages = ids.map((id) => outboundOf(id, { contentType: "application/json" }));
    await session.transaction((tx) => one.addAll(tx, messages));
  };
  try {
    await one.createSchemaIfAbsent();
    await play({ clock, one, other: sqliteOutboxStore(file.open(), { clock, layout }), add });
  } finally {
    file.close();
  }
}

function claim(store: SqliteOutboxStore): Promise<OutboxClaim> {
  return store.claim({ limit: 100, leaseMs: LEASE_MS, mode: "continue", onRetired: "release" });
}

function idsOf({ rows }: OutboxClaim): readonly string[] {
  return rows.map(({ id }) => id);
}

for (const layout of LAYOUTS) {
  describe(`rows of an outbox in SQLite on a machine whose clock is set, layout '${layout}'`, () => {
    it("keep their lease when it is set forward, to its end and no longer [OBX-07]", () =>
      onMachine(layout, async ({ clock, one, other, add }) => {
        await add("a", "b");
        const { token } = await claim(one);
        await clock.pass(10_000);
        clock.set(5 * HOUR_MS);
        assert.deepEqual(idsOf(await claim(other)), []);
        assert.equal(await one.markPublished(token, ["a"]), 1);
        await clock.pass(LEASE_MS - 10_001);
        assert.deepEqual(idsOf(await claim(other)), []);
        // What is below a millisecond is rounded.
        await clock.pass(3);
        assert.deepEqual(idsOf(await claim(other)), ["b"]);
        assert.equal(await one.markPublished(token, ["b"]), 0);
      }));

    it("wait for their next attempt as long as they would have", () =>
      onMachine(layout, async ({ clock, one, other, add }) => {
        await add("a", "b");
        const { token } = await claim(one);
        await one.markFailed(token, [{ id: "a", attempts: 1, reason: "nack", retryDelayMs: 256_000 }]);
        await one.giveBack(token, ["b"], { delayMs: 30_000 });
        clock.set(5 * HOUR_MS);
        assert.deepEqual(idsOf(await claim(other)), []);
        await clock.pass(256_001);
        assert.deepEqual(idsOf(await claim(other)).toSorted(), ["a", "b"]);
      }));

    it("are still their holder's when it is set back, and others are handed out", () =>
      onMachine(layout, async ({ clock, one, other, add }) => {
        await add("a");
        const { token } = await claim(one);
        clock.set(-5 * HOUR_MS);
        assert.deepEqual(idsOf(await claim(other)), []);
        await add("b");
        assert.deepEqual(idsOf(await claim(other)), ["b"]);
        assert.equal(await one.markPublished(token, ["a"]), 1);
      }));

    it("claimed while it was wrong are kept when it is right again", () =>
      onMachine(layout, async ({ clock, one, other, add }) => {
        await add("a");
        clock.set(-5 * HOUR_MS);
        await claim(other).then(({ token }) => other.giveBack(token, ["a"]));
        const { token } = await claim(one);
        clock.set(5 * HOUR_MS);
        assert.deepEqual(idsOf(await claim(other)), []);
        assert.equal(await one.markPublished(token, ["a"]), 1);
      }));

    const keeps = layout !== "python" && layout !== "go";
    if (keeps) {
      it("are purged when they are old, and not when it is set forward", () =>
        onMachine(layout, async ({ clock, one, other, add }) => {
          await add("a");
          const { token } = await claim(one);
          await one.markPublished(token, ["a"]);
          clock.set(48 * HOUR_MS);
          assert.equal(await other.purgePublished({ olderThanMs: 24 * HOUR_MS }), 0);
          await clock.pass(24 * HOUR_MS + 1);
          assert.equal(await other.purgePublished({ olderThanMs: 24 * HOUR_MS }), 1);
        }));
    }
  });
}
