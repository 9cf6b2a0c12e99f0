/**
 * Whether the consumers of a connection consume.
 *
 * @module
 */

import type { ConsumerState } from "../consume/consumer.ts";
import type { HealthReport } from "./report.ts";
import { worst } from "./report.ts";

/** One part a queue, under its name, and nothing beside them; a consumer that is not subscribed degrades the whole, and is named. */
export function reportConsumers(consumers: readonly ConsumerState[], checked: string): HealthReport {
  const queues = new Set(consumers.map((consumer) => consumer.queue));
  const reports = [...queues].map((queue) =>
    [queue, reportQueue(consumers.filter((consumer) => consumer.queue === queue), checked)] as const
  );
  const status = worst(reports.map(([, report]) => report.status));
  const stopped = reports.flatMap(([queue, report]) => report.status === "up" ? [] : [queue]);
  const detail = stopped.length === 0 ? {} : { detail: `not consuming: ${stopped.join(", ")}` };
  return { status, ...detail, checked, parts: Object.fromEntries(reports) };
}

function reportQueue(group: readonly ConsumerState[], checked: string): HealthReport {
  const sum = (of: (state: ConsumerState) => number): number => group.reduce((total, state) => total + of(state), 0);
  const live = group.filter((state) => state.live).length;
  const parts = {
    consumers: group.length,
    live,
    paused: group.filter((state) => state.paused).length,
    inFlight: sum((state) => state.inFlight),
    waiting: sum((state) => state.waiting),
    held: sum((state) => state.held),
  };
  if (live === group.length) return { status: "up", checked, parts };
  return {
    status: "degraded",
    detail: `${group.length - live} of ${group.length} consumers are not subscribed`,
    checked,
    parts,
  };
}
