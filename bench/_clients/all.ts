/**
 * Everybody who is measured, each on a connection of its own.
 *
 * @module
 */
import { openAmqplib } from "./amqplib.ts";
import { openBare } from "./bare.ts";
import type { BenchClient } from "./client.ts";
import { openOurs } from "./ours.ts";
import { openRabbitmqClient } from "./rabbitmq_client.ts";

/** Connects all of them. */
export async function openClients(): Promise<readonly BenchClient[]> {
  return await Promise.all([openOurs(), openBare(), openAmqplib(), openRabbitmqClient()]);
}
