/** Many recoveries, each broken off somewhere else, leave behind what one connection needs and nothing more. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AmqpOptions } from "../../../adapters/amqp/mod.ts";
import { messageFor, queueSpec, reading, uniqueName } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { Complaints, CountingClock, openSockets } from "../../support/residue.ts";
import { type Answer, confirmAll, type Script, type ScriptedClient } from "../../support/scripted_broker.ts";
import { withScript } from "../../support/scripted_world.ts";
import { until } from "../../support/until.ts";

const ROUNDS = 60;

const certificates = makeCertificates();

/** Where a link breaks, and what does not come to its end on it. */
const BREAKS = [
  "ConnectionStartOk",
  "ConnectionOpen",
  "ExchangeDeclare",
  "QueueDeclare",
  "QueueBind",
  "BasicQos",
  "BasicConsume",
] as const;

describe("a connection that comes back again and again", () => {
  for (const scheme of ["amqp", "amqps"] as const) {
    const skip = scheme === "amqps" && certificates === undefined
      ? "there is no openssl to make certificates with"
      : false;
    it(
      `keeps no socket, channel, timer or listener of the ${scheme} links before, wherever they broke [REC-05, REC-08]`,
      { skip, timeout: 60_000 },
      async () => {
        const complaints = new Complaints();
        const [clock, broker] = [new CountingClock(), new Breaking()];
        const { script, options } = secured(scheme, broker.script);
        const before = await openSockets();
        await withScript(script, async ({ mq, broker: { clients }, reported }) => {
          await mq.declareExchange({ name: "x", type: "topic", durable: true, autoDelete: false, arguments: {} });
          for (const name of ["q", "locked"]) {
            await mq.declareQueue(queueSpec(name));
            await mq.bindQueue({ queue: name, exchange: "x", routingKey: "k", arguments: {} });
          }
          const readers = [await reading(mq, "q"), await reading(mq, "locked")];
          assert.deepEqual(await mq.publish(messageFor("q"), { lane: 1, confirm: true }), { outcome: "confirmed" });
          const timers = clock.pending;
          const sockets = await openSockets();
          for (let round = 0; round < ROUNDS; round++) await broker.breakAt(round, clients);
          broker.heal();
          clients.at(-1)?.socket.destroy();
          await until("everything is back", () => readers.every(({ subscription }) => subscription.live));
          await until("recovered", () => mq.state.status === "open");
          assert.deepEqual(await mq.publish(messageFor("q"), { lane: 1, confirm: true }), { outcome: "confirmed" });
          await until("no other link", () => clients.filter(({ isGone }) => !isGone).length === 1);
          await until("no other timer", () => clock.pending === timers);
          await until("no more sockets", async () => await openSockets() <= sockets);
          const last = clients.at(-1) as ScriptedClient;
          assert.equal(last.named("ChannelOpen").length - last.named("ChannelClose").length, 3);
          await mq.close();
          await until("no timer", () => clock.pending === 0, { timeoutMs: 3_000 });
          await reported("recovered");
        }, { clock, name: uniqueName("leaks"), ...options });
        await until("every socket is closed", async () => await openSockets() <= before);
        complaints.close();
        assert.deepEqual(complaints.heard, []);
      },
    );
  }
});

/** A broker whose links break at a method of the test's choice; meanwhile it refuses one queue and its consumer. */
class Breaking {
  #breakAt: string | undefined;
  #isRefusing = false;
  readonly script: Script = {
    onMessage: confirmAll,
    answer: ({ name, channel, fields }, client): Answer => {
      if (name === this.#breakAt) {
        // By a reset, or by a close with a reason.
        if (client.socket.remotePort !== undefined && client.socket.remotePort % 2 === 0) client.socket.destroy();
        else client.send(methodFrame("ConnectionClose", 0, fault(541)));
        return [];
      }
      const isRefused = this.#isRefusing && fields["queue"] === "locked" && name !== "BasicCancel";
      return isRefused ? [methodFrame("ChannelClose", channel, fault(405))] : undefined;
    },
  };

  /** Breaks the newest link, and the next one at a method. */
  async breakAt(round: number, clients: readonly ScriptedClient[]): Promise<void> {
    this.#isRefusing = round % 3 > 0;
    this.#breakAt = BREAKS[round % BREAKS.length];
    const links = clients.length;
    clients.at(-1)?.socket.destroy();
    const name = this.#breakAt ?? "";
    await until(`a link that breaks at ${name}`, () => clients.slice(links).some((one) => one.named(name).length > 0));
  }

  heal(): void {
    this.#breakAt = undefined;
    this.#isRefusing = false;
  }
}

/** The same broker behind TLS, and what a client needs to trust it. */
function secured(scheme: "amqp" | "amqps", script: Script): { script: Script; options: AmqpOptions } {
  let asked = 0;
  const credentials = (): { username: string; password: string } => ({ username: "u", password: `p${asked++}` });
  if (scheme === "amqp" || certificates === undefined) return { script, options: { credentials } };
  const { ca, server: { certificate: cert, key } } = certificates;
  return { script: { ...script, tls: { cert, key } }, options: { credentials, tls: { ca } } };
}

function fault(replyCode: number): object {
  return { replyCode, replyText: "FAULT", classId: 0, methodId: 0 };
}
