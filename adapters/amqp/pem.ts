/**
 * Certificates and keys as the options give them: PEM, and what it takes to use it.
 *
 * @module
 */

import { createPrivateKey } from "node:crypto";
import { SecurityError } from "../../src/errors.ts";
import { describeKind } from "../../src/internal/option_kinds.ts";

/** Certificates or keys in PEM form. */
export type Pem = string | Uint8Array;

/** Throws a `TypeError` for what holds no text; says nothing of what it holds. */
export function assertPem(name: string, value: unknown): void {
  if (typeof value === "string" || value instanceof Uint8Array) return;
  throw new TypeError(`Cannot use option '${name}': it must be PEM as text or bytes, found ${describeKind(value)}`);
}

/** The certificates of PEM text; a path in its place would go unnoticed, since a socket that knows no authority trusts none. */
export function certificateText(pem: Pem): string {
  const text = textOf(pem);
  if (text.includes("-----BEGIN ") && text.includes("CERTIFICATE-----")) return text;
  throw new SecurityError("Cannot use 'tls': a certificate must be PEM text, and no path");
}

/** A private key, no longer encrypted: not every runtime's sockets take a passphrase. */
export function keyText(pem: Pem, passphrase: string | undefined): string {
  const key = textOf(pem);
  try {
    const readable = createPrivateKey(passphrase === undefined ? key : { key, passphrase });
    return String(readable.export({ type: "pkcs8", format: "pem" }));
  } catch {
    // What the runtime says is not passed on: it may quote what it was given.
    throw new SecurityError(
      "Cannot use 'tls.key': it must be the PEM text of a private key that 'tls.passphrase' opens",
    );
  }
}

function textOf(pem: Pem): string {
  return typeof pem === "string" ? pem : new TextDecoder().decode(pem);
}
