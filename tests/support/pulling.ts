/**
 * Single messages off a queue, for tests that ask for one or two.
 *
 * @module
 */
import type { BrokerConnection, PulledDelivery } from "../../src/ports/broker.ts";

/** Takes the next message, to be settled while the connection stands; null when there is none. */
export async function pulled(mq: BrokerConnection, queue: string): Promise<PulledDelivery | null> {
  const puller = await mq.openPuller(queue);
  const delivery = await puller.pull();
  if (delivery === null) await puller.close();
  return delivery;
}
