/**
 * Declaring a stream: what it may be told, what not, and how it is asked for and removed.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { DeclareResult } from "../../../src/ports/broker.ts";
import type { DeclareArguments, QueueSpec } from "../../../src/topology/specs.ts";
import { allOf, readFrom, STREAM, streamIn } from "./stream_world.ts";
import type { Scenario } from "./world.ts";

/** What only a stream can be told. */
const RETENTION: DeclareArguments = {
  ...STREAM,
  "x-max-age": "1h",
  "x-max-length-bytes": 1_000_000,
  "x-stream-max-segment-size-bytes": 5_000,
};

/** What the second declaration says otherwise, and how the broker names the difference. */
const DIFFERENCES: readonly (readonly [label: string, spec: Partial<QueueSpec>, words: string])[] = [
  [
    "another age",
    changed({ "x-max-age": "2h" }),
    "'x-max-age' for queue 'Q' in vhost '/': received '2h' but current is '1h'",
  ],
  [
    "the same age in another unit",
    changed({ "x-max-age": "60m" }),
    "'x-max-age' for queue 'Q' in vhost '/': received '60m' but current is '1h'",
  ],
  [
    "another length",
    changed({ "x-max-length-bytes": 1 }),
    "'x-max-length-bytes' for queue 'Q' in vhost '/': received '1' but current is '1000000'",
  ],
  [
    "no segment size [STR-08]",
    changed({ "x-stream-max-segment-size-bytes": undefined }),
    "'x-stream-max-segment-size-bytes' for queue 'Q' in vhost '/': " +
    "received none but current is the value '5000' of type 'signedint'",
  ],
  [
    "several things, of which it names its length first",
    { arguments: STREAM },
    "'x-max-length-bytes' for queue 'Q' in vhost '/': received none but current is the value '1000000' of type 'signedint'",
  ],
  [
    "no durability",
    { durable: false, arguments: RETENTION },
    "'durable' for queue 'Q' in vhost '/': received 'false' but current is 'true'",
  ],
];

/** What a stream cannot be declared with, and the words. */
const REFUSED: readonly (readonly [spec: Partial<QueueSpec>, words: string])[] = [
  [{ durable: false }, "invalid property 'non-durable' for queue 'Q' in vhost '/'"],
  [{ exclusive: true }, "invalid property 'exclusive-owner' for queue 'Q' in vhost '/'"],
  [{ autoDelete: true }, "invalid property 'auto-delete' for queue 'Q' in vhost '/'"],
  [{ durable: false, exclusive: true }, "invalid property 'exclusive-owner' for queue 'Q' in vhost '/'"],
  [
    { autoDelete: true, arguments: { "x-max-age": "1d", "x-max-length": 5 } },
    "invalid arg 'x-max-age' for queue 'Q' in vhost '/': invalid_max_age",
  ],
  ...[["x-overflow", "x-max-length"], ["x-max-length", "x-overflow"]].map(([first = "", second = ""]) =>
    [
      { durable: false, arguments: { [first]: "nothing", [second]: -1 } },
      `invalid arg '${first}' for queue 'Q' in vhost '/' of queue type rabbit_stream_queue`,
    ] as const
  ),
  ...["0s", "1w", "1d", "1h30m", "1.5h", "1"].map((age) =>
    [
      { arguments: { "x-max-age": age } },
      "invalid arg 'x-max-age' for queue 'Q' in vhost '/': invalid_max_age",
    ] as const
  ),
  [
    { arguments: { "x-max-age": 5 } },
    "invalid arg 'x-max-age' for queue 'Q' in vhost '/': {unacceptable_type,signedint}",
  ],
  ...["x-max-length-bytes", "x-stream-max-segment-size-bytes"].flatMap((name) =>
    [
      [{ arguments: { [name]: -1 } }, `invalid arg '${name}' for queue 'Q' in vhost '/': {value_negative,-1}`],
      [
        { arguments: { [name]: "1" } },
        `invalid arg '${name}' for queue 'Q' in vhost '/': "expected integer, got longstr"`,
      ],
    ] as const
  ),
  [
    { arguments: { "x-initial-cluster-size": 0 } },
    "invalid arg 'x-initial-cluster-size' for queue 'Q' in vhost '/': {value_zero,0}",
  ],
  [
    { durable: false, arguments: { "x-queue-leader-locator": "nowhere" } },
    "invalid arg 'x-queue-leader-locator' for queue 'Q' in vhost '/': invalid_queue_locator_arg",
  ],
  [
    { arguments: { "x-max-age": "1w", "x-dead-letter-exchange": 5 } },
    "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'Q' in vhost '/'",
  ],
  [
    { arguments: { "x-stream-max-segment-size-bytes": 3_000_000_001 } },
    "Exceeded max value for x-stream-max-segment-size-bytes",
  ],
];

/** What other queues can be told, and a stream cannot. */
const NOT_FOR_STREAMS: DeclareArguments = {
  "x-message-ttl": 1_000,
  "x-expires": 100_000,
  "x-dead-letter-exchange": "d",
  "x-dead-letter-routing-key": "k",
  "x-dead-letter-strategy": "at-most-once",
  "x-max-length": 5,
  "x-overflow": "drop-head",
  "x-max-priority": 5,
  "x-single-active-consumer": true,
  "x-delivery-limit": 5,
  "x-queue-mode": "lazy",
};

/** The cases about declaring a stream. */
export function streamDeclaring(it: Scenario): void {
  it("declares a stream, and the same again without a change [STR-08]", async (world) => {
    for (const args of [STREAM, RETENTION, { ...STREAM, "x-max-age": "7D", "x-unknown": 1 }]) {
      const stream = world.name(`s${Object.keys(args).length}`);
      for (let again = 0; again < 2; again++) {
        assert.deepEqual(await world.declareQueue(stream, { arguments: args }), { status: "declared" });
      }
    }
  });

  it("takes an age in years, months, days, hours, minutes and seconds", async (world) => {
    for (const unit of "YMDhms") await streamIn(world, unit, { "x-max-age": `10${unit}` });
  });

  for (const [label, spec, words] of DIFFERENCES) {
    it(`tells what differs in a stream that is declared again with ${label}`, async (world) => {
      const stream = await world.queue("s", RETENTION);
      const reason = `PRECONDITION_FAILED - inequivalent arg ${words.replace("Q", stream)}`;
      assert.deepEqual(await world.declareQueue(stream, spec), { status: "differs", reason });
      const asked = { name: stream, durable: true, exclusive: false, autoDelete: false, arguments: {}, ...spec };
      assert.deepEqual(await world.mq.compareQueue(asked), { status: "differs", reason });
      await world.fill(stream, "and everything goes on");
    });
  }

  it("tells that a stream is no classic queue, and a classic queue no stream", async (world) => {
    const [stream, queue] = [await streamIn(world, "s"), await world.queue("q")];
    const words = (name: string, received: string, current: string): string =>
      `PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue '${name}' in vhost '/': ` +
      `received ${received} but current is ${current}`;
    const valued = "the value 'stream' of type 'longstr'";
    assert.equal(reasonOf(await world.declareQueue(stream)), words(stream, "none", valued));
    assert.equal(reasonOf(await world.declareQueue(queue, { arguments: STREAM })), words(queue, valued, "none"));
  });

  it.needing("quorum_queues")("tells that a stream is no quorum queue, and a quorum queue no stream", async (world) => {
    const [stream, quorum] = [await streamIn(world, "s"), await world.queue("q", { "x-queue-type": "quorum" })];
    const words = (name: string, received: string, current: string): string =>
      `PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue '${name}' in vhost '/': ` +
      `received '${received}' but current is '${current}'`;
    assert.equal(
      reasonOf(await world.declareQueue(stream, { arguments: { "x-queue-type": "quorum" } })),
      words(stream, "quorum", "stream"),
    );
    assert.equal(reasonOf(await world.declareQueue(quorum, { arguments: STREAM })), words(quorum, "stream", "quorum"));
  });

  it("looks at no argument that a stream does not have when it is declared again", async (world) => {
    const stream = await world.queue("s", RETENTION);
    const args = { ...RETENTION, "x-message-ttl": 1_000, "x-overflow": "drop-head", "x-dead-letter-exchange": "d" };
    assert.deepEqual(await world.declareQueue(stream, { arguments: args }), { status: "declared" });
  });

  for (const [spec, words] of REFUSED) {
    it(`refuses a stream with ${JSON.stringify(spec)}`, async (world) => {
      const stream = world.name("s");
      const asked = { ...spec, arguments: { ...STREAM, ...spec.arguments } };
      assert.equal(
        reasonOf(await world.declareQueue(stream, asked)),
        `PRECONDITION_FAILED - ${words.replace("Q", stream)}`,
      );
      assert.deepEqual(await world.mq.checkQueue(stream), { status: "absent" });
    });
  }

  for (const [name, value] of Object.entries(NOT_FOR_STREAMS)) {
    it(`refuses a stream with ${name}, which it does not have`, async (world) => {
      const stream = world.name("s");
      assert.equal(
        reasonOf(await world.declareQueue(stream, { arguments: { ...STREAM, [name]: value } })),
        `PRECONDITION_FAILED - invalid arg '${name}' for queue '${stream}' in vhost '/' of queue type rabbit_stream_queue`,
      );
    });
  }

  for (const type of ["classic", "quorum"] as const) {
    const needing = type === "quorum" ? it.needing("quorum_queues") : it;
    needing(`refuses a ${type} queue with what only a stream has`, async (world) => {
      for (const [name, value] of [["x-max-age", "1h"], ["x-stream-max-segment-size-bytes", 5_000]] as const) {
        const queue = world.name("q");
        assert.equal(
          reasonOf(await world.declareQueue(queue, { arguments: { "x-queue-type": type, [name]: value } })),
          `PRECONDITION_FAILED - invalid arg '${name}' for queue '${queue}' in vhost '/' of queue type rabbit_${type}_queue`,
        );
      }
    });
  }

  it("has no stream whose age does not begin with a digit", async (world) => {
    for (const age of ["h", "-1s", "+1h", " 1h", ""]) {
      const [stream, { mq }] = [world.name(`s${age}`), await world.connect()];
      // RabbitMQ closes the connection over it, and says nothing of the age.
      const answer = await world.declareQueue(stream, { by: mq, arguments: { ...STREAM, "x-max-age": age } })
        .catch(() => ({ status: "refused" }));
      assert.equal(answer.status, "refused");
      assert.deepEqual(await world.mq.checkQueue(stream), { status: "absent" });
    }
  });

  it("counts what a stream holds, sooner or later, and no reader", async (world) => {
    const stream = await streamIn(world, "s");
    assert.deepEqual(await world.mq.checkQueue(stream), { status: "present", messages: 0, consumers: 0 });
    const { deliveries } = await readFrom(world, stream, { each: (delivery) => delivery.settle("ack") });
    await world.fill(stream, "1", "2", "3");
    await world.until("three entries", () => deliveries.length === 3);
    await world.depth(stream, 3);
    assert.deepEqual(await world.mq.checkQueue(stream), { status: "present", messages: 3, consumers: 0 });
  });

  it("deletes a stream with all that is in it", async (world) => {
    const stream = await streamIn(world, "s");
    await world.fill(stream, "1", "2");
    await world.mq.deleteQueue(stream);
    assert.deepEqual(await world.mq.checkQueue(stream), { status: "absent" });
    await streamIn(world, "s");
    assert.deepEqual(await allOf(world, stream), []);
  });
}

function changed(change: { readonly [name: string]: string | number | undefined }): Partial<QueueSpec> {
  const args = Object.entries({ ...RETENTION, ...change }).filter(([, value]) => value !== undefined);
  return { arguments: Object.fromEntries(args) as DeclareArguments };
}

function reasonOf(result: DeclareResult): string {
  return result.status === "declared" ? "declared" : result.reason;
}
