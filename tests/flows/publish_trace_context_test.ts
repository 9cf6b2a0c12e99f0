/** W3C trace context over RabbitMQ: an application's own, since the library makes no spans of its own here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newEnvelope } from "../../src/message/envelope.ts";
import { rabbitWorlds } from "../support/rabbit_world.ts";
import { AMQP_URL, missing } from "../support/services.ts";

const skip = await missing("rabbitmq");
const inWorld = rabbitWorlds("acemq-publish-trace");
const PROGRAM = fileURLToPath(new URL("../support/programs/consume_one.ts", import.meta.url));
const TRACE = {
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7",
};

/** What a handler in another process sees of the next message of a queue. */
async function seenElsewhere(queue: string): Promise<Readonly<Record<string, unknown>>> {
  const run = "Deno" in globalThis ? ["run", "--no-check", "--allow-all", "--quiet"] : [];
  const { stdout } = await promisify(execFile)(process.execPath, [...run, PROGRAM, AMQP_URL, queue]);
  return JSON.parse(stdout);
}

describe("trace context", () => {
  it(
    "reaches a handler in another process, unprefixed and unchanged, with the causes of the message [TEL-18]",
    { skip },
    inWorld(async ({ mq, bare }) => {
      const queue = await bare.queue("q");
      const causedBy = { envelope: newEnvelope({ type: "order.placed", id: "parent", correlationId: "cart-8812" }) };
      await mq.publisher("", queue).send({ orderId: "A-19" }, { headers: TRACE, causedBy });
      const { headers, correlationId, causationId } = await seenElsewhere(queue);
      assert.deepEqual([headers, correlationId, causationId], [TRACE, "cart-8812", "parent"]);
      assert.equal(await bare.depth(queue), 0);
    }),
  );
});
