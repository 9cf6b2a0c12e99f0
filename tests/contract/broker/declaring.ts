/**
 * Declaring, checking and removing: what is there, what may be said of it again, and what the broker answers otherwise.
 *
 * @module
 */

import assert from "node:assert/strict";
import { TopologyError } from "../../../src/errors.ts";
import type { HeaderValue } from "../../../src/message/header_value.ts";
import type { DeclareResult } from "../../../src/ports/broker.ts";
import type { DeclareArguments, ExchangeSpec, ExchangeType, QueueSpec } from "../../../src/topology/specs.ts";
import { askingFor, type Scenario } from "./world.ts";

/** A queue that has an argument of every kind. */
const ARGUMENTS: DeclareArguments = {
  "x-message-ttl": 60_000,
  "x-dead-letter-exchange": "d",
  "x-max-length": 5,
  "x-overflow": "drop-head",
};

/** What the second declaration says otherwise, and how the broker names the difference. */
const DIFFERENCES: readonly (readonly [label: string, spec: Partial<QueueSpec>, words: string])[] = [
  [
    "another number",
    change("x-message-ttl", 2_000),
    "'x-message-ttl' for queue 'Q' in vhost '/': received '2000' but current is '60000'",
  ],
  [
    "another text",
    change("x-dead-letter-exchange", "e"),
    "'x-dead-letter-exchange' for queue 'Q' in vhost '/': received 'e' but current is 'd'",
  ],
  [
    "an argument more",
    change("x-expires", 100_000),
    "'x-expires' for queue 'Q' in vhost '/': received the value '100000' of type 'signedint' but current is none",
  ],
  [
    "an argument less",
    change("x-dead-letter-exchange", undefined),
    "'x-dead-letter-exchange' for queue 'Q' in vhost '/': received none but current is the value 'd' of type 'longstr'",
  ],
  [
    "another type",
    change("x-queue-type", "quorum"),
    "'x-queue-type' for queue 'Q' in vhost '/': received the value 'quorum' of type 'longstr' but current is none",
  ],
  [
    "a number as text",
    change("x-max-length", "5"),
    "'x-max-length' for queue 'Q' in vhost '/': received '5' but current is '5'",
  ],
  [
    "a fraction for a number",
    change("x-message-ttl", 2.5),
    "'x-message-ttl' for queue 'Q' in vhost '/': received '2.5' but current is '60000'",
  ],
  [
    "a fraction more",
    change("x-max-length-bytes", 1.5),
    "'x-max-length-bytes' for queue 'Q' in vhost '/': received the value '1.5' of type 'double' but current is none",
  ],
  [
    "a time more",
    change("x-max-length-bytes", new Date(1_000_000)),
    "'x-max-length-bytes' for queue 'Q' in vhost '/': received the value '1000' of type 'timestamp' but current is none",
  ],
  [
    "no durability",
    { durable: false, arguments: ARGUMENTS },
    "'durable' for queue 'Q' in vhost '/': received 'false' but current is 'true'",
  ],
  [
    "deletion when unused",
    { autoDelete: true, arguments: ARGUMENTS },
    "'auto_delete' for queue 'Q' in vhost '/': received 'true' but current is 'false'",
  ],
  [
    "several things, of which a classic queue names its time to live before its dead letters",
    { arguments: { "x-overflow": "reject-publish" } },
    "'x-message-ttl' for queue 'Q' in vhost '/': received none but current is the value '60000' of type 'signedint'",
  ],
];

/** What a queue cannot be declared with, and the words. */
const REFUSED: readonly (readonly [spec: Partial<QueueSpec>, words: string])[] = [
  [
    { arguments: { "x-message-ttl": -1 } },
    "invalid arg 'x-message-ttl' for queue 'Q' in vhost '/': {value_negative,-1}",
  ],
  [
    { arguments: { "x-message-ttl": "1" } },
    "invalid arg 'x-message-ttl' for queue 'Q' in vhost '/': \"expected integer, got longstr\"",
  ],
  [{ arguments: { "x-max-length": -1 } }, "invalid arg 'x-max-length' for queue 'Q' in vhost '/': {value_negative,-1}"],
  [{ arguments: { "x-overflow": "foo" } }, "invalid arg 'x-overflow' for queue 'Q' in vhost '/': invalid_overflow"],
  [
    { arguments: { "x-queue-type": "foo" } },
    "invalid arg 'x-queue-type' for queue 'Q' in vhost '/': \"unsupported queue type 'foo'\"",
  ],
  [
    { arguments: { "x-dead-letter-routing-key": "a" } },
    "invalid arg 'x-dead-letter-routing-key' for queue 'Q' in vhost '/': routing_key_but_no_dlx_defined",
  ],
  [
    { arguments: { "x-dead-letter-exchange": true } },
    "invalid type 'bool' for arg 'x-dead-letter-exchange' in queue 'Q' in vhost '/'",
  ],
  [
    { arguments: { "x-delivery-limit": 5 } },
    "invalid arg 'x-delivery-limit' for queue 'Q' in vhost '/' of queue type rabbit_classic_queue",
  ],
  [{ arguments: { "x-expires": 0 } }, "invalid arg 'x-expires' for queue 'Q' in vhost '/': {value_zero,0}"],
  ...["x-expires", "x-message-ttl"].map((name) =>
    [
      { arguments: { [name]: 315_360_000_001 } },
      `invalid arg '${name}' for queue 'Q' in vhost '/': {value_too_large,315360000001}`,
    ] as const
  ),
  [
    { arguments: { "x-max-length-bytes": "1" } },
    "invalid arg 'x-max-length-bytes' for queue 'Q' in vhost '/': \"expected integer, got longstr\"",
  ],
  [
    { arguments: { "x-max-priority": 256 } },
    "invalid arg 'x-max-priority' for queue 'Q' in vhost '/': {max_value_exceeded,256}",
  ],
  [
    { arguments: { "x-max-priority": -1 } },
    "invalid arg 'x-max-priority' for queue 'Q' in vhost '/': {value_negative,-1}",
  ],
  [
    { arguments: { "x-queue-type": "quorum", "x-max-priority": 5 } },
    "invalid arg 'x-max-priority' for queue 'Q' in vhost '/' of queue type rabbit_quorum_queue",
  ],
  [
    { arguments: { "x-single-active-consumer": "yes" } },
    "invalid arg 'x-single-active-consumer' for queue 'Q' in vhost '/': {unacceptable_type,longstr}",
  ],
  [
    { arguments: { "x-queue-mode": "eager" } },
    "invalid arg 'x-queue-mode' for queue 'Q' in vhost '/': \"unsupported queue mode 'eager'\"",
  ],
  [
    { arguments: { "x-queue-type": "quorum", "x-queue-mode": "lazy" } },
    "invalid arg 'x-queue-mode' for queue 'Q' in vhost '/' of queue type rabbit_quorum_queue",
  ],
  [
    { arguments: { "x-queue-version": 3 } },
    "invalid arg 'x-queue-version' for queue 'Q' in vhost '/': \"unsupported queue version '3'\"",
  ],
  [
    { arguments: { "x-dead-letter-strategy": "at-most-once" } },
    "invalid arg 'x-dead-letter-strategy' for queue 'Q' in vhost '/' of queue type rabbit_classic_queue",
  ],
  [
    { arguments: { "x-queue-type": "quorum", "x-dead-letter-strategy": "at-best" } },
    "invalid arg 'x-dead-letter-strategy' for queue 'Q' in vhost '/': invalid_dlx_strategy",
  ],
  [
    { arguments: { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": 1 } },
    "invalid arg 'x-dead-letter-routing-key' for queue 'Q' in vhost '/': {unacceptable_type,signedint}",
  ],
  [
    { arguments: { "x-max-length": -1, "x-expires": 0, "x-overflow": "foo", "x-delivery-limit": 5 } },
    "invalid arg 'x-expires' for queue 'Q' in vhost '/': {value_zero,0}",
  ],
  [
    { durable: false, arguments: { "x-queue-type": "quorum" } },
    "invalid property 'non-durable' for queue 'Q' in vhost '/'",
  ],
  [
    { exclusive: true, arguments: { "x-queue-type": "quorum" } },
    "invalid property 'exclusive-owner' for queue 'Q' in vhost '/'",
  ],
  [
    { autoDelete: true, arguments: { "x-queue-type": "quorum" } },
    "invalid property 'auto-delete' for queue 'Q' in vhost '/'",
  ],
  [
    { autoDelete: true, arguments: { "x-queue-type": "quorum", "x-message-ttl": -1 } },
    "invalid arg 'x-message-ttl' for queue 'Q' in vhost '/': {value_negative,-1}",
  ],
  ...[["x-queue-mode", "x-max-priority"], ["x-max-priority", "x-queue-mode"]].map(([first = "", second = ""]) =>
    [
      { durable: false, arguments: { "x-queue-type": "quorum", [first]: "nothing", [second]: -1 } },
      `invalid arg '${first}' for queue 'Q' in vhost '/' of queue type rabbit_quorum_queue`,
    ] as const
  ),
  ...["x-max-in-memory-length", "x-max-in-memory-bytes"].map((name) =>
    [
      { arguments: { "x-queue-type": "quorum", [name]: -1 } },
      `invalid arg '${name}' for queue 'Q' in vhost '/': {value_negative,-1}`,
    ] as const
  ),
  [
    { arguments: { "x-queue-type": "quorum", "x-queue-leader-locator": "nowhere" } },
    "invalid arg 'x-queue-leader-locator' for queue 'Q' in vhost '/': invalid_queue_locator_arg",
  ],
  [
    { arguments: { "x-queue-type": "quorum", "x-quorum-initial-group-size": 0 } },
    "invalid arg 'x-quorum-initial-group-size' for queue 'Q' in vhost '/': {value_zero,0}",
  ],
  // Of several things that are wrong it names one.
  [
    { arguments: { "x-expires": 0, "x-queue-type": "foo", "x-dead-letter-exchange": 5 } },
    "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'Q' in vhost '/'",
  ],
  [
    { arguments: { "x-single-active-consumer": "yes", "x-queue-version": 3 } },
    "invalid arg 'x-queue-version' for queue 'Q' in vhost '/': \"unsupported queue version '3'\"",
  ],
  [
    { arguments: { "x-queue-type": "quorum", "x-overflow": "foo", "x-max-in-memory-bytes": -1 } },
    "invalid arg 'x-max-in-memory-bytes' for queue 'Q' in vhost '/': {value_negative,-1}",
  ],
  [
    { durable: false, exclusive: true, arguments: { "x-queue-type": "quorum" } },
    "invalid property 'exclusive-owner' for queue 'Q' in vhost '/'",
  ],
  [
    { durable: false, exclusive: true, autoDelete: true, arguments: { "x-queue-type": "quorum" } },
    "invalid property 'auto-delete' for queue 'Q' in vhost '/'",
  ],
];

/** What the second declaration of a direct exchange says otherwise, and how the broker names the difference. */
const EXCHANGE_DIFFERENCES: readonly (readonly [spec: Partial<ExchangeSpec>, words: string])[] = [
  [
    { type: "topic" },
    "inequivalent arg 'type' for exchange 'X' in vhost '/': received 'topic' but current is 'direct'",
  ],
  [
    { durable: false },
    "inequivalent arg 'durable' for exchange 'X' in vhost '/': received 'false' but current is 'true'",
  ],
  [
    { autoDelete: true },
    "inequivalent arg 'auto_delete' for exchange 'X' in vhost '/': received 'true' but current is 'false'",
  ],
  [
    { arguments: { "alternate-exchange": "a" } },
    "inequivalent arg 'alternate-exchange' for exchange 'X' in vhost '/': received the value 'a' of type 'longstr' but current is none",
  ],
];

/** The cases about declaring. */
export function declaring(it: Scenario): void {
  const quorum = it.needing("quorum_queues");

  it("declares the same queue and exchange again without a change", async (world) => {
    const queue = await world.queue("q", ARGUMENTS);
    await world.fill(queue, "1");
    assert.deepEqual(await world.declareQueue(queue, { arguments: ARGUMENTS }), { status: "declared" });
    const exchange = await world.exchange("x", "topic");
    assert.deepEqual(await world.declareExchange(exchange, { type: "topic" }), { status: "declared" });
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 1, consumers: 0 });
  });

  it("takes the same arguments written otherwise, and ones it does not know", async (world) => {
    const queue = await world.queue("q", ARGUMENTS);
    const alike = { ...ARGUMENTS, "x-message-ttl": 60_000n, "x-queue-type": "classic", "x-unknown": 1 };
    assert.deepEqual(await world.declareQueue(queue, { arguments: alike }), { status: "declared" });
  });

  for (const [label, spec, words] of DIFFERENCES) {
    askingFor(it, spec.arguments)(
      `tells what differs in a queue that is declared again with ${label}`,
      async (world) => {
        const queue = await world.queue("q", ARGUMENTS);
        const result = await world.declareQueue(queue, spec);
        assert.deepEqual(result, {
          status: "differs",
          reason: `PRECONDITION_FAILED - inequivalent arg ${words.replace("Q", queue)}`,
        });
        await world.fill(queue, "and everything goes on");
      },
    );
  }

  quorum("tells what differs in a quorum queue, its dead letters before its time to live", async (world) => {
    const queue = await world.queue("q", { "x-queue-type": "quorum" });
    const asked = { ...ARGUMENTS, "x-queue-type": "quorum", "x-delivery-limit": 5 };
    const words = "received the value 'd' of type 'longstr' but current is none";
    assert.deepEqual(await world.declareQueue(queue, { arguments: asked }), {
      status: "differs",
      reason:
        `PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue '${queue}' in vhost '/': ${words}`,
    });
  });

  for (const [spec, words] of REFUSED) {
    askingFor(it, spec.arguments)(`refuses a queue with ${JSON.stringify(spec)}`, async (world) => {
      const queue = world.name("q");
      assert.equal(
        reasonOf(await world.declareQueue(queue, spec)),
        `PRECONDITION_FAILED - ${words.replace("Q", queue)}`,
      );
      assert.deepEqual(await world.mq.checkQueue(queue), { status: "absent" });
    });
  }

  for (const [spec, words] of EXCHANGE_DIFFERENCES) {
    it(`tells what differs in an exchange that is declared again with ${JSON.stringify(spec)}`, async (world) => {
      const exchange = await world.exchange("x", "direct");
      const reason = `PRECONDITION_FAILED - ${words.replace("X", exchange)}`;
      assert.deepEqual(await world.declareExchange(exchange, spec), { status: "differs", reason });
      assert.equal(await world.mq.checkExchange(exchange), "present");
    });
  }

  for (const [value, kind] of [[1, "signedint"], [true, "bool"], [["a"], "array"], [null, "void"]] as const) {
    it(`refuses an exchange whose alternate is ${JSON.stringify(value)}`, async (world) => {
      const exchange = world.name("x");
      assert.equal(
        reasonOf(await world.declareExchange(exchange, { arguments: { "alternate-exchange": value } })),
        `PRECONDITION_FAILED - invalid type '${kind}' for arg 'alternate-exchange' in exchange '${exchange}' in vhost '/'`,
      );
      assert.equal(await world.mq.checkExchange(exchange), "absent");
    });
  }

  it("tells what differs in an exchange whose alternate would be no exchange at all", async (world) => {
    const exchange = await world.exchange("x", "direct", { "alternate-exchange": "a" });
    assert.deepEqual(await world.declareExchange(exchange, { arguments: { "alternate-exchange": 1 } }), {
      status: "differs",
      reason: `PRECONDITION_FAILED - inequivalent arg 'alternate-exchange' for exchange '${exchange}' in vhost '/': ` +
        "received '1' but current is 'a'",
    });
  });

  it("refuses an argument that no AMQP kind holds, and goes on", async (world) => {
    const queue = await world.queue("q");
    const args = { "x-nothing": NaN };
    assert.equal((await world.declareQueue(world.name("bad"), { arguments: args })).status, "refused");
    assert.equal((await world.declareExchange(world.name("bad"), { arguments: args })).status, "refused");
    const bound = await world.mq.bindQueue({ queue, exchange: "amq.direct", routingKey: "", arguments: args });
    assert.equal(bound.status, "refused");
    await world.fill(queue, "and everything goes on");
  });

  it("has no queue in a place that nobody can find", async (world) => {
    for (const locator of ["nowhere", "", 5]) {
      const [queue, { mq }] = [world.name(`q${locator}`), await world.connect()];
      // RabbitMQ closes the connection over it, and does not say why.
      const answer = await world.declareQueue(queue, { by: mq, arguments: { "x-queue-master-locator": locator } })
        .catch(() => ({ status: "refused" }));
      assert.equal(answer.status, "refused");
      assert.deepEqual(await world.mq.checkQueue(queue), { status: "absent" });
    }
    for (const locator of ["client-local", "min-masters", "random"]) {
      await world.queue(locator, { "x-queue-master-locator": locator });
    }
  });

  it("refuses names that are the broker's own", async (world) => {
    const name = "amq.acemq-contract";
    assert.equal(
      reasonOf(await world.declareQueue(name)),
      `ACCESS_REFUSED - queue name '${name}' contains reserved prefix 'amq.*'`,
    );
    assert.equal(
      reasonOf(await world.mq.declareExchange(exchangeSpec(name))),
      `ACCESS_REFUSED - exchange name '${name}' contains reserved prefix 'amq.*'`,
    );
    assert.deepEqual(await world.mq.declareExchange(exchangeSpec("amq.direct")), { status: "declared" });
  });

  it("deletes none of the exchanges that are the broker's own", async (world) => {
    const words = "ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed";
    await assert.rejects(
      world.mq.deleteExchange("amq.direct"),
      (error) =>
        error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED" && error.message.includes(words),
    );
  });

  it(
    "does not ask the broker about a name that is empty, or about an exchange type it cannot know",
    async ({ mq }) => {
      const queue = { name: "", durable: true, exclusive: false, autoDelete: false, arguments: {} };
      assert.equal((await mq.declareQueue(queue)).status, "refused");
      const type = "x-unknown" as ExchangeType;
      assert.equal((await mq.declareExchange({ ...exchangeSpec("acemq-contract.x"), type })).status, "refused");
      const asks = [
        () => mq.checkQueue(""),
        () => mq.openPuller(""),
        () => mq.purgeQueue(""),
        () => mq.deleteQueue(""),
        () => mq.deleteExchange(""),
      ];
      for (const ask of asks) await assert.rejects(ask, TypeError);
    },
  );

  it("refuses a binding of what does not exist, and one to the default exchange", async (world) => {
    const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "direct")];
    const [noQueue, noExchange] = [world.name("no queue"), world.name("no exchange")];
    const bind = async (to: { queue?: string; exchange?: string }): Promise<string> =>
      reasonOf(await world.mq.bindQueue({ queue, exchange, routingKey: "", arguments: {}, ...to }));
    assert.equal(await bind({ queue: noQueue }), `NOT_FOUND - no queue '${noQueue}' in vhost '/'`);
    assert.equal(await bind({ exchange: noExchange }), `NOT_FOUND - no exchange '${noExchange}' in vhost '/'`);
    assert.equal(await bind({ exchange: "" }), "ACCESS_REFUSED - operation not permitted on the default exchange");
  });

  it("refuses a headers binding that says neither all nor any", async (world) => {
    const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "headers")];
    const bind = async (mode: string | number): Promise<string> =>
      reasonOf(await world.mq.bindQueue({ queue, exchange, routingKey: "", arguments: { "x-match": mode } }));
    assert.equal(
      await bind("some"),
      'PRECONDITION_FAILED - Invalid x-match field value <<"some">>; expected all, any, all-with-x, or any-with-x',
    );
    assert.match(await bind(1), /^PRECONDITION_FAILED - Invalid x-match field type \w+ \(value 1\); expected longstr$/);
  });

  it("answers a passive question, and creates nothing by it", async (world) => {
    const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "direct")];
    await world.fill(queue, "1", "2");
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 2, consumers: 0 });
    assert.equal(await world.mq.checkExchange(exchange), "present");
    for (let again = 0; again < 2; again++) {
      assert.deepEqual(await world.mq.checkQueue(world.name("none")), { status: "absent" });
      assert.equal(await world.mq.checkExchange(world.name("none")), "absent");
    }
    assert.equal(await world.mq.checkExchange(""), "present");
  });

  it("removes every waiting message, and none that somebody holds", async (world) => {
    const queue = await world.queue("q");
    await world.fill(queue, "1", "2", "3");
    const held = await world.hold(queue);
    await world.mq.purgeQueue(queue);
    await world.depth(queue, 0);
    held.settle("requeue");
    assert.deepEqual(await world.bodies(queue, 1), ["1"]);
  });

  it("finds nothing to pull in an empty queue, and says which queue it does not have", async (world) => {
    assert.equal(await world.pull(await world.queue("q")), null);
    const none = world.name("none");
    for (const ask of [() => world.pull(none), () => world.mq.purgeQueue(none)]) {
      await assert.rejects(ask, (error) => isMissing(error, `NOT_FOUND - no queue '${none}'`));
    }
    assert.equal(await world.pull(await world.queue("q2")), null);
  });

  it("deletes what is there, and does not mind what is not", async (world) => {
    const [queue, exchange] = [await world.queue("q"), await world.exchange("x", "direct")];
    for (let again = 0; again < 2; again++) {
      await world.mq.deleteQueue(queue);
      await world.mq.deleteExchange(exchange);
    }
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "absent" });
    assert.equal(await world.mq.checkExchange(exchange), "absent");
  });

  it("deletes a whole list although one of it is missing: the rungs, then their queue [TOP-18]", async (world) => {
    const source = await world.queue("q");
    const rungs = [await world.queue("q.retry.1s"), world.name("q.retry.2s"), await world.queue("q.retry.4s")];
    for (const queue of [...rungs, source]) await world.mq.deleteQueue(queue);
    for (const queue of [...rungs, source]) {
      assert.deepEqual(await world.mq.checkQueue(queue), { status: "absent" });
    }
  });

  it("keeps an exclusive queue to its connection, and removes it with it", async (world) => {
    const queue = world.name("mine");
    const { mq: owner } = await world.connect();
    const spec = { durable: false, exclusive: true };
    assert.deepEqual(await world.declareQueue(queue, { ...spec, by: owner }), { status: "declared" });
    const locked = new RegExp(`RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '${queue}'`);
    assert.match(reasonOf(await world.declareQueue(queue, spec)), locked);
    assert.deepEqual(await world.mq.checkQueue(queue), { status: "present", messages: 0, consumers: 0 });
    const binding = { queue, exchange: "amq.fanout", routingKey: "", arguments: {} };
    assert.match(reasonOf(await world.mq.bindQueue(binding)), locked);
    const asks = [
      () => world.pull(queue),
      () => world.read(queue),
      () => world.mq.purgeQueue(queue),
      () => world.mq.deleteQueue(queue),
    ];
    for (const ask of asks) {
      await assert.rejects(
        ask,
        (error) =>
          error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED" && locked.test(error.message),
      );
    }
    await world.fill(queue, "anybody may publish");
    await owner.close();
    await world.until("the queue to go", async () => (await world.mq.checkQueue(queue)).status === "absent");
  });

  it("takes an exclusive queue for one that is not durable, whatever is said of it", async (world) => {
    for (const durable of [true, false]) {
      const queue = world.name(`durable ${durable}`);
      assert.deepEqual(await world.declareQueue(queue, { durable, exclusive: true }), { status: "declared" });
      for (const again of [true, false]) {
        const spec = { name: queue, durable: again, exclusive: true, autoDelete: false, arguments: {} };
        assert.deepEqual(await world.mq.declareQueue(spec), { status: "declared" });
        assert.deepEqual(await world.mq.compareQueue(spec), { status: "same" });
      }
    }
  });

  it("refuses an exclusive queue where one is that is not", async (world) => {
    const queue = await world.queue("q");
    const result = await world.declareQueue(queue, { exclusive: true });
    assert.match(reasonOf(result), /^RESOURCE_LOCKED - cannot obtain exclusive access to locked queue/);
  });

  it("refuses arguments of a consumer that no AMQP kind holds, and goes on", async (world) => {
    const queue = await world.queue("q");
    await assert.rejects(
      world.read(queue, { arguments: { "x-nothing": NaN } }),
      (error) => error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_REFUSED",
    );
    const { bodies } = await world.read(queue, { arguments: { "x-anything": [1, "a"] } });
    await world.fill(queue, "1");
    await world.until("a message", () => bodies().length === 1);
  });

  it("dead-letters nothing of a queue that is deleted or purged", async (world) => {
    const dead = await world.queue("dead");
    const queue = await world.queue("q", { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead });
    await world.fill(queue, "1");
    await world.mq.purgeQueue(queue);
    await world.fill(queue, "2");
    await world.hold(queue);
    await world.fill(queue, "3");
    await world.mq.deleteQueue(queue);
    await world.fill(dead, "and nothing before it");
    assert.deepEqual(await world.bodies(dead, 1), ["and nothing before it"]);
  });

  it("removes an auto-delete queue with its last consumer, however that ends", async (world) => {
    for (const end of ["cancel", "close", "connection"] as const) {
      const queue = world.name(end);
      await world.declareQueue(queue, { autoDelete: true });
      const { mq } = await world.connect();
      await world.fill(queue, "1");
      const { deliveries, subscription } = await world.read(queue, { by: mq });
      await world.until("a message", () => deliveries.length === 1);
      await (end === "connection" ? mq.close() : subscription[end]());
      await world.until("the queue to go", async () => (await world.mq.checkQueue(queue)).status === "absent");
    }
  });

  it("does not take a pull for a consumer of an auto-delete queue", async (world) => {
    const queue = world.name("q");
    await world.declareQueue(queue, { autoDelete: true });
    await world.fill(queue, "1", "2");
    assert.deepEqual(await world.bodies(queue, 2), ["1", "2"]);
    assert.equal((await world.mq.checkQueue(queue)).status, "present");
  });

  it("removes an auto-delete queue with its last consumer, and not before it had one", async (world) => {
    const queue = world.name("q");
    await world.declareQueue(queue, { autoDelete: true });
    await world.fill(queue, "1");
    const [one, two] = [await world.read(queue), await world.read(queue)];
    await one.subscription.close();
    assert.equal((await world.mq.checkQueue(queue)).status, "present");
    await two.subscription.close();
    await world.until("the queue to go", async () => (await world.mq.checkQueue(queue)).status === "absent");
  });

  it("removes an auto-delete exchange with its last binding", async (world) => {
    const [exchange, queue] = [world.name("x"), await world.queue("q")];
    await world.declareExchange(exchange, { autoDelete: true });
    await world.bind(queue, exchange, { key: "k" });
    await world.mq.deleteQueue(queue);
    await world.until("the exchange to go", async () => await world.mq.checkExchange(exchange) === "absent");
  });

  it("shows what one connection declares to every other", async (world) => {
    const { mq } = await world.connect();
    const queue = await world.queue("q");
    assert.deepEqual(await world.publish(queue, { body: "1" }, mq), { outcome: "confirmed" });
    assert.deepEqual(await world.bodies(queue, 1), ["1"]);
  });
}

function change(name: string, value: HeaderValue | undefined): Partial<QueueSpec> {
  const { [name]: _, ...others } = ARGUMENTS;
  return { arguments: value === undefined ? others : { ...others, [name]: value } };
}

function exchangeSpec(name: string): ExchangeSpec {
  return { name, type: "direct", durable: true, autoDelete: false, arguments: {} };
}

function reasonOf(result: DeclareResult): string {
  return result.status === "declared" ? "declared" : result.reason;
}

function isMissing(error: unknown, words: string): boolean {
  return error instanceof TopologyError && error.code === "ACEMQ_TOPOLOGY_MISSING" && error.message.includes(words);
}
