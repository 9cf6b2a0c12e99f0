/**
 * The messages that every contestant moves.
 *
 * @module
 */
import { memoryBroker } from "../../adapters/memory/mod.ts";
import { openConnection } from "../../src/connection.ts";
import type { Outbound } from "../../src/message/outbound.ts";

/** A payload of 1 KB as JSON. */
export interface BenchPayload {
  readonly number: string;
  readonly text: string;
}

const JSON_BYTES = 1_024;

/** So many payloads, each of 1,024 bytes. */
export function payloads(count: number): readonly BenchPayload[] {
  return Array.from({ length: count }, (_, index) => {
    const number = String(index).padStart(8, "0");
    const rest = JSON_BYTES - JSON.stringify({ number, text: "" }).length;
    return { number, text: "a".repeat(rest) };
  });
}

/** A message for each of them, as a publisher prepares it. */
export async function outboundsFor(queue: string, all: readonly BenchPayload[]): Promise<readonly Outbound[]> {
  const mq = await openConnection(memoryBroker(), { name: "bench" });
  const publisher = mq.publisher<BenchPayload>("", queue);
  const outbounds = await Promise.all(all.map((payload) => publisher.prepare(payload)));
  await mq.close();
  return outbounds;
}
