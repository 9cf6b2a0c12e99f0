/** Processes that are killed with a claim in their hands, or held up until it has ended: nothing is lost, and the effect is there once. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChildProgram } from "../support/child_program.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { type MadeClaims, makeSharedClaims } from "../support/shared_claims.ts";
import type { SharedDatabaseKind } from "../support/shared_database.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq") || await missing("postgresql");

const DATABASES: readonly SharedDatabaseKind[] = ["SQLite", "PostgreSQL"];
const CLAIM_TIMEOUT_MS = 1_000;
const IDS = ["a", "b", "c"];

/** A line of the program. */
interface Said {
  readonly what: "handling" | "point";
  readonly id: string;
  readonly at: number;
}

/** One process of `programs/pay_once.ts`. */
class Payer extends ChildProgram {
  constructor(queue: string, address: string, point = "nowhere") {
    super("pay_once", [AMQP_URL, queue, address, point, String(CLAIM_TIMEOUT_MS)]);
  }

  /** Waits until it stands at its point. */
  async atPoint(): Promise<Said> {
    return JSON.parse(await this.line("the program to be at its point", (line) => JSON.parse(line).what === "point"));
  }

  /** When it began to handle a message, each time. */
  handled(id: string): readonly number[] {
    const said: readonly Said[] = this.lines.map((line) => JSON.parse(line));
    return said.filter(({ what, id: of }) => what === "handling" && of === id).map(({ at }) => at);
  }
}

/** A queue with messages, claims to pay for them by, and processes that do it. */
interface Shop {
  readonly scene: RabbitScene;
  readonly queue: string;
  readonly claims: MadeClaims;
  readonly hire: (point?: string) => Payer;
}

/** Plays in a shop of its own; afterwards every message has had its effect, once, and nobody is left. */
async function shop(
  database: SharedDatabaseKind,
  play: (place: Shop) => Promise<void>,
): Promise<void> {
  await onRabbit("idempotency-crash", async (scene) => {
    const queue = await scene.bare.queue("payments", { "x-queue-type": "quorum" });
    const claims = await makeSharedClaims(database);
    const payers: Payer[] = [];
    const hire = (point?: string): Payer => {
      const payer = new Payer(queue, claims.address, point);
      payers.push(payer);
      return payer;
    };
    try {
      for (const id of IDS) await put(scene, queue, id);
      await play({ scene, queue, claims, hire });
      assert.deepEqual(await claims.effects(), IDS, "Every effect is there, and once");
      const left = await Promise.all(["", ".dlq", ".parked"].map((suffix) => scene.bare.depth(`${queue}${suffix}`)));
      assert.deepEqual(left, [0, 0, 0], "Nothing is left, dead-lettered or parked");
    } finally {
      await Promise.all(payers.map((payer) => payer.kill()));
      await claims.close();
    }
  });
}

async function put(scene: RabbitScene, queue: string, id: string): Promise<void> {
  const options = { messageId: id, contentType: "application/json", headers: { "x-acemq-id": id } };
  await scene.bare.put(queue, "{}", options);
}

/** Waits until every message has had its effect and none is on the queue. */
async function allPaid({ scene, queue, claims }: Omit<Shop, "hire">): Promise<void> {
  await until("every effect to be there", async () => (await claims.effects()).length >= IDS.length, {
    timeoutMs: 60_000,
  });
  await scene.depth(queue, 0);
}

/** Where a process dies, and what the next one has to do about the message. */
const POINTS: Readonly<Record<string, "handles it again" | "acknowledges it">> = {
  "before the work": "handles it again",
  "before the record": "handles it again",
  "before the commit": "handles it again",
  "before the confirmation": "acknowledges it",
  "before the acknowledgement": "acknowledges it",
};

for (const database of DATABASES) {
  describe(`a process that is killed with a claim in ${database}`, () => {
    for (const [point, then] of Object.entries(POINTS)) {
      const when = then === "handles it again" ? ", when the lease has ended and not before" : " without handling it";
      it(
        `${point} leaves its message to another one, which ${then}${when} [IDM-02, ID-03]`,
        { skip },
        () =>
          shop(database, async ({ scene, queue, claims, hire }) => {
            const first = new Payer(queue, claims.address, point);
            const { id } = await first.atPoint();
            const leaseEnd = await claims.leaseEnd(id);
            await first.kill();
            // The broker hears of a death by the socket.
            await scene.depth(queue, IDS.length);
            const second = hire();
            await allPaid({ scene, queue, claims });
            await second.leave();
            const again = second.handled(id);
            if (then === "acknowledges it") return assert.deepEqual(again, []);
            assert.equal(again.length, 1);
            assert.ok(leaseEnd !== undefined && Number(again[0]) >= Math.floor(leaseEnd), `${again[0]} < ${leaseEnd}`);
          }),
      );
    }
  });

  describe(`a process that is held up until its claim in ${database} has ended`, () => {
    // A transaction that is open on a SQLite file keeps everybody from writing to it.
    const points = database === "SQLite" ? ["before the work"] : ["before the work", "before the record"];
    for (const point of points) {
      it(
        `${point} has no effect any more: another one has done the work`,
        { skip },
        () =>
          shop(database, async ({ scene, queue, claims, hire }) => {
            const late = new Payer(queue, claims.address, point);
            const { id } = await late.atPoint();
            late.signal("SIGSTOP");
            await put(scene, queue, id);
            const second = hire();
            await allPaid({ scene, queue, claims });
            late.tell("go on");
            late.signal("SIGCONT");
            await until("it to have noticed", async () => late.handled(id).length + second.handled(id).length >= 2);
            await late.leave();
            await second.leave();
            assert.deepEqual([late.handled(id).length, second.handled(id).length], [1, 1]);
          }),
      );
    }
  });
}
