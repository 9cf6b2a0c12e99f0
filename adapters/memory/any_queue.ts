/**
 * Queues of every type: what is declared, and who consumes from it.
 *
 * @module
 */

import type { WireTable } from "../../src/message/wire_value.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import { ArgumentReader } from "./argument_reader.ts";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import type { Declared } from "./equivalence.ts";
import { MemoryQueue, type QueueHost } from "./queue.ts";
import { assertDeadLetterExchange } from "./queue_settings.ts";
import { preconditionFailed } from "./refusals.ts";
import { MemoryStream } from "./stream.ts";
import { beginning } from "./stream_offset.ts";
import { StreamReader } from "./stream_reader.ts";
import { asksForStream } from "./stream_settings.ts";

/** A queue of the memory broker. */
export type AnyQueue = MemoryQueue | MemoryStream;

/** Makes the queue that is asked for, of a connection's own where there is an owner; throws the `Refusal` of what cannot be made. */
export function newQueue(spec: Declared<QueueSpec>, host: QueueHost, owner: object | undefined): AnyQueue {
  assertDeadLetterExchange(spec);
  return asksForStream(spec) ? new MemoryStream(spec, host.clock) : new MemoryQueue(spec, host, owner);
}

/** What every consumer is told, whatever it consumes from. */
export type NewConsumerOptions = Omit<ConsumerOptions, "priority">;

/** Begins to consume as the arguments say; throws the `Refusal` of what the queue does not have. */
export function newConsumer(queue: AnyQueue, options: NewConsumerOptions, args: WireTable): Consumer {
  const { name } = queue.spec;
  const read = new ArgumentReader({ name, arguments: args });
  if (queue instanceof MemoryStream) return newReader(queue, options, read);
  if (read.has("x-stream-offset")) throw read.invalidForType("x-stream-offset", queue.isQuorum ? "quorum" : "classic");
  const consumer = new Consumer(queue, { ...options, priority: read.integer("x-priority") ?? 0 });
  queue.addConsumer(consumer);
  return consumer;
}

function newReader(stream: MemoryStream, options: NewConsumerOptions, read: ArgumentReader): StreamReader {
  if (read.has("x-priority")) throw read.invalidForType("x-priority", "stream");
  if (options.prefetch === 0) {
    const queue = `queue '${stream.spec.name}' in vhost '/'`;
    throw preconditionFailed(`consumer prefetch count is not set for '${queue}'`);
  }
  const from = beginning(read, stream.log, stream.nowMs);
  const reader = new StreamReader(stream, { ...options, from });
  stream.addConsumer(reader);
  return reader;
}
