/**
 * What an AMQP URL says: whether to encrypt, where to dial, which virtual host, and perhaps who asks.
 *
 * No error here repeats the URL: it may hold a password.
 *
 * @module
 */

import { SecurityError } from "../../src/errors.ts";
import { utf8Length } from "../../src/internal/bytes.ts";

/** A user name and its password. */
export interface AmqpCredentials {
  /** Who we are. */
  readonly username: string;
  /** Never shown in any error, log or printed object. */
  readonly password: string;
}

/** A URL taken apart. */
export interface AmqpAddress {
  readonly isEncrypted: boolean;
  readonly host: string;
  readonly port: number;
  readonly virtualHost: string;
  /** Undefined when the URL names nobody. */
  readonly credentials: AmqpCredentials | undefined;
}

const PORT = 5_672;
const PORT_ENCRYPTED = 5_671;

/**
 * Takes an AMQP URL apart.
 *
 * User, password and virtual host are percent-decoded, so `p@ss` is written `p%40ss` and the virtual host `/` is `%2F`; no path
 * and an empty one mean the virtual host `/`. Query parameters are refused rather than ignored: settings are options.
 */
export function parseAmqpUrl(text: string): AmqpAddress {
  if (!text.includes("://")) throw unusable("its scheme is missing: it begins with amqps:// or amqp://");
  const url = parse(text);
  if (url.protocol !== "amqp:" && url.protocol !== "amqps:") throw unusable("its scheme must be amqp or amqps");
  if (url.hostname === "") throw unusable("it names no host");
  if (url.hash !== "") throw unusable("a '#' in a user name or password is written %23");
  refuseQuery(url);
  const isEncrypted = url.protocol === "amqps:";
  return {
    isEncrypted,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isEncrypted ? PORT_ENCRYPTED : PORT) : Number(url.port),
    virtualHost: virtualHostOf(url),
    credentials: credentialsOf(url),
  };
}

/** `host:port`, an IPv6 host in brackets. */
export function formatHost({ host, port }: AmqpAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw unusable("it is no URL; reserved characters in a user name or password are percent-encoded");
  }
}

function refuseQuery(url: URL): void {
  if (url.search === "") return;
  const names = [...url.searchParams.keys()];
  if (names.includes("insecure")) {
    throw new SecurityError("Cannot use the URL: verification is switched off by the option 'tls.verification' only");
  }
  throw unusable("settings are options, not query parameters; a '?' in a user name or password is written %3F");
}

function virtualHostOf(url: URL): string {
  const name = decode(url.pathname.slice(1)) || "/";
  if (utf8Length(name) > 255) throw unusable("its virtual host must fit 255 bytes of UTF-8");
  return name;
}

function credentialsOf(url: URL): AmqpCredentials | undefined {
  if (url.username === "" && url.password === "") return undefined;
  return { username: decode(url.username), password: decode(url.password) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusable("a '%' in it is written %25");
  }
}

function unusable(problem: string): TypeError {
  return new TypeError(`Cannot use the URL of the broker: ${problem}`);
}
