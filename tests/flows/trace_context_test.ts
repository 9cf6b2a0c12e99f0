/** W3C trace context stays with a message that is retried and set aside. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect } from "../../connect.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { onBroker } from "../support/brokers.ts";
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
});
