/** A handler that records, works and announces in one commit, and whose delivery then comes to a bad end. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sqliteIdempotencyStore, sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { park, reject, retry } from "../../src/consume/ack.ts";
import { FatalError } from "../../src/errors.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { MemoryWorld } from "../support/memory_world.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";
import { until } from "../support/until.ts";

/** What may become of a delivery after its transaction was committed. */
const ENDINGS = {
  "throws what cannot be tried again": () => {
    throw new FatalError("The receipt cannot be printed");
  },
  "is rejected": () => reject("not for us"),
  "is parked": () => park("for a person"),
  "fails, and is tried again": () => retry("the printer is busy"),
  "loses its connection": (world: MemoryWorld) => world.faults.lose(),
} as const;

describe("what a handler has announced in its own commit", () => {
  for (const [ending, end] of Object.entries(ENDINGS)) {
    it(`is sent, once, although its delivery ${ending} after it [ID-05]`, async () => {
      const [world, file] = [new MemoryWorld(), sqliteFile()];
      const { clock } = world;
      const mq = await world.connect();
      await mq.declare(topology().queue("orders").queue("announcements"));
      const session = sqliteSession(file.open());
      const seen = sqliteIdempotencyStore(session, { clock });
      const outbox = sqliteOutboxStore(session, { clock });
      await seen.createSchemaIfAbsent();
      await outbox.createSchemaIfAbsent();
      await session.query("CREATE TABLE orders (id TEXT)");
      const announced = mq.publisher("", "announcements");
      let commits = 0;
      await mq.consume<{ readonly id: string }>("orders", async (message) => {
        const { id } = message.payload;
        await session.transaction(async (tx) => {
          await seen.onceWithin(tx, message);
          await tx.query("INSERT INTO orders VALUES (?)", [id]);
          await outbox.add(tx, announced.prepare({ placed: id }));
        });
        commits++;
        return await end(world);
      }, { idempotency: seen, retry: fixedRetry(3, { delayMs: 1_000 }) });
      world.put("orders", { id: "A-1" }, { messageId: "m-1" });
      await until("the commit", () => commits > 0);
      await clock.advance(10_000);
      await world.faults.recover();
      await clock.advance(10_000);
      await mq.idle();
      await mq.relay(outbox).runOnce();
      assert.equal(commits, 1);
      assert.deepEqual((await session.query("SELECT id FROM orders")).rows.map(({ id }) => id), ["A-1"]);
      const texts = world.waiting("announcements").map(({ body }) => new TextDecoder().decode(body));
      assert.deepEqual(texts, ['{"placed":"A-1"}']);
      assert.deepEqual([world.depth("orders"), world.unsettled("orders")], [0, 0]);
      await world.close();
      file.close();
    });
  }
});
