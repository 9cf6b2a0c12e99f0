/**
 * The heartbeat: a silent link is spoken on, and a link that stays silent is given up.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { SocketClient } from "./socket_client.ts";
import { FRAME_HEARTBEAT } from "./wire/frames.ts";
import { beginFrame, endFrame } from "./wire/frame_writer.ts";

/** Rounds a heartbeat interval is divided into. */
const ROUNDS = 2;

/** Two intervals. */
const SILENT_ROUNDS = 2 * ROUNDS;

/**
 * Sends a heartbeat every half interval and gives the link up after two intervals in which nothing was heard.
 *
 * Rounds are counted, not time: while the event loop was busy the input waits to be read, and the one round that was late proves
 * nothing about the other end. Writing does not count as a sign of life: on a half-open link it goes on for minutes.
 */
export function keepAlive(client: SocketClient, clock: Clock, ended: AbortSignal): void {
  if (client.heartbeat === 0) return;
  rounds(client, clock, ended).catch(() => {/* the link has ended */});
}

async function rounds(client: SocketClient, clock: Clock, ended: AbortSignal): Promise<void> {
  const roundMs = client.heartbeat * 1_000 / ROUNDS;
  for (let silent = 0; silent < SILENT_ROUNDS;) {
    await clock.delay(roundMs, { signal: ended });
    silent = client.wasHeard ? 0 : silent + 1;
    client.wasHeard = false;
    endFrame(client.out.writer, beginFrame(client.out.writer, FRAME_HEARTBEAT, 0));
    client.out.commit();
  }
  client.abort({ kind: "silent" });
}
