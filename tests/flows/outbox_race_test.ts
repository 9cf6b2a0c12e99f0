/** Processes that relay one table at once: each row is published by one of them, and by two only when one was killed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChildProgram } from "../support/child_program.ts";
import { IS_LONG_RUN } from "../support/long_run.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import type { SharedDatabaseKind } from "../support/shared_database.ts";
import { announcement, type MadeOutbox, makeSharedOutbox } from "../support/shared_outbox.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq") || await missing("postgresql");

const ROWS: Readonly<Record<SharedDatabaseKind, number>> = IS_LONG_RUN
  ? { PostgreSQL: 20_000, SQLite: 5_000 }
  : { PostgreSQL: 1_000, SQLite: 500 };
const LEASE_MS = 5_000;

/** One process of `programs/relay_rows.ts`. */
class Relayer extends ChildProgram {
  constructor(address: string) {
    super("relay_rows", [AMQP_URL, address, String(LEASE_MS)]);
  }

  async ready(): Promise<void> {
    await this.line("the process to be ready", (line) => line === "ready");
  }

  /** Rows it has published in all. */
  async share(): Promise<number> {
    await this.leave();
    return JSON.parse(this.lines[1] ?? assert.fail("It ended without a word")).published;
  }
}

interface Race {
  readonly scene: RabbitScene;
  readonly queue: string;
  readonly outbox: MadeOutbox;
  readonly ids: readonly string[];
  readonly relayers: readonly Relayer[];
}

/** Fills an outbox, and has processes begin at once to empty it. */
async function race(
  database: SharedDatabaseKind,
  processes: number,
  play: (race: Race) => Promise<void>,
): Promise<void> {
  await onRabbit("acemq-outbox-race", async (scene) => {
    const queue = await scene.bare.queue("orders");
    const outbox = await makeSharedOutbox(database);
    const relayers = Array.from({ length: processes }, () => new Relayer(outbox.address));
    try {
      const ids = Array.from({ length: ROWS[database] }, (_, number) => `m-${number}`);
      const body = new TextEncoder().encode("x".repeat(1_000));
      const messages = ids.map((id) => announcement(id, queue, body));
      await outbox.session.transaction((tx) => outbox.store.addAll(tx, messages));
      await Promise.all(relayers.map((relayer) => relayer.ready()));
      for (const relayer of relayers) relayer.tell("go");
      await play({ scene, queue, outbox, ids, relayers });
    } finally {
      await Promise.all(relayers.map((relayer) => relayer.kill()));
      await outbox.close();
    }
  });
}

/** Waits until so much is in the queue: to count the rows again and again would take from those that race. */
async function arrived({ scene, queue }: Race, count: number): Promise<void> {
  const isThere = async (): Promise<boolean> => Number(await scene.bare.depth(queue)) >= count;
  await until(`${count} messages in the queue`, isThere, { timeoutMs: 120_000 });
}

async function emptied(all: Race): Promise<void> {
  await arrived(all, all.ids.length);
  const { store } = all.outbox;
  await until("an empty outbox", async () => (await store.stats()).pending === 0, { timeoutMs: 120_000 });
}

/** By a claim and by a mark: whoever looks at a row that somebody else has leaves it alone. */
async function eachWasUpdatedTwice({ outbox, ids }: Race): Promise<void> {
  await until("the updates to be counted", async () => await outbox.updates() >= 2 * ids.length);
  assert.equal(await outbox.updates(), 2 * ids.length);
}

describe("processes that relay one table at once", () => {
  const races: readonly (readonly [SharedDatabaseKind, number])[] = [["PostgreSQL", 2], ["PostgreSQL", 4], [
    "SQLite",
    2,
  ]];
  for (const [database, processes] of races) {
    it(
      `publish each of ${
        ROWS[database]
      } rows in ${database} once, ${processes} of them, and change none that another has [OBX-07, OB-09]`,
      { skip, timeout: 300_000 },
      () =>
        race(database, processes, async (all) => {
          await emptied(all);
          const shares = await Promise.all(all.relayers.map((relayer) => relayer.share()));
          const published = await all.scene.bare.takeAll(all.queue);
          assert.deepEqual(published.toSorted(), all.ids.toSorted());
          assert.equal(shares.reduce((sum, share) => sum + share, 0), all.ids.length);
          if (database === "PostgreSQL") await eachWasUpdatedTwice(all);
          // A few hundred may be over before the second process has read its line of input.
          if (IS_LONG_RUN) assert.ok(shares.every((share) => share > 0), `It was a race: ${shares}`);
        }),
    );
  }

  it(
    `publish each of ${ROWS.PostgreSQL} rows in PostgreSQL, and twice only what one of three has had in hand when it was killed [OBX-06, OBX-07]`,
    { skip, timeout: 300_000 },
    () =>
      race("PostgreSQL", 3, async (all) => {
        const { outbox, relayers: [killed, ...others], ids } = all;
        await arrived(all, ids.length / 4);
        await killed?.kill();
        await until("the database to know of it", () => outbox.isRidOf(killed?.pid ?? 0));
        // What the others had in hand then they publish once.
        const inHand = new Set(await outbox.inHand());
        await emptied(all);
        await Promise.all(others.map((relayer) => relayer.share()));
        const published = await all.scene.bare.takeAll(all.queue);
        assert.deepEqual([...new Set(published)].sort(), ids.toSorted());
        const seen = new Set<string>();
        const doubles = published.filter((id) => seen.size === seen.add(id).size);
        assert.deepEqual(doubles.filter((id) => !inHand.has(id)), []);
        assert.ok(doubles.length <= 300, `Three batches at most: ${doubles.length}`);
      }),
  );
});
