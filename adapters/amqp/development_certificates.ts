/**
 * Recognising certificates that were made for development (contract core 8).
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** What the development generators of all AceMQ libraries write into subject and issuer. */
const MARKER = "ACEMQ DEVELOPMENT ONLY - DO NOT TRUST";

const CERTIFICATE_BLOCK = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----([^-]*)-----END/;

/** The certificates in PEM text, as DER. */
export function pemCertificates(pem: string): Uint8Array[] {
  const blocks = pem.split(/(?=-----BEGIN )/);
  return blocks.flatMap((block) => {
    const base64 = CERTIFICATE_BLOCK.exec(block)?.[1];
    return base64 === undefined ? [] : [Buffer.from(base64, "base64")];
  });
}

/** Whether a certificate, in DER, names itself or its issuer as made for development: in PEM text the name cannot be seen. */
export function isDevelopmentCertificate(der: Uint8Array): boolean {
  return Buffer.from(der.buffer, der.byteOffset, der.byteLength).includes(MARKER, 0, "latin1");
}
