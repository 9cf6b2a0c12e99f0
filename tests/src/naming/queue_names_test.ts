/** The names of contract core 4.3, which other languages read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  DEAD_LETTER_EXCHANGE,
  deadLetterQueueName,
  parkedQueueName,
  RETRY_EXCHANGE,
  rungName,
} from "../../../src/naming/queue_names.ts";

describe("the names beside a queue", () => {
  it("are {queue}.dlq and {queue}.parked", () => {
    assert.equal(deadLetterQueueName("orders.new"), "orders.new.dlq");
    assert.equal(parkedQueueName("orders.new"), "orders.new.parked");
  });

  it("hang on the managed exchanges acemq.dlx and acemq.retry", () => {
    assert.deepEqual([DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE], ["acemq.dlx", "acemq.retry"]);
  });
});

describe("the name of a rung", () => {
  const names: readonly (readonly [number, string])[] = [
    [1_000, "1s"],
    [5_000, "5s"],
    [25_000, "25s"],
    [30_000, "30s"],
    [40_000, "40s"],
    [59_000, "59s"],
    [60_000, "1m"],
    [80_000, "80s"],
    [90_000, "90s"],
    [120_000, "2m"],
    [160_000, "160s"],
    [300_000, "5m"],
    [3_540_000, "59m"],
    [3_600_000, "1h"],
    [3_601_000, "3601s"],
    [5_400_000, "90m"],
    [7_200_000, "2h"],
    [86_400_000, "24h"],
    [172_800_000, "48h"],
  ];
  for (const [delayMs, text] of names) {
    it(`for ${delayMs} ms is {queue}.retry.${text}`, () => {
      assert.equal(rungName("orders.new", delayMs), `orders.new.retry.${text}`);
    });
  }

  const fractions: readonly (readonly [number, string])[] = [
    [1, "1ms"],
    [500, "500ms"],
    [999, "999ms"],
    [1_200, "1200ms"],
    [67_500, "67500ms"],
    [60_001, "60001ms"],
  ];
  for (const [delayMs, text] of fractions) {
    it(`counts milliseconds where seconds are not whole: ${delayMs} ms is ${text} [RET-13]`, () => {
      assert.equal(rungName("orders.new", delayMs), `orders.new.retry.${text}`);
    });
  }
});
