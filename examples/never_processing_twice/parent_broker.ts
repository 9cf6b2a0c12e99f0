/**
 * A broker that outlives the service: the process that started it has the broker, and they talk over the channel between them.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import type { Broker } from "@acemq/amqp/core";
import { portBroker } from "../port_broker/port_broker.ts";
import { serveBroker } from "../port_broker/serve.ts";

/** The broker of the process that started this one, for one connection; `leave` gives the channel up. */
export function parentBroker(): { readonly broker: Broker; readonly leave: () => void } {
  const { port1, port2 } = new MessageChannel();
  port2.addEventListener("message", ({ data }) => void process.send?.(data));
  port2.start();
  process.on("message", (message) => port2.postMessage(message));
  const leave = (): void => {
    port2.close();
    process.disconnect();
  };
  return { broker: portBroker(() => port1), leave };
}

/**
 * Lets a child process have a connection.
 *
 * @returns to be called when the process has ended: as the system closes the socket of a process that died, this ends its connection,
 * and the broker takes back what it had in hand
 */
export function serveChild(broker: Broker, child: ChildProcess): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const endConnection = serveBroker(broker, port2);
  port1.addEventListener("message", ({ data }) => void (child.connected && child.send(data)));
  port1.start();
  child.on("message", (message) => port1.postMessage(message));
  return async () => {
    await endConnection();
    port1.close();
    port2.close();
  };
}
