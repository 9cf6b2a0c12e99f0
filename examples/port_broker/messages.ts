/**
 * What the two ends of a port say to each other. One port carries one connection.
 *
 * @module
 */
import type { BrokerConnection, BrokerEvent, BrokerState, ReceivedMessage, SettleAs } from "@acemq/amqp/core";
import { pack, type PackedError, unpack } from "./packed.ts";

/** Questions that go through to the broker's own connection as they are. */
export type PassedOn = Extract<
  keyof BrokerConnection,
  | "publish"
  | "declareExchange"
  | "declareQueue"
  | "bindQueue"
  | "checkQueue"
  | "checkExchange"
  | "compareExchange"
  | "compareQueue"
  | "deleteQueue"
  | "deleteExchange"
  | "purgeQueue"
>;

/** Everything that is asked and answered. */
export type Question =
  | PassedOn
  | "open"
  | "open_puller"
  | "pull"
  | "close_puller"
  | "subscribe"
  | "set_prefetch"
  | "catch_up"
  | "cancel"
  | "close_subscription"
  | "close";

/** From the library's end to the broker's. */
export type Asked =
  | { readonly type: "ask"; readonly id: number; readonly question: Question; readonly args: readonly unknown[] }
  | { readonly type: "settle"; readonly delivery: number; readonly as: SettleAs };

/** From the broker's end to the library's. */
export type Told =
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly error: PackedError }
  | { readonly type: "event"; readonly event: BrokerEvent; readonly state: BrokerState }
  | { readonly type: "delivery"; readonly subscription: number } & Handed
  | { readonly type: "lost"; readonly subscription: number; readonly reason: string }
  | { readonly type: "recovered"; readonly subscription: number };

/** A message in somebody's hands, and the number it is settled by. */
export interface Handed {
  readonly delivery: number;
  readonly message: ReceivedMessage;
}

/** Sends one. */
export function post(port: MessagePort, message: Asked | Told): void {
  port.postMessage(pack(message));
}

/** Hears all of them, in the order they were sent. */
export function listen<Message extends Asked | Told>(port: MessagePort, hear: (message: Message) => void): void {
  port.addEventListener("message", ({ data }) => hear(unpack(data) as Message));
  port.start();
}
