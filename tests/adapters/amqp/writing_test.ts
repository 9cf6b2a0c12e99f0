/** Writing to the socket: what counts as written, and that nothing overtakes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginFrame, endFrame } from "../../../adapters/amqp/wire/frame_writer.ts";
import { openSocket } from "../../support/amqp_socket.ts";
import { ScriptedBroker } from "../../support/scripted_broker.ts";
import { until } from "../../support/until.ts";

/** More than a send buffer takes at once. */
const MUCH = 64_000_000;

describe("bytes for the socket", () => {
  it("are written when the socket has taken them, and only then", async () => {
    const broker = await ScriptedBroker.open();
    const { client } = await openSocket(broker);
    let isWritten = false;
    endFrame(client.out.writer, beginFrame(client.out.writer, 8, 0));
    client.out.whenWritten(() => isWritten = true);
    client.out.commit();
    assert.equal(isWritten, false);
    await until("the heartbeat is written", () => isWritten);
    await until("the heartbeat", async () => (await broker.client()).heartbeats === 1);
    client.abort({ kind: "hung_up" });
    await broker.close();
  });

  it("are not written when the socket breaks with them in hand", async () => {
    const broker = await ScriptedBroker.open();
    const { client } = await openSocket(broker);
    (await broker.client()).socket.pause();
    let isWritten = false;
    client.out.writer.raw(new Uint8Array(MUCH));
    client.out.whenWritten(() => isWritten = true);
    client.out.commit();
    const { socket } = client;
    assert.ok(socket !== undefined && socket.writableLength > 0);
    client.abort({ kind: "hung_up" });
    await until("the socket has called everybody back", () => socket.closed || socket.destroyed);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isWritten, false);
    await broker.close();
  });

  it("leave before a call that is made after them", async () => {
    const broker = await ScriptedBroker.open();
    const { client } = await openSocket(broker);
    const channel = await client.openChannel();
    endFrame(client.out.writer, beginFrame(client.out.writer, 8, 0));
    client.out.commit();
    const closing = channel.leave();
    await closing;
    assert.equal((await broker.client()).heartbeats, 1);
    client.abort({ kind: "hung_up" });
    await broker.close();
  });
});
