/** Options of a broker, checked before anything is dialled. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { delayBefore } from "../../../adapters/amqp/backoff.ts";
import { amqpBroker, type AmqpOptions } from "../../../adapters/amqp/mod.ts";
import { resolveOptions } from "../../../adapters/amqp/options.ts";
import { limitsOf } from "../../../adapters/amqp/server_limits.ts";
import { SecurityError } from "../../../src/errors.ts";
import type { WireTable } from "../../../src/message/wire_value.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

describe("an AMQP broker", () => {
  it("shows no credential, whatever is done to print it [SEC-03]", () => {
    const secret = "p@ss#w?rd/$%";
    const brokers = [
      amqpBroker(`amqp://us3r:${encodeURIComponent(secret)}@broker`),
      amqpBroker("amqp://broker", { credentials: { username: "us3r", password: secret } }),
      amqpBroker("amqp://broker", { credentials: () => ({ username: "us3r", password: secret }) }),
    ];
    for (const broker of brokers) {
      const shown = [inspect(broker, { depth: 10, showHidden: true }), JSON.stringify(broker), String(broker)].join();
      for (const part of [secret, encodeURIComponent(secret), "us3r"]) assert.ok(!shown.includes(part), shown);
    }
  });

  const wrong: readonly (readonly [string, string, AmqpOptions, new () => Error, RegExp])[] = [
    ["a heartbeat below 10 s (trap 10)", "amqp://b", { heartbeatSeconds: 9 }, RangeError, /at least 10, found 9/],
    ["no heartbeat at all (trap 9)", "amqp://b", { heartbeatSeconds: 0 }, RangeError, /at least 10, found 0/],
    ["a heartbeat beyond 16 bits", "amqp://b", { heartbeatSeconds: 65_536 }, RangeError, /at most 65535/],
    ["no time to connect", "amqp://b", { connectTimeoutMs: 0 }, RangeError, /'connectTimeoutMs'/],
    ["no wait between attempts", "amqp://b", { reconnect: { initialDelayMs: 0 } }, RangeError, /initialDelayMs/],
    ["a longest wait below the first", "amqp://b", { reconnect: { maxDelayMs: 999 } }, RangeError, /maxDelayMs/],
    ["waits that shrink", "amqp://b", { reconnect: { multiplier: 0.5 } }, RangeError, /multiplier/],
    ["a negative message size", "amqp://b", { maxMessageBytes: -1 }, RangeError, /maxMessageBytes/],
    ["an unknown mechanism", "amqp://b", { mechanism: "ANONYMOUS" as "PLAIN" }, TypeError, /"PLAIN" or "EXTERNAL"/],
    ["EXTERNAL without a certificate", "amqps://b", { mechanism: "EXTERNAL" }, SecurityError as never, /EXTERNAL/],
    ["TLS settings for a plain URL", "amqp://b", { tls: {} }, SecurityError as never, /nothing would be encrypted/],
    ["a path in the place of a CA", "amqps://b", { tls: { ca: "/etc/ca.pem" } }, SecurityError as never, /PEM text/],
    [
      "a CA as a key",
      "amqps://b",
      { tls: { certificate: PEM, key: PEM } },
      SecurityError as never,
      /the PEM text of a private key/,
    ],
    [
      "a certificate without its key",
      "amqps://b",
      { tls: { certificate: "c" } },
      SecurityError as never,
      /come together/,
    ],
  ];
  for (const [what, url, options, kind, problem] of wrong) {
    it(`is refused before dialling: ${what}`, () => {
      assert.throws(() => amqpBroker(url, options), (error) => error instanceof kind && problem.test(error.message));
    });
  }

  it("verifies unless a reason is given in the code [SEC-05]", () => {
    const isVerified = (verification?: unknown): boolean | undefined => {
      const tls = (verification === undefined ? {} : { verification }) as AmqpOptions["tls"];
      return resolveOptions("amqps://b", { tls }).tlsSocket?.rejectUnauthorized;
    };
    assert.equal(isVerified(), true);
    assert.equal(isVerified("required"), true);
    assert.equal(isVerified({ insecureBecause: "the staging broker has no certificate of its own" }), false);
    for (const other of ["none", false, null, {}, { insecureBecause: "" }, { insecureBecause: " " }]) {
      assert.throws(() => isVerified(other), SecurityError, JSON.stringify(other));
    }
  });

  it("asks for TLS 1.2 at least, for the name of the host, and for another when told so", () => {
    const socket = (url: string, serverName?: string) => resolveOptions(url, { tls: { serverName } }).tlsSocket;
    assert.equal(socket("amqps://broker.internal")?.minVersion, "TLSv1.2");
    assert.equal(socket("amqps://broker.internal")?.servername, "broker.internal");
    assert.equal(socket("amqps://127.0.0.1")?.servername, "");
    assert.equal(socket("amqps://[::1]")?.servername, "");
    assert.equal(socket("amqps://127.0.0.1", "broker.internal")?.servername, "broker.internal");
    assert.equal(resolveOptions("amqp://broker", {}).tlsSocket, undefined);
  });
});

describe("the wait before an attempt", () => {
  const backoff = { initialDelayMs: 1_000, maxDelayMs: 30_000, multiplier: 2 };

  it("doubles from one second to thirty", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 1_000].map((attempt) =>
      delayBefore(attempt, { ...backoff, random: () => 0.5 })
    );
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it("is spread by a fifth in both directions, and never longer than the longest", () => {
    assert.equal(delayBefore(2, { ...backoff, random: () => 0 }), 1_600);
    assert.equal(delayBefore(2, { ...backoff, random: () => 0.999_999 }), 2_400);
    assert.equal(delayBefore(9, { ...backoff, random: () => 0.999_999 }), 30_000);
  });

  it("is the same every time when it does not grow: one address is tried each interval", () => {
    const steady = { initialDelayMs: 5_000, maxDelayMs: 5_000, multiplier: 1, random: () => 0.5 };
    assert.deepEqual([1, 2, 3].map((attempt) => delayBefore(attempt, steady)), [5_000, 5_000, 5_000]);
  });
});

describe("the limits of a connection", () => {
  const of = (properties: WireTable, maxMessageBytes?: number) =>
    limitsOf({ frameMax: 131_072, properties, maxMessageBytes });

  it("are the body size of the broker's version, and what a frame leaves for headers", () => {
    assert.deepEqual(of({ product: "RabbitMQ", version: "3.10.8" }), {
      maxHeaderBytes: 131_064,
      maxBodyBytes: 134_217_728,
      maxUnconfirmedPerLane: 256,
    });
    assert.equal(of({ product: "RabbitMQ", version: "4.0.5" }).maxBodyBytes, 16_777_216);
    assert.equal(of({ product: "RabbitMQ", version: "10.0" }).maxBodyBytes, 16_777_216);
    assert.equal(of({ product: "LavinMQ", version: "4.0.0" }).maxBodyBytes, 134_217_728);
    assert.equal(of({}).maxBodyBytes, 134_217_728);
  });

  it("are what the caller knows better", () => {
    assert.equal(of({ product: "RabbitMQ", version: "4.0.5" }, 1_000).maxBodyBytes, 1_000);
  });
});
