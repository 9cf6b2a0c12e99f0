/** A producer that is faster than its broker: what is out stays bounded, and so does what is kept. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { textCodec, type TextPayload } from "../../src/codec/text.ts";
import { openConnection } from "../../src/connection.ts";
import type { Codec } from "../../src/ports/codec.ts";
import { PuppetBroker } from "../support/puppet_broker.ts";

describe("a slow broker under a fast producer", () => {
  it("has never more than the ceiling out for 100,000 sends at once, and every send gets its answer [PUB-11]", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet, { maxOutstandingPublishes: 1_000 });
    const publisher = mq.publisher<string>("", "q", { codec: "text" });
    let confirmed = 0;
    let most = 0;
    const sends = Array.from({ length: 100_000 }, () => publisher.send("x").then(() => confirmed++));
    for (let answered = 0; confirmed < 100_000;) {
      await puppet.clock.advance(50);
      most = Math.max(most, puppet.handed.length - answered);
      for (; answered < puppet.handed.length; answered++) puppet.handed[answered]?.answer({ outcome: "confirmed" });
      await Promise.resolve();
    }
    await Promise.all(sends);
    assert.ok(most <= 1_000, `${most} were out`);
    await mq.close();
  });

  it("encodes of a batch only what can go out: the rest takes no memory yet", async () => {
    const puppet = new PuppetBroker();
    puppet.hold();
    const mq = await openConnection(puppet, { maxOutstandingPublishes: 100 });
    const text = textCodec();
    let encoded = 0;
    const counting: Codec<TextPayload> = {
      ...text,
      encode: (payload) => {
        encoded++;
        return text.encode(payload);
      },
    };
    const sending = mq.publisher("", "q", { codec: counting }).sendAll(Array(5_000).fill("x"));
    for (let answered = 0; answered < 5_000;) {
      await puppet.clock.advance(1);
      assert.ok(encoded - answered <= 100, `${encoded - answered} are encoded and not answered`);
      const handed = puppet.handed.splice(0);
      answered += handed.length;
      for (const one of handed) one.answer({ outcome: "confirmed" });
    }
    assert.equal((await sending).length, 5_000);
    await mq.close();
  });
});
