/** Offsets RabbitMQ reads, and those over which it closes the connection: seen on 3.10 and 4.0. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertStreamOffset } from "../../../src/consume/stream_offset.ts";
import { WireTimestamp } from "../../../src/message/wire_value.ts";
import { MemoryWorld } from "../../support/memory_world.ts";

describe("the offset a reader of a stream begins at", () => {
  it("is a word, an interval, a number or a time", () => {
    const fine = ["first", "last", "next", "1h", "30D", "5m", 0, 7, 2n ** 60n, new Date(0), new WireTimestamp(7n)];
    for (const offset of fine) assertStreamOffset(offset);
  });

  it("is refused before it is sent when it is anything else, with what was found", () => {
    for (const offset of ["bogus", "", "FIRST", "offset=1", "-1h", "h", 2.5, -1, NaN, -1n, true, null, new Date(NaN)]) {
      assert.throws(() => assertStreamOffset(offset), { name: "TypeError", message: /'x-stream-offset'.*, found / });
    }
  });

  it("keeps a consumer from starting", async () => {
    const world = new MemoryWorld();
    const mq = await world.withQueue("log", { queue: { type: "stream" } });
    await assert.rejects(mq.consume("log", () => {}, { arguments: { "x-stream-offset": "bogus" } }), TypeError);
    await world.close();
  });
});
