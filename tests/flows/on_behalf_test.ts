/**
 * Every way on which the library publishes on a message's behalf, by everything that can go wrong with that publish, on RabbitMQ:
 * the original is acknowledged only when its copy was confirmed and routed (contract core 0 rule 2).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consumeOptions, type Path, PATHS } from "../support/on_behalf_paths.ts";
import type { FoundMessage } from "../support/rabbitmq.ts";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";
import { WireTap } from "../support/wire_tap.ts";

const skip = await missing("rabbitmq");

/** The line at the moment the copy is to go out. */
type Moment = "before the copy is written" | "before it is confirmed";

async function playRefusal(scene: RabbitScene, path: Path, { confirms, args }: {
  readonly confirms: boolean;
  /** What the target is declared with instead; undefined to have none. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
}): Promise<void> {
  const { bare } = scene;
  const refusing = { "x-max-length": 1, "x-overflow": "reject-publish" };
  const queue = await bare.queue("orders", path.suffix === "" ? refusing : { "x-queue-type": "quorum" });
  const target = `${queue}${path.suffix}`;
  const mq = await scene.connect({ confirms });
  const consumer = await mq.consume(queue, path.handler, consumeOptions(path));
  consumer.pause();
  await bare.put(queue, path.body ?? "1", { contentType: "application/json", messageId: "m-1" });
  await until("the message in hand", () => consumer.state.held === 1);
  if (path.suffix !== "") await bare.remove(target);
  if (args !== undefined && path.suffix !== "") await bare.declare(target, args);
  if (args !== undefined) await bare.put(target, `"filler"`);
  consumer.resume();
  await until(
    "the copy to fail",
    () => consumer.state.waiting === 1 || scene.sink.events("acemq.republish.failed").length > 0,
  );
  await consumer.close();
  const depth = await bare.depth(target);
  assert.equal(depth, args === undefined ? undefined : path.suffix === "" ? 2 : 1);
  if (path.suffix !== "") await scene.depth(queue, 1);
  const { properties, table } = path.suffix === "" ? await second(scene, queue) : await bare.take(queue);
  assert.deepEqual([properties["message-id"], table["x-acemq-attempt"]], ["m-1", undefined]);
}

/** The message beside the filler; a classic queue gives it its old place back, at the head. */
async function second({ bare }: RabbitScene, queue: string): Promise<FoundMessage> {
  const found = [await bare.take(queue), await bare.take(queue)];
  return found.find(({ properties }) => properties["message-id"] === "m-1") ?? assert.fail("It is not there");
}

async function playLoss(scene: RabbitScene, path: Path, { confirms, moment }: {
  readonly confirms: boolean;
  readonly moment: Moment;
}): Promise<void> {
  const { bare } = scene;
  const tap = await WireTap.open();
  try {
    const queue = await bare.queue("orders", { "x-queue-type": "quorum" });
    const target = `${queue}${path.suffix}`;
    const mq = await scene.connect({ confirms, url: tap.url });
    const consumer = await mq.consume(queue, path.handler, consumeOptions(path));
    // A first one opens the channel, so that later the copy is all that is written.
    await bare.put(queue, "{", { contentType: "application/json" });
    await bare.take(`${queue}.parked`);
    consumer.pause();
    await bare.put(queue, path.body ?? "1", { contentType: "application/json", messageId: "m-1" });
    await until("the message in hand", () => consumer.state.held === 1);
    if (moment === "before the copy is written") tap.cut({ isRefusing: true });
    else tap.mute();
    consumer.resume();
    if (moment === "before it is confirmed") await scene.depth(target, 1);
    tap.cut({ isRefusing: true });
    // The original is back, whatever became of its copy.
    const copies = moment === "before it is confirmed" ? 1 : 0;
    await scene.depth(queue, path.suffix === "" ? 1 + copies : 1);
    const found = path.suffix === "" && copies === 1 ? await original(scene, queue) : await bare.take(queue);
    assert.deepEqual([found.properties["message-id"], found.table["x-acemq-attempt"], found.redelivered], [
      "m-1",
      undefined,
      true,
    ]);
  } finally {
    await tap.close();
  }
}

/** Of original and copy, the original. */
async function original({ bare }: RabbitScene, queue: string): Promise<FoundMessage> {
  const found = [await bare.take(queue), await bare.take(queue)];
  assert.equal(found.filter(({ table }) => table["x-acemq-attempt"] === 2).length, 1);
  return found.find(({ table }) => table["x-acemq-attempt"] === undefined) ?? assert.fail("It is not there");
}

describe("an original is not acknowledged before its copy is confirmed and routed [PUB-01] [PUB-02]:", () => {
  const full = { "x-max-length": 1, "x-overflow": "reject-publish" };
  for (const path of PATHS) {
    for (const confirms of [true, false]) {
      const with_ = `confirms ${confirms ? "on" : "off"}`;
      if (path.suffix !== "") {
        it(
          `${path.name}, the target is missing, ${with_}`,
          { skip },
          () => onRabbit("matrix", (scene) => playRefusal(scene, path, { confirms, args: undefined })),
        );
      }
      it(
        `${path.name}, the target refuses, ${with_}`,
        { skip },
        () => onRabbit("matrix", (scene) => playRefusal(scene, path, { confirms, args: full })),
      );
      for (const moment of ["before the copy is written", "before it is confirmed"] as const) {
        it(
          `${path.name}, the connection is lost ${moment}, ${with_}`,
          { skip },
          () => onRabbit("matrix", (scene) => playLoss(scene, path, { confirms, moment })),
        );
      }
    }
  }
});
