/**
 * The adapter's socket alone, opened to a scripted broker.
 *
 * @module
 */
import type { LinkFailure } from "../../adapters/amqp/link_failure.ts";
import { SocketClient } from "../../adapters/amqp/socket_client.ts";
import { parseAmqpUrl } from "../../adapters/amqp/url.ts";
import type { ScriptedBroker } from "./scripted_broker.ts";

/** An open socket, and what it has died of. */
export interface OpenSocket {
  readonly client: SocketClient;
  readonly failures: readonly LinkFailure[];
}

/** Opens a socket; nobody keeps it alive or makes another when it breaks. */
export async function openSocket(broker: ScriptedBroker): Promise<OpenSocket> {
  const failures: LinkFailure[] = [];
  const client = new SocketClient({
    address: parseAmqpUrl(broker.url),
    connectionName: "socket",
    virtualHost: "/",
    sasl: { mechanism: "PLAIN", response: new Uint8Array() },
    tuning: { channelMax: 0, frameMax: 131_072, heartbeatSeconds: 60 },
    tls: undefined,
    untrustedPeer: () => undefined,
    onDown: (failure) => failures.push(failure),
    onBlocked: () => {},
  });
  await client.dial();
  return { client, failures };
}
