/**
 * The methods that are answered: each as a function that writes the payload of its frame.
 *
 * @module
 */

import type { BindingSpec, DeclareArguments, ExchangeSpec, QueueSpec } from "../../../src/topology/specs.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { writeTable } from "./table_writer.ts";
import { Unwritable } from "./unwritable.ts";

/** Writes one method; what cannot be written throws {@linkcode Unwritable}. */
export type Call = (writer: ByteWriter) => void;

const CHANNEL_OPEN = 0x0014_000a;
const CHANNEL_CLOSE = 0x0014_0028;
const EXCHANGE_DECLARE = 0x0028_000a;
const EXCHANGE_DELETE = 0x0028_0014;
const QUEUE_DECLARE = 0x0032_000a;
const QUEUE_BIND = 0x0032_0014;
const QUEUE_PURGE = 0x0032_001e;
const QUEUE_DELETE = 0x0032_0028;
const BASIC_QOS = 0x003c_000a;
const BASIC_CONSUME = 0x003c_0014;
const BASIC_CANCEL = 0x003c_001e;
const BASIC_GET = 0x003c_0046;
const CONFIRM_SELECT = 0x0055_000a;

const PASSIVE = 1;
const DURABLE = 2;

/** Why a channel is closed from this side: it is not needed any more. */
const SUCCESS = 200;

export function openChannel(): Call {
  return (writer) => {
    writer.uint32(CHANNEL_OPEN);
    writer.shortText("");
  };
}

export function closeChannel(): Call {
  return (writer) => {
    writer.uint32(CHANNEL_CLOSE);
    writer.uint16(SUCCESS);
    writer.shortText("");
    writer.uint32(0);
  };
}

export function selectConfirms(): Call {
  return (writer) => {
    writer.uint32(CONFIRM_SELECT);
    writer.uint8(0);
  };
}

/** The limit counts for the consumers that come after it, each by itself. */
export function limitPrefetch(prefetch: number): Call {
  return (writer) => {
    writer.uint32(BASIC_QOS);
    writer.uint32(0);
    writer.uint16(prefetch);
    writer.uint8(0);
  };
}

/** What a consumer is started with. */
export interface ConsumeCall {
  readonly queue: string;
  readonly consumerTag: string;
  readonly arguments: DeclareArguments;
}

/** Every delivery has to be settled. */
export function consume({ queue, consumerTag, arguments: args }: ConsumeCall): Call {
  return (writer) => {
    writer.uint32(BASIC_CONSUME);
    writer.uint16(0);
    writer.shortText(queue);
    writer.shortText(consumerTag);
    writer.uint8(0);
    writeArguments(writer, args);
  };
}

export function cancelConsumer(consumerTag: string): Call {
  return (writer) => {
    writer.uint32(BASIC_CANCEL);
    writer.shortText(consumerTag);
    writer.uint8(0);
  };
}

/** The message has to be settled. */
export function getMessage(queue: string): Call {
  return (writer) => {
    writer.uint32(BASIC_GET);
    writer.uint16(0);
    writer.shortText(queue);
    writer.uint8(0);
  };
}

export function declareExchange({ name, type, durable, autoDelete, arguments: args }: ExchangeSpec): Call {
  return (writer) => {
    writer.uint32(EXCHANGE_DECLARE);
    writer.uint16(0);
    writer.shortText(name);
    writer.shortText(type);
    writer.uint8((durable ? DURABLE : 0) | (autoDelete ? 4 : 0));
    writeArguments(writer, args);
  };
}

/** Asks without declaring; the type does not matter then. */
export function checkExchange(name: string): Call {
  return (writer) => {
    writer.uint32(EXCHANGE_DECLARE);
    writer.uint16(0);
    writer.shortText(name);
    writer.shortText("direct");
    writer.uint8(PASSIVE);
    writeArguments(writer, {});
  };
}

export function deleteExchange(name: string): Call {
  return (writer) => {
    writer.uint32(EXCHANGE_DELETE);
    writer.uint16(0);
    writer.shortText(name);
    writer.uint8(0);
  };
}

export function declareQueue({ name, durable, exclusive, autoDelete, arguments: args }: QueueSpec): Call {
  return (writer) => {
    writer.uint32(QUEUE_DECLARE);
    writer.uint16(0);
    writer.shortText(name);
    writer.uint8((durable ? DURABLE : 0) | (exclusive ? 4 : 0) | (autoDelete ? 8 : 0));
    writeArguments(writer, args);
  };
}

/** Asks without declaring. */
export function checkQueue(name: string): Call {
  return (writer) => {
    writer.uint32(QUEUE_DECLARE);
    writer.uint16(0);
    writer.shortText(name);
    writer.uint8(PASSIVE);
    writeArguments(writer, {});
  };
}

export function bindQueue({ queue, exchange, routingKey, arguments: args }: BindingSpec): Call {
  return (writer) => {
    writer.uint32(QUEUE_BIND);
    writer.uint16(0);
    writer.shortText(queue);
    writer.shortText(exchange);
    writer.shortText(routingKey);
    writer.uint8(0);
    writeArguments(writer, args);
  };
}

export function purgeQueue(name: string): Call {
  return (writer) => {
    writer.uint32(QUEUE_PURGE);
    writer.uint16(0);
    writer.shortText(name);
    writer.uint8(0);
  };
}

export function deleteQueue(name: string): Call {
  return (writer) => {
    writer.uint32(QUEUE_DELETE);
    writer.uint16(0);
    writer.shortText(name);
    writer.uint8(0);
  };
}

function writeArguments(writer: ByteWriter, args: DeclareArguments): void {
  try {
    writeTable(writer, args);
  } catch (error) {
    throw error instanceof Unwritable ? new Unwritable(`argument ${error.message}`) : error;
  }
}
