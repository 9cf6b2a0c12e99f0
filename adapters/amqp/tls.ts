/**
 * TLS settings: who is trusted, who we are, and what the socket is told.
 *
 * @module
 */

import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { SecurityError } from "../../src/errors.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { isDevelopmentCertificate, pemCertificates } from "./development_certificates.ts";
import { assertPem, certificateText, keyText, type Pem } from "./pem.ts";

/** How `amqps` connections are secured. Chain and host name are verified unless told otherwise; TLS 1.2 is the least. */
export interface AmqpTlsOptions {
  /** Whom to trust, in the place of the system's authorities. @default the system's */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** Our certificate, for brokers that ask for one. */
  readonly certificate?: Pem | undefined;
  /** The private key of {@linkcode AmqpTlsOptions.certificate}. */
  readonly key?: Pem | undefined;
  /** What the private key is encrypted with. */
  readonly passphrase?: string | undefined;
  /** The name the broker's certificate must carry. @default the host of the URL */
  readonly serverName?: string | undefined;
  /** Verifying nothing takes a reason, which is kept where reviewers look: in the code. @default {"required"} */
  readonly verification?: "required" | { readonly insecureBecause: string } | undefined;
  /** Accept certificates made for development, here and from the broker. @default {false} */
  readonly allowDevelopmentCertificates?: boolean | undefined;
}

const KINDS: Readonly<OptionKinds<AmqpTlsOptions>> = {
  ca: "checked",
  certificate: "checked",
  key: "checked",
  passphrase: "text",
  serverName: "text",
  verification: "checked",
  allowDevelopmentCertificates: "boolean",
};

/** Throws for what is no setting of TLS, or of the wrong kind: a misspelt one would secure less than it says. */
export function assertTlsOptions(options: AmqpTlsOptions): void {
  assertOptions("'tls'", options, KINDS);
  const { ca } = options;
  for (const one of Array.isArray(ca) ? ca : ca === undefined ? [] : [ca]) assertPem("tls.ca", one);
  if (options.certificate !== undefined) assertPem("tls.certificate", options.certificate);
  if (options.key !== undefined) assertPem("tls.key", options.key);
}

/** What a TLS socket is opened with. */
export interface TlsSocketOptions {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
  readonly servername: string;
  readonly minVersion: "TLSv1.2";
  readonly rejectUnauthorized: boolean;
}

const TRUSTED_BY_NOBODY =
  "was made for development only: use one from an authority, or allow it with 'tls.allowDevelopmentCertificates'";

/** Checks TLS settings and says what to open the socket with; throws a `SecurityError` where they weaken without a word. */
export function tlsSocketOptions(host: string, options: AmqpTlsOptions = {}): TlsSocketOptions {
  const { certificate, key, passphrase, serverName, verification = "required" } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new SecurityError("Cannot use 'tls': a certificate and its key come together");
  }
  const ca = listOf(options.ca).map(certificateText);
  const cert = certificate === undefined ? undefined : certificateText(certificate);
  refuseConfiguredDevelopmentCertificates(options, cert === undefined ? ca : [...ca, cert]);
  return {
    ...(options.ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key: keyText(key, passphrase) }),
    // An address is no name to ask for; the certificate is then checked against the address.
    servername: serverName ?? (isIP(host) === 0 ? host : ""),
    minVersion: "TLSv1.2",
    rejectUnauthorized: isVerified(verification),
  };
}

/** Why the chain the broker presented is not to be trusted, even where nothing is verified; undefined when it may be. */
export function untrustedPeer(socket: TLSSocket, options: AmqpTlsOptions): string | undefined {
  if (options.allowDevelopmentCertificates === true) return undefined;
  const chain = peerChain(socket);
  if (chain.length === 0) return "the broker's certificate cannot be looked at";
  return chain.some(isDevelopmentCertificate) ? `the broker's certificate ${TRUSTED_BY_NOBODY}` : undefined;
}

function refuseConfiguredDevelopmentCertificates(options: AmqpTlsOptions, pems: readonly string[]): void {
  if (options.allowDevelopmentCertificates === true) return;
  if (pems.some((pem) => pemCertificates(pem).some(isDevelopmentCertificate))) {
    throw new SecurityError(`Cannot use 'tls': a certificate in it ${TRUSTED_BY_NOBODY}`);
  }
}

function isVerified(verification: "required" | { readonly insecureBecause: string }): boolean {
  if (verification === "required") return true;
  const reason: unknown = verification?.insecureBecause;
  if (typeof reason === "string" && reason.trim() !== "") return false;
  throw new SecurityError("Cannot use 'tls.verification': it is \"required\", or { insecureBecause } with a reason");
}

/** The certificates the peer sent, its own first. */
function peerChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  const seen = new Set<unknown>();
  // A root names itself as its issuer, and a runtime may leave the rest of a chain out.
  for (
    let one = socket.getPeerCertificate(true);
    one?.raw !== undefined && !seen.has(one);
    one = one.issuerCertificate
  ) {
    seen.add(one);
    chain.push(one.raw);
  }
  return chain;
}

function listOf(ca: Pem | readonly Pem[] | undefined): readonly Pem[] {
  if (ca === undefined) return [];
  return typeof ca === "string" || ca instanceof Uint8Array ? [ca] : ca;
}
