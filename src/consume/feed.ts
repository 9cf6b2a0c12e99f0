/**
 * A subscription and the deliveries it has handed over that nobody has begun to handle.
 *
 * @module
 */

import { Line } from "../internal/line.ts";
import { parseEnvelope } from "../message/parse_envelope.ts";
import type { BrokerConnection, BrokerDelivery, Subscription } from "../ports/broker.ts";
import type { Environment } from "../ports/environment.ts";
import type { DeclareArguments } from "../topology/specs.ts";
import { InHand } from "./in_hand.ts";
import { Unfinished } from "./unfinished.ts";

/** How a feed is opened. */
export interface FeedOptions {
  readonly queue: string;
  readonly prefetch: number;
  readonly consumerTag: string;
  readonly arguments: DeclareArguments;
  /** Called when there is something to take, and when the subscription's state has changed. */
  readonly onChange: () => void;
  /** Called when it is closed. */
  readonly onClosed: () => void;
}

/** Deliveries in order, and the way back for those that are not handled. */
export class Feed {
  readonly #environment: Environment;
  readonly #options: FeedOptions;
  readonly #waiting = new Line<InHand>();
  readonly #taken = new Set<InHand>();
  /** Those of them that wait for another attempt, or for the broker. */
  readonly #resting = new Set<InHand>();
  /** Those of them that were lost: their messages are held back when they come again. */
  readonly #unfinished = new Unfinished();
  #subscription: Subscription | undefined;
  #prefetch: number;
  /** Somebody was given nothing because the prefetch is taken. */
  #isShort = false;
  #isPaused = false;
  /** Open: deliveries may be taken. Stopping: none is begun any more. Stopped: none is expected any more. */
  #state: "open" | "stopping" | "stopped" = "open";
  #stopping: Promise<void> | undefined;

  private constructor(environment: Environment, options: FeedOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#prefetch = options.prefetch;
  }

  /** Subscribes. Rejects as the broker does. */
  static async open(broker: BrokerConnection, environment: Environment, options: FeedOptions): Promise<Feed> {
    const feed = new Feed(environment, options);
    feed.#subscription = await broker.subscribe(options.queue, {
      prefetch: options.prefetch,
      consumerTag: options.consumerTag,
      arguments: options.arguments,
      onDelivery: (delivery) => feed.#receive(delivery),
      onLost: () => feed.#lose(),
      onRecovered: () => options.onChange(),
    });
    return feed;
  }

  /** What it takes deliveries from. */
  get queue(): string {
    return this.#options.queue;
  }

  /** Whether deliveries can arrive just now. */
  get isLive(): boolean {
    return this.#subscription?.live ?? false;
  }

  /** Deliveries fetched and not yet taken. */
  get held(): number {
    return this.#waiting.length;
  }

  /** Deliveries taken and not yet done. */
  get taken(): ReadonlySet<InHand> {
    return this.#taken;
  }

  /** Whether deliveries arrive and are taken, until it is to stop. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Whether none is taken until {@linkcode Feed.resume}. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Whether as many deliveries are taken as the prefetch allows. Where that was changed the broker may have handed over more, and they
   * wait.
   */
  get isFull(): boolean {
    if (this.#prefetch === 0 || this.#taken.size < this.#prefetch) return false;
    // What was lost does not count: it takes no room at the broker any more.
    let live = 0;
    for (const item of this.#taken) if (item.isLive) live++;
    return live >= this.#prefetch;
  }

  /** Whether the queue goes on emptying: deliveries are taken, and the prefetch has room beside what waits for another attempt. */
  get empties(): boolean {
    const hasRoom = this.#prefetch === 0 || this.held + this.#taken.size < this.#prefetch;
    return this.isOpen && !this.#isPaused && hasRoom;
  }

  /** Takes nothing more; what arrives waits, up to the prefetch. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Goes on after {@linkcode Feed.pause}. */
  resume(): void {
    this.#isPaused = false;
  }

  /**
   * Takes the oldest waiting delivery whose message nobody works on; none while paused or full, nor once the feed is to stop. A message
   * that was lost and came again waits until what was taken before is done.
   */
  take(): InHand | undefined {
    if (!this.isOpen || this.#isPaused || this.held === 0) return undefined;
    this.#isShort = this.isFull;
    if (this.#isShort) return undefined;
    const item = this.#unfinished.isEmpty ? this.#oldest() : this.#oldestFree();
    if (item === undefined) return undefined;
    this.#taken.add(item);
    this.#environment.work.begin();
    return item;
  }

  /** A delivery that was taken waits, and nobody works on it any more; twice is once. */
  wait(item: InHand): void {
    if (!this.#taken.has(item) || this.#resting.has(item)) return;
    this.#resting.add(item);
    this.#environment.work.end();
  }

  /** A delivery that was taken is settled, or given up; twice is once. */
  done(item: InHand): void {
    if (this.#taken.delete(item) && !this.#resting.delete(item)) this.#environment.work.end();
    if (this.#unfinished.delete(item) || this.#isShort) this.#options.onChange();
  }

  /** Changes the prefetch of the running subscription. */
  async setPrefetch(prefetch: number): Promise<void> {
    this.#prefetch = prefetch;
    if (this.#isShort) this.#options.onChange();
    await this.#subscription?.setPrefetch(prefetch);
  }

  /** Resolves when what had left the queue before has arrived. */
  async caughtUp(): Promise<void> {
    await this.#subscription?.caughtUp();
  }

  /**
   * Stops deliveries, then hands back what nobody has begun and ends the waits of what is taken, which can still be settled.
   *
   * In this order, since the broker would hand out again to this very subscription what came back before it ended, and count it.
   */
  stop(): Promise<void> {
    return this.#stopping ??= this.#stop();
  }

  /**
   * Ends the subscription, once deliveries have stopped. Those still taken go back to the queue: what is decided about them from
   * now on is discarded.
   */
  async close(): Promise<void> {
    for (const item of this.#taken) item.discard();
    await this.stop();
    // Where it cannot be closed the link is gone, and the broker takes everything back by itself.
    await this.#subscription?.close().catch(() => {});
    this.#options.onClosed();
  }

  async #stop(): Promise<void> {
    this.#state = "stopping";
    // Where it cannot be cancelled the link is gone, and the subscription with it.
    await this.#subscription?.cancel().catch(() => {});
    this.#state = "stopped";
    for (let item = this.#oldest(); item !== undefined; item = this.#oldest()) item.settle("requeue");
    for (const item of this.#taken) item.hurry();
  }

  #receive(delivery: BrokerDelivery): void {
    const item = new InHand(delivery, parseEnvelope(delivery.message, this.#environment));
    if (this.#state === "stopped") return void item.settle("requeue");
    this.#waiting.join(item);
    this.#options.onChange();
  }

  /** The broker has taken everything back by itself. */
  #lose(): void {
    for (let item = this.#oldest(); item !== undefined; item = this.#oldest()) item.discard();
    for (const item of this.#taken) {
      item.discard();
      this.#unfinished.add(item);
    }
    this.#options.onChange();
  }

  /** Removes the delivery that has waited longest. */
  #oldest(): InHand | undefined {
    const place = this.#waiting.first;
    if (place !== undefined) this.#waiting.leave(place);
    return place?.value;
  }

  /** Removes the delivery that has waited longest and is not held back. */
  #oldestFree(): InHand | undefined {
    let place = this.#waiting.first;
    while (place !== undefined && this.#unfinished.has(place.value)) place = place.behind;
    if (place !== undefined) this.#waiting.leave(place);
    return place?.value;
  }
}
