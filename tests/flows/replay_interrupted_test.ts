/** A replay that is cut off, on RabbitMQ: nothing is lost, and of each cut at most one message is in both queues. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { createInterface } from "node:readline";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { onRabbit, type RabbitScene } from "../support/rabbit_scene.ts";
import { AMQP_URL, missing } from "../support/services.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { until } from "../support/until.ts";

const skip = await missing("rabbitmq");

/** A queue, and so many dead letters of it: their ids are their numbers. */
async function fill(scene: RabbitScene, count: number): Promise<{ readonly queue: string; readonly dlq: string }> {
  const queue = await scene.bare.queue("orders", { "x-queue-type": "quorum" });
  const dlq = `${queue}.dlq`;
  await scene.bare.declare(dlq);
  await scene.bare.once(async (channel) => {
    for (let id = 0; id < count; id++) channel.sendToQueue(dlq, Buffer.from(`${id}`), { messageId: `m-${id}` });
    await channel.checkQueue(dlq);
  });
  await scene.depth(dlq, count);
  return { queue, dlq };
}

/** Takes everything off both queues; answers with how often each message was there. */
async function ledger(scene: RabbitScene, { queue, dlq }: { readonly queue: string; readonly dlq: string }) {
  const counts = new Map<string, number>();
  await scene.bare.once(async (channel) => {
    for (const name of [queue, dlq]) {
      for (let message = await channel.get(name); message !== false; message = await channel.get(name)) {
        const id = String(message.properties.messageId);
        counts.set(id, (counts.get(id) ?? 0) + 1);
        channel.ack(message);
      }
    }
  });
  const doubled = [...counts.values()].filter((count) => count > 1);
  return { messages: counts.size, doubled: doubled.length, most: Math.max(...counts.values()) };
}

/** Replays in a process of its own, and kills it when it has moved so many; answers with what it had said by then. */
async function killAfter(moved: number, queue: string): Promise<readonly string[]> {
  const script = fileURLToPath(new URL("../support/programs/replay_dead_letters.ts", import.meta.url));
  const run = "Deno" in globalThis ? ["run", "--no-check", "-A"] : [];
  const child = spawn(process.execPath, [...run, script, AMQP_URL, queue], { stdio: ["ignore", "pipe", "inherit"] });
  const over = once(child, "close");
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    if (line === String(moved)) child.kill("SIGKILL");
  });
  await over;
  return lines;
}

describe("a replay whose process is killed", () => {
  it(
    "has lost nothing, doubled at most the message in hand, and is gone on with by the next",
    { skip },
    () =>
      onRabbit("replay-killed", async (scene) => {
        const count = 80;
        const queues = await fill(scene, count);
        const kills = [1, 23];
        let said = 0;
        for (const moved of kills) {
          const lines = await killAfter(moved, queues.queue);
          assert.ok(lines.includes(String(moved)) && !lines.includes("drained"), `It was to die after ${moved}`);
          said += lines.length;
          // The broker hears of a death by the socket: what was in hand is back in the queue a moment later.
          await until("everything to be somewhere", async () => {
            const [dead = 0, back = 0] = await Promise.all(
              [queues.dlq, queues.queue].map((name) => scene.bare.depth(name)),
            );
            return dead + back >= count && back >= said;
          });
        }
        const mq = await scene.connect();
        const left = await scene.bare.depth(queues.dlq) ?? 0;
        assert.deepEqual(await mq.replay(queues.queue), { moved: left, skipped: 0, reason: "drained" });
        // Of each the last acknowledgement may not have left the process.
        assert.ok(left > 0 && left <= count - said + kills.length, `${left} are left after ${said}`);
        const { messages, doubled, most } = await ledger(scene, queues);
        assert.equal(messages, count, "Nothing is lost");
        assert.ok(
          doubled <= kills.length && most <= 1 + kills.length,
          `${doubled} are doubled by ${kills.length} kills`,
        );
      }),
  );
});

describe("a replay whose connection is cut", () => {
  it(
    "says so, has lost nothing, and doubled at most the message in hand",
    { skip },
    () =>
      onRabbit("replay-cut", async (scene) => {
        const count = 60;
        const proxy = await TcpProxy.open(AMQP_URL);
        try {
          const queues = await fill(scene, count);
          const mq = await scene.connect({ url: proxy.url });
          let [cuts, moved] = [0, 0];
          for (const cutAfter of [1, 13]) {
            // One message is passed over, so that a reading that went on would meet it again.
            const passedOver = new Set<string>();
            const result = await mq.replay(queues.queue, {
              filter: ({ envelope: { id } }) => passedOver.size > 0 || passedOver.add(id).size > 1,
              onProgress: (progress) => {
                if (progress.moved === cutAfter) proxy.cut();
              },
            });
            assert.deepEqual([result.reason, result.skipped], ["failed", 1]);
            assert.ok(result.moved >= cutAfter);
            moved += result.moved;
            cuts++;
            await until("the connection to be back", async () => (await mq.health()).status === "up");
            await until("everything to be somewhere", async () => {
              const depths = await Promise.all([queues.dlq, queues.queue].map((name) => scene.bare.depth(name)));
              return depths.reduce<number>((sum, depth) => sum + (depth ?? 0), 0) >= count;
            });
          }
          const rest = await mq.replay(queues.queue);
          assert.equal(rest.reason, "drained");
          assert.ok(moved + rest.moved >= count && moved + rest.moved <= count + cuts);
          const { messages, doubled, most } = await ledger(scene, queues);
          assert.equal(messages, count, "Nothing is lost");
          assert.ok(doubled <= cuts && most <= 1 + cuts, `${doubled} are doubled by ${cuts} cuts`);
        } finally {
          await proxy.close();
        }
      }),
  );
});
