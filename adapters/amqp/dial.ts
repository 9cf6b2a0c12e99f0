/**
 * Making a link: one attempt, with a time limit of its own.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { type SaslAnswer, saslAnswer } from "./credentials.ts";
import { keepAlive } from "./heartbeat.ts";
import { Link } from "./link.ts";
import { connectError, describeFailure, type LinkFailure } from "./link_failure.ts";
import type { ResolvedOptions } from "./options.ts";
import { SocketClient } from "./socket_client.ts";
import { untrustedPeer } from "./tls.ts";
import { formatHost } from "./url.ts";

/** What a link is opened with. */
export interface LinkOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The link is gone, and everything in flight on it has been settled. Called once. */
  readonly onDown: (reason: string) => void;
  readonly onBlocked: (reason: string | undefined) => void;
}

/** The frame size we ask for: what RabbitMQ allows at most by default. */
const FRAME_MAX = 131_072;

/** Dials once. Rejects with a `ConnectionError` or a `SecurityError`, or with the signal's reason. */
export async function openLink(options: ResolvedOptions, link: LinkOptions): Promise<Link> {
  const { clock, signal } = link;
  signal.throwIfAborted();
  const giveUp = new AbortController();
  const done = new AbortController();
  const onAbort = (): void => giveUp.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  clock.delay(options.connectTimeoutMs, { signal: done.signal }).then(() => giveUp.abort(), () => {});
  try {
    return await attempt(options, link, giveUp.signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
    done.abort();
  }
}

async function attempt(options: ResolvedOptions, link: LinkOptions, giveUp: AbortSignal): Promise<Link> {
  const ended = new AbortController();
  let client: SocketClient | undefined;
  try {
    const sasl = await unlessAborted(giveUp, saslAnswer(options.mechanism, options.credentials));
    client = newClient(options, { link, sasl, ended });
    await unlessAborted(giveUp, client.dial());
    keepAlive(client, link.clock, ended.signal);
    return new Link(client, link.clock, options.maxMessageBytes);
  } catch (error) {
    const timeout: LinkFailure = { kind: "timeout", timeoutMs: options.connectTimeoutMs };
    client?.abort(timeout);
    link.signal.throwIfAborted();
    // Everything but an error is a failure of the link, told by the client.
    if (error instanceof Error && !giveUp.aborted) throw error;
    const failure = giveUp.aborted ? timeout : error as LinkFailure;
    throw connectError(failure, client?.handshake.phase ?? "dialling", formatHost(options.address));
  }
}

function newClient(
  options: ResolvedOptions,
  { link, sasl, ended }: { readonly link: LinkOptions; readonly sasl: SaslAnswer; readonly ended: AbortController },
): SocketClient {
  return new SocketClient({
    address: options.address,
    virtualHost: options.address.virtualHost,
    connectionName: link.name,
    sasl,
    tuning: { channelMax: 0, frameMax: FRAME_MAX, heartbeatSeconds: options.heartbeatSeconds },
    tls: options.tlsSocket,
    untrustedPeer: (socket) => untrustedPeer(socket, options.tls),
    onDown: (failure) => {
      ended.abort();
      link.onDown(describeFailure(failure));
    },
    onBlocked: link.onBlocked,
  });
}

/** Stops waiting when the signal aborts, whatever becomes of the promise. */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
