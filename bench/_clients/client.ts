/**
 * What a client has to do to be measured, and the message that all of them send.
 *
 * @module
 */
import { hostname } from "node:os";
import process from "node:process";

/** The broker that is measured on; the same variable that the tests read. */
export const AMQP_URL: string = process.env["ACEMQ_AMQP_URL"] ?? "amqp://guest:guest@127.0.0.1:5672";

/** Deliveries that may wait for their acknowledgement. */
export const PREFETCH = 100;

/** 1 KB. */
export const BODY: Uint8Array = new Uint8Array(1_024).fill(0x61);

/** Its content type: that of the bytes codec. */
export const CONTENT_TYPE = "application/octet-stream";

/** A client with a connection of its own. */
export interface BenchClient {
  readonly name: string;
  openSender(queue: string, options: { readonly persistent: boolean }): Promise<Sender>;
  /** Consumes with {@linkcode PREFETCH} and acknowledges every message on its own; `onMessage` is the handler. */
  openReceiver(queue: string, onMessage: (bodyBytes: number) => void): Promise<Closer>;
  close(): Promise<void>;
}

/** Sends to one queue. */
export interface Sender extends Closer {
  /** Sends one message, mandatory, and resolves when the broker has confirmed it. */
  readonly send: () => Promise<unknown>;
}

/** Something that is closed when the case is over. */
export interface Closer {
  readonly close: () => Promise<void>;
}

/**
 * The header set that our library writes on a first publish (contract core 1.1), as the user of another client would write it.
 *
 * @param one 1 as a signed 32-bit integer, in the client's own way of saying so
 */
export function messageHeaders<Int>(id: string, queue: string, one: Int): Record<string, string | number | Int> {
  return {
    "x-acemq-id": id,
    "x-acemq-type": queue,
    "x-acemq-version": one,
    "x-acemq-correlation": id,
    "x-acemq-attempt": one,
    "x-acemq-first-seen": Date.now(),
    "x-acemq-origin": ORIGIN,
  };
}

/** The name that connections have; the first half of the origin. */
export const CLIENT_NAME = "bench";

const ORIGIN = `${CLIENT_NAME}@${hostname()}`;
