/** W3C trace context crosses the broker under its own names, and stays with the message. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect } from "../../connect.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onBroker } from "../support/brokers.ts";
import { BareClient } from "../support/rabbitmq.ts";
import { AMQP_URL, missing } from "../support/services.ts";

const skip = await missing("rabbitmq");

const CONTEXT = {
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  tracestate: "vendor=value,other=1",
} as const;

describe("the trace context of a message", () => {
  it("arrives unprefixed at another connection, and again after a retry [TEL-18]", { skip }, async () => {
    await onBroker(AMQP_URL, async ({ mq, prefix, removes }) => {
      const [queue, retry] = [`${prefix}.orders`, fixedRetry(2, { delayMs: 1_000, brokerWaitThresholdMs: 0 })];
      await mq.declare(removes(topology().queue(queue, { deadLetter: true, retry })));
      const other = await connect(AMQP_URL, { name: "the-other-side" });
      try {
        const seen: unknown[] = [];
        await mq.consume(queue, ({ headers: { traceparent, tracestate }, envelope }) => {
          seen.push([envelope.attempt, { traceparent, tracestate }]);
          throw new Error("not yet");
        }, { retry });
        await other.publisher("", queue).send({ id: "A-19" }, { headers: CONTEXT });
        for await (const dead of other.deliveries(`${queue}.dlq`, { declare: false })) {
          assert.deepEqual({ ...CONTEXT, ...dead.headers }, dead.headers);
          break;
        }
        assert.deepEqual(seen, [[1, CONTEXT], [2, CONTEXT]]);
      } finally {
        await other.close();
      }
    });
  });

  it(
    "has its own names on the wire, where a client that knows nothing of us looks for it [TEL-18]",
    { skip },
    async () => {
      const bare = await BareClient.open("acemq-trace");
      try {
        const queue = await bare.queue("orders");
        const mq = await connect(AMQP_URL);
        await mq.publisher("", queue).send({ id: "A-19" }, { headers: CONTEXT }).finally(() => mq.close());
        const { table } = await bare.take(queue);
        const names = Object.keys(table).filter((name) => !name.startsWith("x-acemq-"));
        assert.deepEqual(names.sort(), ["traceparent", "tracestate"]);
        assert.deepEqual({ traceparent: table["traceparent"], tracestate: table["tracestate"] }, CONTEXT);
      } finally {
        await bare.close();
      }
    },
  );
});
