/**
 * Where RabbitMQ 4 answers otherwise than RabbitMQ 3 about streams.
 *
 * @module
 */
import assert from "node:assert/strict";
import { allOf, entriesOf, readFrom, STREAM, streamIn } from "../contract/broker/stream_world.ts";
import { deadLettering } from "../contract/broker/stream_keeping.ts";
import type { World } from "../contract/broker/world.ts";

/** A case of the contract, what RabbitMQ 4 does in its place, and the proof. */
export type Difference = readonly [
  titles: readonly string[],
  instead: string,
  body: (world: World) => Promise<void>,
];

export const STREAM_DIFFERENCES: readonly Difference[] = [
  [
    ["tells that a stream is no classic queue, and a classic queue no stream"],
    "tells streams and classic queues from each other by the values of their types",
    async (world) => {
      const [stream, queue] = [await streamIn(world, "s"), await world.queue("q")];
      const differs = (name: string, received: string, current: string): object => ({
        status: "differs",
        reason: `PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue '${name}' in vhost '/': ` +
          `received '${received}' but current is '${current}'`,
      });
      assert.deepEqual(await world.declareQueue(stream), differs(stream, "classic", "stream"));
      assert.deepEqual(await world.declareQueue(queue, { arguments: STREAM }), differs(queue, "stream", "classic"));
    },
  ],
  [
    ["requeue", "discard"].map((as) =>
      `loses the reader that settles an entry with "${as}": it begins again where it began`
    ),
    "takes what is given back or discarded for acknowledged: a stream goes on with the next entry",
    async (world) => {
      for (const as of ["requeue", "discard"] as const) {
        const stream = await streamIn(world, as);
        await world.fill(stream, "0", "1", "2");
        const reader = await readFrom(world, stream, { from: "first", prefetch: 1 });
        for (let given = 0; given < 3; given++) {
          await entriesOf(world, reader, given + 1);
          assert.equal(reader.deliveries[given]?.settle(as), "sent");
        }
        assert.deepEqual(await allOf(world, stream), ["0", "1", "2"]);
        assert.deepEqual([reader.bodies().slice(0, 3), reader.losses], [["0", "1", "2"], []]);
      }
    },
  ],
  [
    [
      "drops headers that hold lists and tables, the broker's and anybody's",
      "keeps bytes as bytes",
    ],
    "keeps lists and tables in headers whose names begin with x-, but for x-death, and reads bytes as text",
    async (world) => {
      const stream = await streamIn(world, "s");
      const kept = { "x-list": [1, "a"], "x-table": { a: 1 }, CC: ["nobody"] };
      const bytes = Uint8Array.of(1, 2);
      await world.publish(stream, { headers: { ...kept, bytes, list: [1], table: {}, "x-death": [{ count: 1 }] } });
      const reader = await readFrom(world, stream, { from: "first" });
      await entriesOf(world, reader, 1);
      assert.deepEqual(reader.deliveries.map(({ message }) => message.headers), [
        { ...kept, bytes: "\u0001\u0002", "x-stream-offset": 0 },
      ]);
    },
  ],
  [
    [
      ...["classic", "quorum"].map((type) =>
        `loses what a ${type} queue dead-letters into a stream, while other queues get it`
      ),
      "loses what has expired on its way into a stream, as on a rung",
      "keeps what a quorum queue dead-letters into a stream at least once, without the list of its deaths",
    ],
    "keeps what was dead-lettered into a stream, with its deaths",
    async (world) => {
      const patient = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
      for (const [type, args] of [["classic", {}], ["quorum", {}], ["quorum", patient]] as const) {
        const { stream, queue } = await deadLettering(world, type, args);
        await world.fill(queue, "1");
        (await world.hold(queue)).settle("discard");
        const reader = await readFrom(world, stream, { from: "first" });
        assert.deepEqual(await entriesOf(world, reader, 1), ["1"]);
        const headers = reader.deliveries[0]?.message.headers ?? {};
        assert.deepEqual([headers["x-first-death-queue"], headers["x-first-death-reason"]], [queue, "rejected"]);
        const deaths = headers["x-death"];
        assert.ok(Array.isArray(deaths) && deaths.length === 1);
        for (const name of [stream, queue]) await world.mq.deleteQueue(name);
      }
    },
  ],
];
