/**
 * The options of an AMQP broker and their defaults, checked before anything is dialled.
 *
 * @module
 */

import { type Random, systemRandom } from "../../src/clock.ts";
import { SecurityError } from "../../src/errors.ts";
import { assertFiniteNumber, assertWholeNumber } from "../../src/internal/assert_option.ts";
import { assertKinds, assertOptions, describeKind, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { CredentialsSource, Mechanism } from "./credentials.ts";
import { type AmqpTlsOptions, assertTlsOptions, type TlsSocketOptions, tlsSocketOptions } from "./tls.ts";
import { type AmqpAddress, parseAmqpUrl } from "./url.ts";

/** How long to wait between attempts to come back. */
export interface ReconnectOptions {
  /** Wait before the first attempt, milliseconds. @default {1_000} */
  readonly initialDelayMs?: number | undefined;
  /** Longest wait between attempts, milliseconds. @default {30_000} */
  readonly maxDelayMs?: number | undefined;
  /** Growth from one wait to the next, at least 1. @default {2} */
  readonly multiplier?: number | undefined;
}

/** Options of {@linkcode amqpBroker}. */
export interface AmqpOptions {
  /** Overrides the URL's user info; a function is asked again before every attempt. @default guest, as the broker allows it locally */
  readonly credentials?: CredentialsSource | undefined;
  /** `EXTERNAL` lets the broker take our identity from the TLS client certificate. @default {"PLAIN"} */
  readonly mechanism?: Mechanism | undefined;
  /** For `amqps` URLs only. */
  readonly tls?: AmqpTlsOptions | undefined;
  /** How patiently a lost link is dialled again; it is never given up. */
  readonly reconnect?: ReconnectOptions | undefined;
  /** How long one attempt to connect may take, handshake included. @default {10_000} */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Silence after which the link is tested; after two it is given up. At least 10: below that, a busy event loop looks like a dead
   * link. There is no way to switch it off, since without it a half-open connection is never noticed. @default {30}
   */
  readonly heartbeatSeconds?: number | undefined;
  /** The largest body the broker takes. @default 16 MiB for RabbitMQ 4 and later, 128 MiB before */
  readonly maxMessageBytes?: number | undefined;
  /** The host half of the origin header. @default the machine's name where the runtime lets us ask, else `unknown` */
  readonly hostName?: string | undefined;
  /** Spreads reconnects of many processes. @default {systemRandom} */
  readonly random?: Random | undefined;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly address: AmqpAddress;
  readonly credentials: CredentialsSource | undefined;
  readonly mechanism: Mechanism;
  readonly tls: AmqpTlsOptions;
  /** Undefined for a plain connection. */
  readonly tlsSocket: TlsSocketOptions | undefined;
  readonly backoff: Backoff;
  readonly connectTimeoutMs: number;
  readonly heartbeatSeconds: number;
  readonly maxMessageBytes: number | undefined;
  readonly hostName: string | undefined;
}

/** The waits of {@linkcode ReconnectOptions}, jittered. */
export interface Backoff {
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly multiplier: number;
  readonly random: Random;
}

const LEAST_HEARTBEAT_SECONDS = 10;
const LARGEST_UINT16 = 65_535;

/** What the options of a broker must be. */
export const AMQP_KINDS: Readonly<OptionKinds<AmqpOptions>> = {
  credentials: "checked",
  mechanism: "checked",
  tls: "object",
  reconnect: "object",
  connectTimeoutMs: "checked",
  heartbeatSeconds: "checked",
  maxMessageBytes: "checked",
  hostName: "text",
  random: "function",
};

const RECONNECT_KINDS: Readonly<OptionKinds<ReconnectOptions>> = {
  initialDelayMs: "checked",
  maxDelayMs: "checked",
  multiplier: "checked",
};

/** Checks and completes; throws a `TypeError`, `RangeError` or `SecurityError` that shows no credential. */
export function resolveOptions(url: string, options: AmqpOptions): ResolvedOptions {
  // Names it does not know are those of the connection, which are handed in with them.
  assertKinds("an AMQP broker", options, AMQP_KINDS);
  assertOptions("'reconnect'", options.reconnect ?? {}, RECONNECT_KINDS);
  assertTlsOptions(options.tls ?? {});
  const { mechanism = "PLAIN", connectTimeoutMs = 10_000, heartbeatSeconds = 30, tls, maxMessageBytes } = options;
  assertCredentials(options.credentials);
  const address = parseAmqpUrl(url);
  if (mechanism !== "PLAIN" && mechanism !== "EXTERNAL") {
    throw new TypeError(`Cannot use option 'mechanism': it must be "PLAIN" or "EXTERNAL"`);
  }
  assertWholeNumber("connectTimeoutMs", connectTimeoutMs, 1);
  assertWholeNumber("heartbeatSeconds", heartbeatSeconds, LEAST_HEARTBEAT_SECONDS);
  if (heartbeatSeconds > LARGEST_UINT16) {
    throw new RangeError(`Cannot use option 'heartbeatSeconds': it must be at most ${LARGEST_UINT16}`);
  }
  if (maxMessageBytes !== undefined) assertWholeNumber("maxMessageBytes", maxMessageBytes, 0);
  if (tls !== undefined && !address.isEncrypted) {
    throw new SecurityError("Cannot use 'tls' with an amqp URL: nothing would be encrypted; the scheme must be amqps");
  }
  if (mechanism === "EXTERNAL" && tls?.certificate === undefined) {
    throw new SecurityError("Cannot use the mechanism EXTERNAL: the broker takes our identity from 'tls.certificate'");
  }
  return {
    address,
    credentials: options.credentials ?? address.credentials,
    mechanism,
    tls: tls ?? {},
    tlsSocket: address.isEncrypted ? tlsSocketOptions(address.host, tls) : undefined,
    backoff: resolveBackoff(options),
    connectTimeoutMs,
    heartbeatSeconds,
    maxMessageBytes,
    hostName: options.hostName,
  };
}

/** What is in them is looked at when they are used, those of a function and those of the call alike. */
function assertCredentials(credentials: unknown): void {
  if (credentials === undefined || typeof credentials === "function") return;
  if (typeof credentials === "object" && credentials !== null && !Array.isArray(credentials)) return;
  throw new TypeError(
    `Cannot use option 'credentials': it must be { username, password } or a function, found ${
      describeKind(credentials)
    }`,
  );
}

function resolveBackoff({ reconnect = {}, random = systemRandom }: AmqpOptions): Backoff {
  const { initialDelayMs = 1_000, maxDelayMs = 30_000, multiplier = 2 } = reconnect;
  assertWholeNumber("reconnect.initialDelayMs", initialDelayMs, 1);
  assertWholeNumber("reconnect.maxDelayMs", maxDelayMs, initialDelayMs);
  assertFiniteNumber("reconnect.multiplier", multiplier, 1);
  return { initialDelayMs, maxDelayMs, multiplier, random };
}
