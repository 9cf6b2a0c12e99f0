/**
 * Whether the broker answers, and what it says of publishing (contract core 7.4).
 *
 * @module
 */

import { TopologyError } from "../errors.ts";
import type { BrokerConnection } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import type { HealthReport } from "./report.ts";

/** What a monitor reads first: every AceMQ library says it in these words. */
export const BLOCKED_DETAIL = "the broker has blocked this connection; publishing is paused";

/** How long the broker may take to answer a probe, milliseconds. */
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Asks the broker for a queue that does not exist: it leaves nothing behind.
 *
 * A blocked connection is up and is not asked: the broker does not read from it, and a service that is restarted for it comes back
 * to the same broker. Its parts are facts, named as in Go: how many consumers the connection has is one of them.
 */
export async function checkBroker(
  broker: BrokerConnection,
  { clock, newId }: Environment,
  consumers: number,
): Promise<HealthReport> {
  const checked = new Date(clock.now()).toISOString();
  const known = knownState(broker, { checked, consumers });
  if (known !== undefined) return known;
  const started = clock.elapsed();
  const answered = await probe(broker, `acemq-health-${newId()}`, clock);
  if (answered === "answered") {
    const roundTripMillis = Math.round(clock.elapsed() - started);
    return { status: "up", checked, parts: { consumers, blocked: false, roundTripMillis } };
  }
  const detail = answered === "silent"
    ? `the broker did not answer within ${PROBE_TIMEOUT_MS / 1_000}s`
    : answered.failed;
  return knownState(broker, { checked, consumers }) ??
    { status: "down", detail, checked, parts: { consumers, blocked: false } };
}

/** What needs no question: a closed, a recovering, a blocked connection. */
function knownState(
  { state }: BrokerConnection,
  { checked, consumers }: { readonly checked: string; readonly consumers: number },
): HealthReport | undefined {
  if (state.status === "closed") {
    return { status: "down", detail: "the connection is closed", checked, parts: { consumers, blocked: null } };
  }
  if (state.status === "recovering") {
    return {
      status: "down",
      detail: "the connection is lost and being recovered",
      checked,
      parts: { consumers, blocked: null },
    };
  }
  const reason = state.blockedReason;
  if (reason === undefined) return undefined;
  const detail = reason === "" ? BLOCKED_DETAIL : `${BLOCKED_DETAIL}: ${reason}`;
  return { status: "up", detail, checked, parts: { consumers, blocked: true, blockedReason: reason } };
}

async function probe(
  broker: BrokerConnection,
  name: string,
  clock: Environment["clock"],
): Promise<"answered" | "silent" | { failed: string }> {
  const timer = new AbortController();
  const silent = clock.delay(PROBE_TIMEOUT_MS, { signal: timer.signal }).then(
    () => "silent" as const,
    () => "silent" as const,
  );
  try {
    return await Promise.race([broker.checkQueue(name).then(() => "answered" as const), silent]);
  } catch (error) {
    // A broker that refuses the question has answered it.
    if (error instanceof TopologyError) return "answered";
    return { failed: error instanceof Error ? error.message : "the probe failed" };
  } finally {
    timer.abort();
  }
}
