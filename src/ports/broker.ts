/**
 * Port: a broker, as far as this library needs one.
 *
 * A {@linkcode Broker} is a place that can be connected to; opening it gives a {@linkcode BrokerConnection}. An adapter that
 * loses its link brings it back by itself, declares again what was declared through it, and subscribes again.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import type { Outbound } from "../message/outbound.ts";
import type { ReceivedMessage } from "../message/received.ts";
import type { BindingSpec, DeclareArguments, ExchangeSpec, QueueSpec } from "../topology/specs.ts";

/** A broker that can be connected to. Inert. */
export interface Broker {
  /** The broker's own time, where it has one: a connection then takes it for its own unless told otherwise. */
  readonly clock?: Clock;
  /** Opens a connection; rejects with a `ConnectionError` or a `SecurityError` that never shows a credential. */
  open(options: BrokerOpenOptions): Promise<BrokerConnection>;
}

/** What a connection is told when it is opened. */
export interface BrokerOpenOptions {
  /** Shown by the broker beside the connection. */
  readonly name: string;
  /** Every timer of the adapter runs by it. */
  readonly clock: Clock;
  /** Hears what happens to the connection. Called synchronously; never throws. */
  readonly onEvent: (event: BrokerEvent) => void;
  /** Ends the attempt to open. */
  readonly signal?: AbortSignal | undefined;
}

/** What can happen to a connection. */
export type BrokerEvent =
  | { readonly type: "lost"; readonly reason: string }
  | { readonly type: "retrying"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | { readonly type: "recovered"; readonly attempts: number }
  | { readonly type: "blocked"; readonly reason: string }
  | { readonly type: "unblocked" }
  | { readonly type: "consumer_lost"; readonly queue: string; readonly reason: string }
  | { readonly type: "consumer_recovered"; readonly queue: string }
  | { readonly type: "redeclare_failed"; readonly object: string; readonly reason: string }
  | { readonly type: "redeclared"; readonly object: string };

/** What a broker can hold, bytes. Undefined: no limit is known. */
export interface BrokerLimits {
  /** Payload of the content header: properties and headers. */
  readonly maxHeaderBytes?: number | undefined;
  /** The encoded payload. */
  readonly maxBodyBytes?: number | undefined;
  /** Publishes that may wait for a confirm on one lane. */
  readonly maxUnconfirmedPerLane?: number | undefined;
}

/** The state of a connection, readable without asking the broker. */
export interface BrokerState {
  /** Whether there is a link. */
  readonly status: "open" | "recovering" | "closed";
  /** Why the broker has blocked publishing; undefined while it has not. */
  readonly blockedReason?: string | undefined;
}

/** How one message is published. */
export interface PublishOptions {
  /** Messages of one lane leave in the order they were handed over. Lane 0 is for copies on somebody's behalf, lane 5 for outboxes. */
  readonly lane: number;
  /** Wait for the broker's confirm; without it the promise resolves when the message was written. */
  readonly confirm: boolean;
}

/**
 * What became of a publish. A value, never a rejection: whoever publishes decides.
 *
 * `unknown` may have arrived. Everything but `confirmed` and `published` means the broker does not have the message. `oneRefused`: the
 * broker refused one of the publishes that were in flight, and did not say which; published alone, each learns.
 */
export type PublishReceipt =
  | { readonly outcome: "confirmed" }
  | { readonly outcome: "published" }
  | { readonly outcome: "unroutable"; readonly reason: string }
  | { readonly outcome: "nacked"; readonly reason: string }
  | { readonly outcome: "paused"; readonly reason: string }
  | { readonly outcome: "refused"; readonly reason: string; readonly written: boolean }
  | { readonly outcome: "unknown"; readonly reason: string; readonly oneRefused?: true };

/** How a delivery is given back to the broker. */
export type SettleAs = "ack" | "requeue" | "discard";

/** The right to settle one delivery. */
export interface DeliveryHandle {
  /** Whether it can still be settled: not yet done, and the link it came on stands as far as anybody knows. */
  readonly isLive: boolean;
  /**
   * Settles the delivery; only the first call counts. `stale` means that the link it came on is gone: the broker has requeued
   * the message by itself, and nothing was sent.
   *
   * A stream takes acknowledgements and nothing else: over another word RabbitMQ 3 closes the connection, and the subscription comes
   * back and begins where it began.
   */
  settle(as: SettleAs): "sent" | "stale";
}

/** One message in the hands of a consumer. */
export interface BrokerDelivery extends DeliveryHandle {
  /** What arrived. */
  readonly message: ReceivedMessage;
  /** The right to settle it without what arrived, for whoever holds many. The delivery itself must not be settled from then on. */
  detach(): DeliveryHandle;
}

/** One message that was asked for. */
export interface PulledDelivery extends BrokerDelivery {
  /**
   * How many more waited when it was taken. On a classic queue whatever the same connection gave back before is among them; a quorum
   * queue may count that a little later.
   */
  readonly waiting: number;
}

/**
 * Somebody who asks for single messages of one queue. What one puller holds is nobody else's concern: whatever the broker refuses
 * another, or takes back from it, this one keeps.
 */
export interface Puller {
  /**
   * Takes one message off the queue, to be settled like a delivery; null when it is empty. What is refused costs everything the puller
   * holds, which goes back. Usable again after that, and when a lost link is back.
   */
  pull(): Promise<PulledDelivery | null>;
  /**
   * Ends it; twice is once. What it holds goes back where it was. Resolves when the broker has taken it back; without waiting for that
   * while a pull has no answer, or the broker has blocked the connection.
   */
  close(): Promise<void>;
}

/** How a subscription is opened. */
export interface SubscribeOptions {
  /** Unsettled deliveries at most; 0 asks for no bound at all. */
  readonly prefetch: number;
  /** Fixed for the life of the subscription, recoveries included. */
  readonly consumerTag: string;
  /** Consumer arguments, such as `x-stream-offset`: where in a stream to begin, at each recovery anew. */
  readonly arguments?: DeclareArguments;
  /** Called for each delivery, synchronously and in order. Never throws. */
  readonly onDelivery: (delivery: BrokerDelivery) => void;
  /**
   * Called when deliveries handed out before are stale: the link is gone, and the subscription comes back by itself. A subscription or
   * a connection that is closed has lost nothing: they are stale then, and nobody is told.
   */
  readonly onLost: (reason: string) => void;
  /** Called when the subscription stands again. */
  readonly onRecovered: () => void;
}

/**
 * A running subscription. A broker that has blocked the connection answers neither end of one: both resolve then as soon as they are
 * asked for, and the broker learns of them, in their order among settlements, when the block ends.
 */
export interface Subscription {
  /** Whether deliveries can arrive just now. */
  readonly live: boolean;
  /**
   * Changes the bound of the running subscription; no delivery is dropped, and in a stream none is repeated. What was handed out under the
   * old bound need not count against the new one: as many as both together may be unsettled until those are settled.
   */
  setPrefetch(prefetch: number): Promise<void>;
  /**
   * Resolves when whatever had left the queue for this subscription before the call has been handed to `onDelivery`, or went back
   * because the subscription ended or was lost. Costs a question to the broker where that is somewhere else.
   */
  caughtUp(): Promise<void>;
  /** Stops new deliveries; those handed out can still be settled. */
  cancel(): Promise<void>;
  /** Ends the subscription and what carried it; unsettled deliveries go back to the queue. */
  close(): Promise<void>;
}

/** What a queue looks like to a passive question. */
export type QueueState =
  | { readonly status: "present"; readonly messages: number; readonly consumers: number }
  | { readonly status: "absent" };

/** What a broker answered to a declaration. */
export type DeclareResult =
  | { readonly status: "declared" }
  /** It exists with other arguments; the broker's words. */
  | { readonly status: "differs"; readonly reason: string }
  | { readonly status: "refused"; readonly reason: string };

/** What a broker has where something was to be declared. */
export type CompareResult =
  /** It is there, and declaring it would change nothing. */
  | { readonly status: "same" }
  /** There is none of that name; the broker's words. */
  | { readonly status: "absent"; readonly reason: string }
  /** It is there otherwise; the broker's words. */
  | { readonly status: "differs"; readonly reason: string }
  /** The broker does not answer this question to this connection; why. */
  | { readonly status: "refused"; readonly reason: string };

/** An open connection. Methods reject with a `ConnectionError` while there is no link, unless they say otherwise. */
export interface BrokerConnection {
  /** The value of the `transport` label: `rabbitmq`, `memory`. */
  readonly transport: string;
  /** The host half of the origin header. */
  readonly hostName: string;
  /** What it can hold. */
  readonly limits: BrokerLimits;
  /** How it is just now. */
  readonly state: BrokerState;
  /** Publishes one message. Never rejects. */
  publish(outbound: Outbound, options: PublishOptions): Promise<PublishReceipt>;
  /** Subscribes to a queue; rejects when it is not there. */
  subscribe(queue: string, options: SubscribeOptions): Promise<Subscription>;
  /** Declares an exchange, or says how it differs. */
  declareExchange(spec: ExchangeSpec): Promise<DeclareResult>;
  /** Declares a queue, or says how it differs. */
  declareQueue(spec: QueueSpec): Promise<DeclareResult>;
  /** Binds a queue; binding it again changes nothing. */
  bindQueue(spec: BindingSpec): Promise<DeclareResult>;
  /** Asks whether a queue exists; creates nothing. */
  checkQueue(name: string): Promise<QueueState>;
  /** Asks whether an exchange exists; creates nothing. */
  checkExchange(name: string): Promise<"present" | "absent">;
  /**
   * Compares an exchange with what is there. Creates nothing that is not there, and nothing compared is declared again when the
   * link comes back.
   */
  compareExchange(spec: ExchangeSpec): Promise<CompareResult>;
  /** As {@linkcode BrokerConnection.compareExchange}, for a queue; one that another connection has for itself is `refused`. */
  compareQueue(spec: QueueSpec): Promise<CompareResult>;
  /**
   * Begins to take single messages off a queue; rejects when it is not there, and for a stream, from which nothing can be taken: asked
   * for a message of one, RabbitMQ would close the connection.
   */
  openPuller(queue: string): Promise<Puller>;
  /** Removes a queue, messages included; a queue that is not there is no error. */
  deleteQueue(name: string): Promise<void>;
  /** Removes an exchange; one that is not there is no error. */
  deleteExchange(name: string): Promise<void>;
  /** Removes every waiting message. Rejects for a stream, as {@linkcode BrokerConnection.openPuller} does. */
  purgeQueue(name: string): Promise<void>;
  /** Closes the connection; twice is once. A blocked one is left without waiting for the end of the block. */
  close(): Promise<void>;
}
