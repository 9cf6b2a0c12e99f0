/**
 * Where the services are that tests talk to, and why a test is skipped where one is not there.
 *
 * The defaults are what `scripts/services.sh` starts. A test takes its service's answer as its `skip`:
 *
 *     const skip = await missing("rabbitmq");
 *     it("comes back", { skip }, async () => { … });
 *
 * Put it on each test, not on the suite alone: Bun reports nothing of a skipped suite.
 *
 * @module
 */
import { connect } from "node:net";
import process from "node:process";

export const AMQP_URL: string = process.env["ACEMQ_AMQP_URL"] ?? "amqp://guest:guest@127.0.0.1:5672";
export const POSTGRES_URL: string = process.env["ACEMQ_POSTGRES_URL"] ?? "postgres://acemq:acemq@127.0.0.1:5432/acemq";

/** A pooler in transaction mode in front of PostgreSQL. */
export const PGBOUNCER_URL: string = process.env["ACEMQ_PGBOUNCER_URL"] ??
  "postgres://acemq:acemq@127.0.0.1:6433/acemq";

/** RabbitMQ 4.0, for what differs there. */
export const RABBITMQ4_URL: string = process.env["ACEMQ_RABBITMQ4_URL"] ?? "amqp://guest:guest@127.0.0.1:5674";

/** A node of its own, which tests in `tests/faults/` may stop, block and restart (`rabbitmqctl -n FAULT_NODE …`). */
export const FAULT_AMQP_URL: string = process.env["ACEMQ_FAULT_AMQP_URL"] ?? "amqp://guest:guest@127.0.0.1:5673";
export const FAULT_NODE: string = process.env["ACEMQ_FAULT_NODE"] ?? "acemqfault@localhost";

/** The TLS listener of the fault node, and the folder of `ca.pem`, `client.pem`, `client.key`, `stranger_ca.pem`. */
export const TLS_URL: string = process.env["ACEMQ_TLS_URL"] ?? "amqps://guest:guest@localhost:5671";
export const TLS_DIR: string = process.env["ACEMQ_TLS_DIR"] ?? "/var/cache/acemq/tls";

/** A service a test may need. */
export type Service = "rabbitmq" | "postgresql" | "pgbouncer" | "fault_node" | "rabbitmq4";

const SERVICES: Readonly<Record<Service, { readonly url: string; readonly start: string }>> = {
  rabbitmq: { url: AMQP_URL, start: "scripts/services.sh" },
  postgresql: { url: POSTGRES_URL, start: "scripts/services.sh" },
  pgbouncer: { url: PGBOUNCER_URL, start: "scripts/services.sh pgbouncer" },
  fault_node: { url: FAULT_AMQP_URL, start: "scripts/services.sh fault-node" },
  rabbitmq4: { url: RABBITMQ4_URL, start: "scripts/services.sh rabbitmq4" },
};

/** `false` where the service answers, else why its tests are skipped. */
export async function missing(service: Service): Promise<string | false> {
  const { url, start } = SERVICES[service];
  const { hostname, port } = new URL(url);
  return await answers(hostname, Number(port)) ? false : `nothing answers on ${hostname}:${port}, try '${start}'`;
}

/** Whether a port takes connections. */
export function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false)).once("timeout", () => settle(false));
  });
}
