/** Keys and certificates as options give them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { certificateText, keyText } from "../../../adapters/amqp/pem.ts";
import { SecurityError } from "../../../src/errors.ts";

/** What OpenSSL makes; `undefined` where there is none. */
function openssl(args: readonly string[], input = ""): string | undefined {
  try {
    return execFileSync("openssl", args, { input, stdio: "pipe" }).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const PLAIN = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]);
const skip = PLAIN === undefined ? "there is no openssl to make keys with" : false;
const ENCRYPTED = openssl(["pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:s3cret"], PLAIN ?? "") ?? "";

describe("a private key", () => {
  it("is opened by its passphrase, as text and as bytes", { skip }, () => {
    const opened = keyText(PLAIN ?? "", undefined);
    assert.equal(opened.trim(), PLAIN?.trim());
    assert.equal(keyText(ENCRYPTED, "s3cret"), opened);
    assert.equal(keyText(new TextEncoder().encode(ENCRYPTED), "s3cret"), opened);
  });

  it("is refused where it does not open, and neither it nor the passphrase is shown [SEC-03]", { skip }, () => {
    const wrong: readonly (readonly [string, string | undefined])[] = [
      [ENCRYPTED, "wr0ng"],
      [ENCRYPTED, undefined],
      ["/etc/acemq/k3y.pem", undefined],
      ["-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", undefined],
    ];
    for (const [key, passphrase] of wrong) {
      assert.throws(() => keyText(key, passphrase), (error) => {
        const shown = inspect(error, { depth: 10, showHidden: true });
        return error instanceof SecurityError && !shown.includes(key) && !shown.includes("wr0ng");
      });
    }
  });
});

describe("a certificate", () => {
  it("is PEM text, and no path to it", () => {
    const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert.equal(certificateText(new TextEncoder().encode(pem)), pem);
    assert.throws(() => certificateText("/etc/acemq/ca.pem"), SecurityError);
  });
});
