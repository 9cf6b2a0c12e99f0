/** Opening a connection: what the broker is told, and what a caller is told when it fails. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import type { AmqpCredentials } from "../../../adapters/amqp/mod.ts";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { AceMqError, ConnectionError } from "../../../src/errors.ts";
import { openAmqp, type OpenOptions } from "../../support/amqp_connection.ts";
import { methodFrame } from "../../support/amqp_frames.ts";
import { type Script, ScriptedBroker, type ScriptedClient } from "../../support/scripted_broker.ts";
import { until } from "../../support/until.ts";

const PASSWORD = "p@ss#w?rd/$%";

/** Runs something with a scripted broker that is closed afterwards. */
async function withBroker(script: Script, run: (broker: ScriptedBroker) => Promise<void>): Promise<void> {
  const broker = await ScriptedBroker.open(script);
  try {
    await run(broker);
  } finally {
    await broker.close();
  }
}

/** Closes the connection in the place of an answer to `method`. */
function closingOn(name: string, replyCode: number, replyText: string): Script {
  const close = methodFrame("ConnectionClose", 0, { replyCode, replyText, classId: 10, methodId: 40 });
  return { answer: (method) => method.name === name ? [close] : undefined };
}

/** The error of a connection that cannot be opened. */
async function failure(url: string, options: OpenOptions = {}): Promise<AceMqError> {
  const error = await openAmqp(url, options).then(
    ({ mq }) => mq.close().then(() => assert.fail("The connection opened")),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AceMqError, String(error));
  return error;
}

describe("opening a connection", () => {
  const ways: readonly (readonly [string, (broker: ScriptedBroker) => readonly [string, OpenOptions]])[] = [
    ["in the URL", ({ port }) => [`amqp://us%40er:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`, {}]],
    ["as an option, which goes before the URL", ({ url }) => [url, { credentials: credentials() }]],
    ["by a function", ({ url }) => [url, { credentials: () => credentials() }]],
    ["by a function that takes its time", ({ url }) => [url, { credentials: () => Promise.resolve(credentials()) }]],
  ];
  for (const [way, how] of ways) {
    it(`tells the broker user and password as they are, given ${way} [CN-28]`, () =>
      withBroker({}, async (broker) => {
        const { mq } = await openAmqp(...how(broker));
        const { fields } = await (await broker.client()).received("ConnectionStartOk");
        assert.equal(fields["mechanism"], "PLAIN");
        assert.equal(Buffer.from(fields["response"] as Uint8Array).toString(), `\0us@er\0${PASSWORD}`);
        await mq.close();
      }));
  }

  it("asks for the virtual host as it is called [CN-28]", () =>
    withBroker({}, async (broker) => {
      for (
        const [path, name] of [["", "/"], ["/", "/"], ["/%2F", "/"], ["/%252F", "%2F"], ["/a%2Fb", "a/b"]] as const
      ) {
        const { mq } = await openAmqp(`${broker.url}${path}`);
        const { fields } = await (await broker.client()).received("ConnectionOpen");
        assert.equal(fields["virtualHost"], name, path);
        await mq.close();
      }
    }));

  it("says who it is and what it understands, and asks for frames of 128 KiB (trap 6)", () =>
    withBroker({}, async (broker) => {
      const { mq } = await openAmqp(broker.url, { name: "checkout" });
      const client = await broker.client();
      const { clientProperties } = (await client.received("ConnectionStartOk")).fields as {
        readonly clientProperties: Record<string, unknown>;
      };
      assert.deepEqual([clientProperties["connection_name"], clientProperties["product"]], ["checkout", "@acemq/amqp"]);
      const { fields } = await client.received("ConnectionTuneOk");
      assert.deepEqual([fields["frameMax"], fields["heartbeat"], fields["channelMax"]], [131_072, 30, 2_047]);
      assert.deepEqual([mq.transport, mq.state.status], ["rabbitmq", "open"]);
      await mq.close();
      await client.received("ConnectionClose");
    }));

  it("keeps its frames below what the broker allows, and its own where the broker sets no limit", () =>
    withBroker({ tune: { frameMax: 0, heartbeat: 0, channelMax: 0 } }, async (broker) => {
      const { mq } = await openAmqp(broker.url);
      assert.equal(mq.limits.maxHeaderBytes, 131_064);
      const { fields } = await (await broker.client()).received("ConnectionTuneOk");
      assert.deepEqual([fields["frameMax"], fields["heartbeat"], fields["channelMax"]], [131_072, 30, 0]);
      await mq.close();
    }));

  it("knows the largest message of the broker's version, unless it is told better", () =>
    withBroker({ serverProperties: { product: "RabbitMQ", version: "4.0.5" } }, async (broker) => {
      const four = await openAmqp(broker.url);
      assert.equal(four.mq.limits.maxBodyBytes, 16_777_216);
      const told = await openAmqp(broker.url, { maxMessageBytes: 1_000 });
      assert.equal(told.mq.limits.maxBodyBytes, 1_000);
      await four.mq.close();
      await told.mq.close();
    }));

  it("names the host it was told to name", () =>
    withBroker({}, async (broker) => {
      const { mq } = await openAmqp(broker.url, { hostName: "app-3" });
      assert.equal(mq.hostName, "app-3");
      await mq.close();
    }));

  it("shows no credential of an open connection [SEC-03]", () =>
    withBroker({}, async (broker) => {
      const { mq } = await openAmqp(broker.url, { credentials: credentials() });
      const shown = inspect(mq, { depth: 20, showHidden: true }) + JSON.stringify(mq);
      for (const part of [PASSWORD, encodeURIComponent(PASSWORD), "us@er", "guest"]) assert.ok(!shown.includes(part));
      await mq.close();
    }));

  it("stops when its signal aborts, with the signal's reason, and leaves no socket behind", () =>
    withBroker({ isMute: true }, async (broker) => {
      const stop = new AbortController();
      const opening = openAmqp(broker.url, { signal: stop.signal });
      const client = await broker.client();
      stop.abort(new Error("not needed any more"));
      await assert.rejects(opening, /^Error: not needed any more$/);
      await until("the socket is gone", () => client.isGone);
    }));
});

describe("a connection that cannot be opened", () => {
  const refusals: readonly (readonly [string, Script, string, RegExp])[] = [
    [
      "wrong credentials, by the broker's code",
      closingOn("ConnectionStartOk", 403, "Anmeldung verweigert"),
      "ACEMQ_CONNECT_AUTH",
      /: 403 Anmeldung verweigert$/,
    ],
    [
      "wrong credentials, by a broker that only hangs up",
      { answer: hangingUpOn("ConnectionStartOk") },
      "ACEMQ_CONNECT_AUTH",
      /the other end closed the connection$/,
    ],
    [
      "another round of authentication",
      { answer: ({ name }) => name === "ConnectionStartOk" ? [secure()] : undefined },
      "ACEMQ_CONNECT_AUTH",
      /another round of authentication/,
    ],
    [
      "no mechanism in common",
      { mechanisms: "GSSAPI" },
      "ACEMQ_CONNECT_AUTH",
      /does not offer the mechanism PLAIN, only GSSAPI$/,
    ],
    [
      "a virtual host that is not there or not ours, by the broker's code",
      closingOn("ConnectionOpen", 530, "gibt es nicht"),
      "ACEMQ_CONNECT_VHOST",
      /: 530 gibt es nicht$/,
    ],
    [
      "a broker that is going down",
      closingOn("ConnectionStartOk", 320, "CONNECTION_FORCED"),
      "ACEMQ_CONNECT_REFUSED",
      /: 320 CONNECTION_FORCED$/,
    ],
    [
      "a hang-up while the virtual host is opened",
      { answer: hangingUpOn("ConnectionOpen") },
      "ACEMQ_CONNECT_REFUSED",
      /the other end closed the connection$/,
    ],
  ];
  for (const [what, script, code, words] of refusals) {
    it(`says ${code} for ${what}, and shows no credential [SEC-03]`, () =>
      withBroker(script, async (broker) => {
        const error = await failure(broker.url, { credentials: credentials() });
        assert.ok(error instanceof ConnectionError);
        assert.equal(error.code, code);
        assert.match(error.message, /^Cannot connect to 127\.0\.0\.1:\d+: /);
        assert.match(error.message, words);
        assertHarmless(error);
      }));
  }

  const others: readonly (readonly [string, Uint8Array, string, RegExp])[] = [
    ["a port that speaks TLS", Uint8Array.of(0x15, 3, 3, 0, 2, 2, 10), "ACEMQ_CONNECT_TLS", /must begin with amqps$/],
    ["another AMQP", Buffer.from("AMQP\0\x01\0\0"), "ACEMQ_CONNECT_REFUSED", /does not speak AMQP 0-9-1$/],
    [
      "a web server",
      Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
      "ACEMQ_CONNECT_REFUSED",
      /does not speak AMQP 0-9-1$/,
    ],
  ];
  for (const [what, greeting, code, words] of others) {
    it(`says ${code} for ${what}`, async () => {
      const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.write(greeting)));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { readonly port: number };
      const error = await failure(`amqp://127.0.0.1:${port}`);
      assert.equal(error.code, code);
      assert.match(error.message, words);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
  }

  it("says ACEMQ_CONNECT_REFUSED where somebody hangs up without a word, and what that may mean", async () => {
    const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { readonly port: number };
    const error = await failure(`amqp://127.0.0.1:${port}`);
    assert.equal(error.code, "ACEMQ_CONNECT_REFUSED");
    assert.match(error.message, /the other end closed the connection before it said anything: it may speak TLS$/);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it("says ACEMQ_CONNECT_REFUSED where nobody listens", async () => {
    const broker = await ScriptedBroker.open();
    const { url } = broker;
    await broker.close();
    const error = await failure(url, { credentials: credentials() });
    assert.equal(error.code, "ACEMQ_CONNECT_REFUSED");
    assert.match(error.message, /ECONNREFUSED/);
    assertHarmless(error);
  });

  it("says ACEMQ_CONNECT_REFUSED for a host nobody knows", async () => {
    const error = await failure("amqp://host.invalid");
    assert.equal(error.code, "ACEMQ_CONNECT_REFUSED");
    assert.match(error.message, /^Cannot connect to host\.invalid:5672: /);
  });

  it("gives up after the connect timeout, and destroys the socket (trap 11)", () =>
    withBroker({ isMute: true }, async (broker) => {
      const clock = virtualClock();
      const opening = failure(broker.url, { clock });
      const client = await broker.client();
      await clock.advance(9_999);
      assert.equal(client.isGone, false);
      await clock.advance(1);
      const error = await opening;
      assert.equal(error.code, "ACEMQ_CONNECT_REFUSED");
      assert.match(error.message, /: no answer within 10000 ms$/);
      await until("the socket is gone", () => client.isGone);
    }));

  it("counts the time the credentials take", async () => {
    const clock = virtualClock();
    const opening = failure("amqp://127.0.0.1:1", { clock, credentials: () => new Promise<never>(() => {}) });
    await clock.advance(10_000);
    assert.match((await opening).message, /: no answer within 10000 ms$/);
  });

  it("says ACEMQ_CONNECT_AUTH when the credentials cannot be had, and what their provider said", async () => {
    const cause = new Error("the vault is sealed");
    const error = await failure("amqp://127.0.0.1:1", { credentials: () => Promise.reject(cause) });
    assert.deepEqual([error.code, error.cause], ["ACEMQ_CONNECT_AUTH", cause]);
  });

  it("says ACEMQ_CONNECT_AUTH for credentials that are no text, and does not repeat them [SEC-03]", async () => {
    for (const given of [{ username: "us@er" }, { username: `us@er\0`, password: PASSWORD }, undefined]) {
      const error = await failure("amqp://127.0.0.1:1", { credentials: () => given as AmqpCredentials });
      assert.equal(error.code, "ACEMQ_CONNECT_AUTH");
      assertHarmless(error);
    }
  });
});

function credentials(): AmqpCredentials {
  return { username: "us@er", password: PASSWORD };
}

function secure(): Uint8Array {
  return methodFrame("ConnectionSecure", 0, { challenge: Buffer.from("?") });
}

function hangingUpOn(name: string): NonNullable<Script["answer"]> {
  return (method, client: ScriptedClient) => {
    if (method.name !== name) return undefined;
    client.socket.end();
    return [];
  };
}

/** Neither a credential nor the client's connection, which holds message bytes, can be reached from an error (trap 16). */
function assertHarmless(error: Error): void {
  const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
  for (const part of [PASSWORD, encodeURIComponent(PASSWORD), "us@er", "SocketClient", "AMQPError", "bufferPool"]) {
    assert.ok(!shown.includes(part), `${part} in ${shown}`);
  }
}
