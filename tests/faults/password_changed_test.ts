import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { onFaultNode } from "../support/fault_world.ts";
import { missing } from "../support/services.ts";
import { until } from "../support/until.ts";

const skip = await missing("fault_node");

describe("a password that is changed while its user is connected", () => {
  const inWorld = onFaultNode(skip);

  it(
    "is noticed at the next loss: the connection is down, says why without the password, and is back with the new one",
    { skip },
    inWorld(async (world) => {
      const username = world.name("user");
      const passwords = { before: "pa55-before", after: "pa55-after" };
      await world.node.addUser(username, passwords.before);
      try {
        let password = passwords.before;
        const peer = await world.connect({ credentials: () => ({ username, password }) });
        const queue = await world.queue(peer, "orders");
        await peer.mq.consume(queue, world.ledger.handler(), { concurrency: 5 });
        const publisher = peer.mq.publisher("", queue);
        const stop = world.load([publisher, peer.mq.publisher("", queue)]);
        await until("under way", () => world.ledger.handledMessages > 20);

        await world.node.changePassword(username, passwords.after);
        const { length } = world.ledger.of("confirmed");
        await until("nobody is thrown out", () => world.ledger.of("confirmed").length > length + 20);
        assert.deepEqual(peer.seen.events, []);

        await world.node.forceClose(peer.name);
        const refusals = (): readonly string[] =>
          peer.seen.of("retrying").map(({ reason }) => reason).filter((reason) => /ACCESS_REFUSED|403/.test(reason));
        await until("refused several times", () => refusals().length >= 3);
        assert.equal((await peer.mq.health()).status, "down");
        assert.equal((await world.ledger.send(publisher)).outcome, "ACEMQ_PUBLISH_PAUSED");

        password = passwords.after;
        await world.recovered(peer);
        const handled = world.ledger.handledMessages;
        await until("under way again", () => world.ledger.handledMessages > handled + 20);
        await stop();
        await until(
          "all is handled",
          () => world.ledger.of("confirmed").every(({ id }) => world.ledger.handled(id) > 0),
        );
        assert.equal(peer.seen.of("lost").length, 1);
        const said = inspect([peer.events, world.sink.logs, world.ledger.entries.map(({ reason }) => reason)], {
          depth: Infinity,
          maxArrayLength: Infinity,
        });
        assert.doesNotMatch(said, /pa55-/);
        // Without its user the connection would be closed and never come back.
        await peer.mq.close();
      } finally {
        await world.node.deleteUser(username);
      }
    }),
  );
});
