/**
 * The broker in memory and RabbitMQ 3.10 do the same with any sequence of steps.
 *
 * The seed is fixed, since a rare difference is to be found by whoever looks for one and not by whoever builds something else:
 * `ACEMQ_SEED=random ACEMQ_RUNS=500` looks further. Left out is what RabbitMQ decides by chance or time, such as which of several consumers comes
 * back first, and what `tests/adapters/memory/differences_test.ts` names.
 */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import fc from "fast-check";
import { amqpBroker } from "../../adapters/amqp/mod.ts";
import { memoryBroker, virtualClock } from "../../adapters/memory/mod.ts";
import { systemClock } from "../../src/clock.ts";
import { World } from "../contract/broker/world.ts";
import { BrokerPlayer, type Scene, type Step, STEPS } from "../support/broker_player.ts";
import { AMQP_URL, missing } from "../support/services.ts";

const skip = await missing("rabbitmq");
const { ACEMQ_SEED = "2024", ACEMQ_RUNS = "8" } = process.env;
const RUNS = Number(ACEMQ_RUNS);
const SEED = ACEMQ_SEED === "random" ? {} : { seed: Number(ACEMQ_SEED) };

/** How often, against each other: a queue is filled more often than it is deleted. */
const WEIGHTS: Readonly<Partial<Record<Step["does"], number>>> = {
  "publish": 5,
  "route": 3,
  "pull": 3,
  "settle pulled": 3,
  "subscribe": 3,
  "settle delivered": 5,
};

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.constantFrom(...STEPS.flatMap((name) => Array.from({ length: WEIGHTS[name] ?? 1 }, () => name))),
    which: fc.nat(59),
    how: fc.nat(59),
    as: fc.constantFrom("ack", "requeue", "discard"),
  }),
  { minLength: 15, maxLength: 25, size: "max" },
);

const maxLength = fc.constantFrom({}, { "x-max-length": 0 }, { "x-max-length": 2 });

const SCENES: Readonly<Record<string, fc.Arbitrary<Scene>>> = {
  classic: sceneOf(
    maxLength,
    fc.constantFrom({}, { "x-overflow": "reject-publish" }, { "x-overflow": "reject-publish-dlx" }),
    fc.constantFrom({}, { "x-max-priority": 3 }),
  ),
  quorum: sceneOf(
    fc.constant({ "x-queue-type": "quorum" }),
    maxLength,
    fc.constantFrom({}, { "x-single-active-consumer": true }),
  ).map((scene) => ({ ...scene, autoDelete: false })),
};

describe("the broker in memory and RabbitMQ", () => {
  for (const [type, scenes] of Object.entries(SCENES)) {
    it(`do the same with ${type} queues`, { skip, timeout: 60_000 + RUNS * 2_000 }, async () => {
      await fc.assert(fc.asyncProperty(scenes, steps, agree), { ...SEED, numRuns: RUNS, endOnFailure: true });
    });
  }
});

function sceneOf(...parts: readonly fc.Arbitrary<Scene["arguments"]>[]): fc.Arbitrary<Scene> {
  return fc.record({
    exchange: fc.constantFrom("topic", "direct", "fanout"),
    autoDelete: fc.boolean(),
    deadLetters: fc.boolean(),
    arguments: fc.tuple(...parts).map((chosen) => Object.assign({}, ...chosen)),
  });
}

/** Plays step after step on both, the next one when both show the same. */
async function agree(scene: Scene, planned: readonly Step[]): Promise<void> {
  const worlds = [inMemory(), onRabbit()];
  try {
    for (const world of worlds) await world.start();
    const [memory, rabbit] = worlds.map((world) => new BrokerPlayer(world, scene)) as [BrokerPlayer, BrokerPlayer];
    for (const player of [memory, rabbit]) await player.begin();
    const told: string[] = [];
    const play = async (step: Step): Promise<void> => {
      const answers = [await memory.play(step), await rabbit.play(step)];
      told.push(`${step.does} ${step.which} ${step.how} ${step.as}: ${answers[0]}`);
      assert.equal(answers[1], answers[0], told.join("\n"));
      await worlds[0]?.under.pass(0);
      const expected = await memory.look();
      let seen = "";
      const isSame = async (): Promise<boolean> => (seen = await rabbit.look()) === expected;
      await worlds[1]?.until("the same", isSame).catch(() => assert.equal(seen, expected, told.join("\n")));
    };
    for (const step of planned) await play(step);
    for (let step = memory.ending; step !== undefined; step = memory.ending) await play(step);
    assert.equal(await rabbit.contents(), await memory.contents(), told.join("\n"));
  } finally {
    for (const world of worlds) await world.end();
  }
}

function inMemory(): World {
  const clock = virtualClock();
  return new World({ broker: memoryBroker({ clock }), clock, pass: (ms) => clock.advance(ms) });
}

function onRabbit(): World {
  const clock = systemClock();
  return new World({ broker: amqpBroker(AMQP_URL), clock, pass: (ms) => clock.delay(ms) });
}
