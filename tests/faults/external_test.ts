/** SASL EXTERNAL: the broker takes our identity from the client certificate. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { messageFor, openAmqp } from "../support/amqp_connection.ts";
import { missing, TLS_DIR, TLS_URL } from "../support/services.ts";

const skip = await missing("fault_node");

const file = (name: string): string => readFileSync(`${TLS_DIR}/${name}`, "utf8");

describe("a connection that identifies itself by its certificate", { skip }, () => {
  it("needs no password", { skip }, async () => {
    const url = Object.assign(new URL(TLS_URL), { username: "", password: "" }).href;
    const tls = { ca: file("ca.pem"), certificate: file("client.pem"), key: file("client.key") };
    const { mq } = await openAmqp(url, { mechanism: "EXTERNAL", tls });
    const name = `acemq-external-${crypto.randomUUID()}`;
    await mq.declareQueue({ name, durable: false, exclusive: true, autoDelete: false, arguments: {} });
    assert.deepEqual(await mq.publish(messageFor(name), { lane: 1, confirm: true }), { outcome: "confirmed" });
    await mq.close();
  });

  it(
    "is told that it is about TLS when its certificate is not for clients: the handshake is over by then",
    { skip },
    async () => {
      const tls = { ca: file("ca.pem"), certificate: file("server.pem"), key: file("server.key") };
      await assert.rejects(openAmqp(TLS_URL, { mechanism: "EXTERNAL", tls }), { code: "ACEMQ_CONNECT_TLS" });
    },
  );
});
