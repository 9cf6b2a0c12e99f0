/** Certificates made for development are recognised by their names, wherever they come from (contract core 8). */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { isDevelopmentCertificate, pemCertificates } from "../../../adapters/amqp/development_certificates.ts";

const MARKED = Buffer.from("30820100...CN=ACEMQ DEVELOPMENT ONLY - DO NOT TRUST...");
const PLAIN = Buffer.from("30820100...CN=broker.internal...");

function pem(der: Buffer): string {
  const base64 = der.toString("base64").replaceAll(/.{20}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}

describe("a development certificate", () => {
  it("is recognised by its bytes, in which the name stands as it is", () => {
    assert.equal(isDevelopmentCertificate(MARKED), true);
    assert.equal(isDevelopmentCertificate(PLAIN), false);
  });

  it("is found in PEM text, where the name cannot be seen, behind others and behind a key", () => {
    const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    const text = `# a chain\r\n${pem(PLAIN)}${key}${pem(MARKED)}`;
    assert.ok(!text.includes("DO NOT TRUST"));
    assert.deepEqual(pemCertificates(text).map(isDevelopmentCertificate), [false, true]);
    assert.deepEqual(pemCertificates(text).map((der) => Buffer.from(der).toString()), [`${PLAIN}`, `${MARKED}`]);
    assert.deepEqual(pemCertificates(""), []);
  });
});
