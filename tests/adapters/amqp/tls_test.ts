/** TLS: who is trusted, and that nobody else is told a credential. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amqpBroker, type AmqpTlsOptions } from "../../../adapters/amqp/mod.ts";
import { AceMqError, SecurityError } from "../../../src/errors.ts";
import { messageFor, openAmqp } from "../../support/amqp_connection.ts";
import { type Certificates, type KeyPair, makeCertificates } from "../../support/certificates.ts";
import { confirmAll, ScriptedBroker } from "../../support/scripted_broker.ts";

const certificates = makeCertificates();
const skip = certificates === undefined ? "there is no openssl to make certificates with" : false;

/** A broker with one of the certificates, by a URL whose host may be written otherwise. */
async function withTls(
  choose: (all: Certificates) => KeyPair,
  run: (broker: ScriptedBroker, all: Certificates) => Promise<void>,
): Promise<void> {
  assert.ok(certificates !== undefined);
  const { certificate: cert, key } = choose(certificates);
  const broker = await ScriptedBroker.open({ tls: { cert, key }, onMessage: confirmAll });
  try {
    await run(broker, certificates);
  } finally {
    await broker.close();
  }
}

async function connects(url: string, tls: AmqpTlsOptions): Promise<void> {
  const { mq } = await openAmqp(url, { tls });
  assert.deepEqual(await mq.publish(messageFor("q"), { lane: 1, confirm: true }), { outcome: "confirmed" });
  await mq.close();
}

/** The error of a connection that is refused, and that no credential was sent for. */
async function refused(broker: ScriptedBroker, url: string, tls: AmqpTlsOptions): Promise<AceMqError> {
  const error = await openAmqp(url, { tls }).then(
    ({ mq }) => mq.close().then(() => "The connection opened"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AceMqError, String(error));
  assert.deepEqual(broker.clients.flatMap((client) => client.named("ConnectionStartOk")), []);
  return error;
}

describe("an amqps connection", () => {
  it(
    "opens when the named authority vouches for the broker, by address and by name",
    { skip },
    () =>
      withTls(({ server }) => server, async (broker, { ca }) => {
        await connects(broker.url, { ca });
        await connects(broker.url.replace("127.0.0.1", "localhost"), { ca: [new TextEncoder().encode(ca)] });
        await connects(broker.url, { ca, serverName: "localhost" });
      }),
  );

  it(
    "does not open for an authority nobody named, another one, or another host [SEC-01]",
    { skip },
    () =>
      withTls(({ server }) => server, async (broker, { ca, developmentCa }) => {
        const stranger = { ca: developmentCa, allowDevelopmentCertificates: true };
        for (const tls of [{}, stranger, { ca, serverName: "broker.internal" }]) {
          assert.equal((await refused(broker, broker.url, tls)).code, "ACEMQ_CONNECT_TLS");
        }
      }),
  );

  it(
    "opens for anybody when verification is switched off with a reason [SEC-05]",
    { skip },
    () =>
      withTls(({ server }) => server, async (broker) => {
        await connects(broker.url, { verification: { insecureBecause: "the test has no authority" } });
      }),
  );

  it("says that it is about TLS when the port does not speak it", async () => {
    const broker = await ScriptedBroker.open();
    const error = await refused(broker, broker.url.replace("amqp:", "amqps:"), {});
    assert.equal(error.code, "ACEMQ_CONNECT_TLS");
    await broker.close();
  });
});

describe("a development certificate", () => {
  const insecure = { verification: { insecureBecause: "the test tries it" } } as const;

  it(
    "is refused when the broker presents it, verified or not, before a credential is sent",
    { skip },
    () =>
      withTls(({ developmentServer }) => developmentServer, async (broker) => {
        const error = await refused(broker, broker.url, insecure);
        assert.ok(error instanceof SecurityError);
        assert.match(error.message, /the broker's certificate was made for development only/);
      }),
  );

  it("is refused when it is configured, before anything is dialled", { skip }, () => {
    assert.ok(certificates !== undefined);
    const { developmentCa, developmentServer: { certificate, key }, ca } = certificates;
    const settings: readonly AmqpTlsOptions[] = [
      { ca: developmentCa },
      { ca: [ca, developmentCa] },
      { ca: `${ca}\n${developmentCa}` },
      { certificate, key },
      { ca: developmentCa, ...insecure },
    ];
    for (const tls of settings) {
      assert.throws(() => amqpBroker("amqps://broker.internal", { tls }), (error) => {
        return error instanceof SecurityError &&
          /a certificate in it was made for development only/.test(error.message);
      });
    }
  });

  it(
    "is taken when that is allowed in so many words",
    { skip },
    () =>
      withTls(({ developmentServer }) => developmentServer, async (broker, { developmentCa }) => {
        await connects(broker.url, { ca: developmentCa, allowDevelopmentCertificates: true });
        await connects(broker.url, { ...insecure, allowDevelopmentCertificates: true });
      }),
  );
});
