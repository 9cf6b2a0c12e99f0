/** Processes that are killed while they place orders and announce them: every order there is gets announced, and no other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChildProgram } from "../support/child_program.ts";
import { IS_LONG_RUN } from "../support/long_run.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import type { SharedDatabaseKind } from "../support/shared_database.ts";
import { type MadeOutbox, makeSharedOutbox } from "../support/shared_outbox.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq") || await missing("postgresql");

const DATABASES: readonly SharedDatabaseKind[] = ["SQLite", "PostgreSQL"];
/** A process is killed when so many more orders are there. */
const ROUNDS: readonly number[] = IS_LONG_RUN ? [1, 40, 90, 160] : [40];
const HOUR_MS = 3_600_000;
const LEASE_MS = 2_000;

/** A line of the program. */
interface Said {
  readonly what: "claimed" | "point";
  readonly ids: readonly string[];
  readonly at: number;
}

/** One process of `programs/place_orders.ts`. */
class Placer extends ChildProgram {
  constructor(queue: string, address: string, point: string, pollIntervalMs: number) {
    super("place_orders", [AMQP_URL, queue, address, point, String(pollIntervalMs), String(LEASE_MS)]);
  }

  async atPoint(): Promise<void> {
    await this.line("the program to be at its point", (line) => JSON.parse(line).what === "point");
  }

  /** Its claims that were not empty. */
  get claims(): readonly Said[] {
    return this.lines.map((line): Said => JSON.parse(line)).filter(({ what }) => what === "claimed");
  }
}

/** A queue for announcements, an outbox, and processes that use both. */
class Shop {
  readonly scene: RabbitScene;
  readonly queue: string;
  readonly outbox: MadeOutbox;
  readonly placers: Placer[] = [];

  constructor(scene: RabbitScene, queue: string, outbox: MadeOutbox) {
    this.scene = scene;
    this.queue = queue;
    this.outbox = outbox;
  }

  hire(point: string, pollIntervalMs = HOUR_MS): Placer {
    const placer = new Placer(this.queue, this.outbox.address, point, pollIntervalMs);
    this.placers.push(placer);
    return placer;
  }

  /** Kills a process: what it had in hand then, once the database has undone what it had not committed. */
  async kill(placer: Placer): Promise<readonly string[]> {
    await placer.kill();
    await until("the database to know of it", () => this.outbox.isRidOf(placer.pid));
    return await this.outbox.inHand();
  }

  /** Waits until nothing is left to publish, sends the last process away, and takes everything off the queue: the ids. */
  async announced(last: Placer): Promise<readonly string[]> {
    const { store } = this.outbox;
    await until("an empty outbox", async () => (await store.stats()).pending === 0, { timeoutMs: 60_000 });
    await last.leave();
    return await this.scene.bare.takeAll(this.queue);
  }
}

async function shop(database: SharedDatabaseKind, play: (place: Shop) => Promise<void>): Promise<void> {
  await onRabbit("acemq-outbox-crash", async (scene) => {
    const place = new Shop(scene, await scene.bare.queue("orders"), await makeSharedOutbox(database));
    try {
      await play(place);
    } finally {
      await Promise.all(place.placers.map((placer) => placer.kill()));
      await place.outbox.close();
    }
  });
}

/** Asserts that every order was announced and nothing else was, and gives the ids that were announced twice. */
function doublesAmong(announced: readonly string[], orders: readonly string[]): readonly string[] {
  assert.deepEqual([...new Set(announced)].sort(), orders, "Whatever was placed is announced, and nothing else");
  return announced.filter((id, index) => announced.indexOf(id) < index);
}

interface Consequence {
  /** Whether the twenty orders that were just being placed are there. */
  readonly placed: boolean;
  /** How many of their announcements the queue has twice in the end. */
  readonly doubles: number;
  /** Whether somebody has them under a lease. */
  readonly leased: boolean;
}

/** Where a process dies, and what follows from it. */
const POINTS: Readonly<Record<string, Consequence>> = {
  "after the insert": { placed: false, doubles: 0, leased: false },
  "before the commit": { placed: false, doubles: 0, leased: false },
  "after the commit": { placed: true, doubles: 0, leased: false },
  "between claim and publish": { placed: true, doubles: 0, leased: true },
  "in the middle of a batch": { placed: true, doubles: 7, leased: true },
  "between publish and mark": { placed: true, doubles: 20, leased: true },
};

function describePoint({ placed, doubles, leased }: Consequence): string {
  if (!placed) return "leaves no order and announces none";
  if (!leased) return "leaves orders that the next one announces as it begins, each once";
  const which = doubles === 0 ? "none of them twice" : `twice the ${doubles} that were in a queue and not marked`;
  return `leaves orders that the next one announces when the lease has ended and not before, ${which}`;
}

for (const database of DATABASES) {
  describe(`a process that is killed with an outbox in ${database}`, () => {
    for (const [point, then] of Object.entries(POINTS)) {
      it(
        `${point} ${describePoint(then)} [OBX-01, OBX-06]`,
        { skip, timeout: 120_000 },
        () =>
          shop(database, async (place) => {
            const { outbox } = place;
            const first = place.hire(point);
            await first.atPoint();
            const leaseEnd = await outbox.leaseEnd();
            const inHand = await place.kill(first);
            assert.equal((await outbox.orders()).length, then.placed ? 22 : 2);
            assert.equal(inHand.length, then.leased ? 20 : 0);
            const heir = place.hire("heir", then.leased ? 100 : HOUR_MS);
            const doubles = doublesAmong(await place.announced(heir), await outbox.orders());
            assert.equal(doubles.length, then.doubles);
            assert.ok(doubles.every((id) => inHand.includes(id)), "Only what was in its hands");
            if (!then.leased) return;
            const [claim = assert.fail("It has claimed")] = heir.claims;
            assert.ok(leaseEnd !== undefined && claim.at >= Math.floor(leaseEnd), `${claim.at} < ${leaseEnd}`);
          }),
      );
    }

    it(
      "again and again, whatever it is just doing, loses no order and announces none that was taken back [OBX-01, OBX-06]",
      { skip, timeout: 120_000 },
      () =>
        shop(database, async (place) => {
          const { outbox } = place;
          const mayBeDouble = new Set<string>();
          for (const enough of ROUNDS) {
            const placer = place.hire("none", 100);
            const before = (await outbox.orders()).length;
            await until("some orders", async () => (await outbox.orders()).length >= before + enough, {
              timeoutMs: 60_000,
            });
            for (const id of await place.kill(placer)) mayBeDouble.add(id);
          }
          const heir = place.hire("heir", 100);
          const doubles = doublesAmong(await place.announced(heir), await outbox.orders());
          assert.deepEqual(doubles.filter((id) => !mayBeDouble.has(id)), [], "Only what was in somebody's hands");
        }),
    );
  });

  describe(`a process with an outbox in ${database} that is not killed`, () => {
    it(
      "announces at once what it commits, each once, though it polls once an hour",
      { skip, timeout: 120_000 },
      () =>
        shop(database, async (place) => {
          const placer = place.hire("nowhere");
          await until("every order", async () => (await place.outbox.orders()).length === 22, { timeoutMs: 60_000 });
          const doubles = doublesAmong(await place.announced(placer), await place.outbox.orders());
          assert.deepEqual(doubles, []);
        }),
    );
  });
}
