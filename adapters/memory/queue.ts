/**
 * One queue: what waits, who consumes, what expires, what does not fit.
 *
 * Its state changes in the call that changes it; only what consumers are told comes later, through the postbox.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { QueueSpec } from "../../src/topology/specs.ts";
import { Alarm } from "./alarm.ts";
import { Backlog } from "./backlog.ts";
import { Backpressure } from "./backpressure.ts";
import type { ConsumedQueue, Consumer } from "./consumer.ts";
import { ConsumerLine } from "./consumer_line.ts";
import type { DeathReason } from "./death_history.ts";
import type { Declared } from "./equivalence.ts";
import { Expiry } from "./expiry.ts";
import { type QueueSettings, queueSettings } from "./queue_settings.ts";
import type { PulledEntry, QueueEntry } from "./ready_list.ts";
import type { Hands } from "./holder.ts";
import { noPull } from "./refusals.ts";
import type { StoredMessage } from "./stored_message.ts";
import type { Burial } from "./unburied.ts";

/** What a queue needs of the broker it is in. */
export interface QueueHost {
  readonly clock: Clock;
  /** Whether anybody is connected: nobody else can tell when a message expires. */
  readonly isInUse: boolean;
  bury(message: StoredMessage, queue: MemoryQueue, reason: DeathReason): void;
  /** What dies meanwhile leaves when it is done. */
  together<Result>(act: () => Result): Result;
  /** Tries to hand over what died to whoever does not have it yet; true when everybody has. */
  hasArrived(burial: Burial): boolean;
  /** An auto-delete queue has lost its last consumer, or nobody has used one that expires. */
  abandoned(queue: MemoryQueue): void;
}

/** A queue of the memory broker. */
export class MemoryQueue implements ConsumedQueue {
  readonly spec: Declared<QueueSpec>;
  readonly settings: QueueSettings;
  /** The connection an exclusive queue belongs to. */
  readonly owner: object | undefined;
  readonly #host: QueueHost;
  readonly #ready: Backlog;
  readonly #expiry: Expiry;
  readonly #consumers: ConsumerLine<Consumer>;
  /** Undefined where a publisher is never told to stop. */
  readonly #backpressure: Backpressure | undefined;
  /** Everybody who may hold something. */
  readonly #hands = new Set<Hands>();
  readonly #alarm: Alarm;
  /** When it goes if nobody uses it; `Infinity` while somebody does. */
  #goesAtMs = Infinity;
  #unsettled = 0;
  #isGone = false;

  /** @throws {Refusal} arguments the broker refuses */
  constructor(spec: Declared<QueueSpec>, host: QueueHost, owner: object | undefined) {
    this.spec = spec;
    this.settings = queueSettings(spec);
    this.owner = owner;
    this.#host = host;
    this.#ready = new Backlog(this.settings);
    this.#expiry = new Expiry(this.#ready, {
      clock: host.clock,
      hasPriorities: this.settings.maxPriority !== undefined,
      bury: (expired) => this.#bury(expired, "expired"),
    });
    this.#consumers = new ConsumerLine(this.settings);
    if (this.isQuorum && this.settings.overflow !== "drop-head") this.#backpressure = new Backpressure();
    this.#alarm = new Alarm(host.clock, () => this.expire());
    this.#use();
  }

  get isQuorum(): boolean {
    return this.settings.isQuorum;
  }

  get messages(): number {
    return this.#ready.size;
  }

  get unsettled(): number {
    return this.#unsettled;
  }

  /** As many as the broker counts: whoever holds something of a quorum queue is one as well. */
  get consumers(): number {
    const holders = this.isQuorum ? [...this.#hands] : [];
    return holders.reduce((count, { countsAs }) => count + countsAs, this.#consumers.size);
  }

  get subscribers(): number {
    return this.#consumers.members;
  }

  /** Whether a connection may use it: an exclusive queue is its owner's alone. */
  isOpenTo(user: object): boolean {
    return this.owner === undefined || this.owner === user;
  }

  /** What waits, head first. */
  waiting(): readonly QueueEntry[] {
    return this.#ready.toArray();
  }

  /** Takes a message in; false when it is full and told to refuse. `publisher` is undefined where nobody hears of it. */
  publish(message: StoredMessage, publisher: object | undefined): boolean {
    if (this.#refuses(message, publisher)) {
      if (this.settings.overflow === "reject-publish-dlx") this.#host.bury(message, this, "maxlen");
      return false;
    }
    const entry = this.#ready.entryOf(message, this.#host.clock);
    const consumer = this.#ready.size === 0 ? this.#consumers.next() : undefined;
    if (consumer === undefined) this.#enqueue(entry);
    else this.#handTo(consumer, entry);
    return true;
  }

  /**
   * Takes the head off, to be settled by whoever asked.
   *
   * @throws {Refusal} a quorum queue with a single active consumer
   */
  pull(): PulledEntry | undefined {
    if (this.isQuorum && this.settings.isSingle) throw noPull(this.spec.name);
    this.#expiry.glance();
    const entry = this.#ready.shift();
    if (entry !== undefined) this.#unsettled++;
    // A quorum queue counts what has expired behind it, and lets it go then.
    const { size } = this.#ready;
    this.#expiry.look();
    this.#use();
    this.#observe();
    return entry && { entry, waiting: this.isQuorum ? size : this.#ready.size };
  }

  heldBy(hands: Hands): void {
    this.#hands.add(hands);
  }

  heldNoMoreBy(hands: Hands): void {
    this.#hands.delete(hands);
  }

  acknowledge(): void {
    this.#unsettled--;
    this.#letGo();
  }

  /** A classic queue finds the old place again; a quorum queue without a delivery limit puts it at the back. */
  requeue(entry: QueueEntry): void {
    this.#takeBack([entry], this.isQuorum && this.settings.deliveryLimit === Infinity);
  }

  giveBack(entries: readonly QueueEntry[]): void {
    this.#takeBack(entries, false);
  }

  discard(entry: QueueEntry): void {
    if (this.#isGone) return;
    this.#unsettled--;
    this.#host.together(() => {
      this.#host.bury(entry.message, this, "rejected");
      this.#letGo();
      this.#dispatch();
    });
  }

  /** Somebody has asked for it or declared it again: a use of a classic queue, not of a quorum queue. */
  asked(): void {
    if (!this.isQuorum) this.#use();
  }

  addConsumer(consumer: Consumer): void {
    this.#consumers.add(consumer);
    this.#use();
    this.offer(consumer);
    this.#dispatch();
  }

  removeConsumer(consumer: Consumer): void {
    this.#consumers.remove(consumer);
    this.#use();
    if (this.spec.autoDelete && this.#consumers.size === 0) this.#host.abandoned(this);
  }

  goOn(): void {
    this.#dispatch();
  }

  replaceConsumer(consumer: Consumer): void {
    this.#consumers.comeAgain(consumer);
    this.offer(consumer);
    this.#dispatch();
  }

  offer(consumer: Consumer): void {
    this.#consumers.offer(consumer);
  }

  /** Drops everything that waits. */
  purge(): void {
    while (this.#ready.shift() !== undefined);
    this.#alarm.stop();
    this.#setAlarm();
    this.#observe();
  }

  /** Ends the queue: what waits is gone, and every consumer is told. */
  end(): void {
    this.#isGone = true;
    this.#goesAtMs = Infinity;
    this.purge();
    this.#alarm.stop();
    for (const consumer of this.#consumers.clear()) consumer.lose();
  }

  /** Lets go of what has expired at the head and of nothing behind it, and of itself. */
  expire(): void {
    if (this.#goesAtMs !== Infinity && this.#goesAtMs <= this.#host.clock.elapsed()) {
      if (this.consumers === 0) return this.#host.abandoned(this);
      // Whoever holds something of it lets it go later.
      this.#goesAtMs = Infinity;
    }
    const { unburied } = this.#ready;
    if (unburied.size > 0) unburied.tryAgain(this.#host.clock.elapsed(), (burial) => this.#host.hasArrived(burial));
    this.#expiry.glance();
    this.#setAlarm();
    this.#observe();
  }

  /** Keeps what died and nobody took, to try again later. */
  keep(burial: Burial): void {
    this.#ready.unburied.add(burial, this.#host.clock.elapsed());
    this.#setAlarm();
  }

  /** Sets no more timers until somebody is connected again. */
  rest(): void {
    this.#alarm.stop();
  }

  #enqueue(entry: QueueEntry): void {
    this.#ready.push(entry);
    if (this.#dropOverflow() || this.#ready.size === 1) this.#expiry.look();
    this.expire();
  }

  #comesBack(entry: QueueEntry, toTheBack: boolean): void {
    if (this.#isGone) return;
    this.#unsettled--;
    entry.returns++;
    if (entry.returns > this.settings.deliveryLimit) return this.#host.bury(entry.message, this, "delivery_limit");
    if (this.isQuorum) entry.rank = this.#ready.nextRank();
    if (toTheBack) this.#ready.push(entry);
    else this.#ready.giveBack(entry);
  }

  /** A quorum queue hands out what has come back before it looks at its length. */
  #takeBack(entries: readonly QueueEntry[], toTheBack: boolean): void {
    this.#host.together(() => {
      for (const entry of entries) this.#comesBack(entry, toTheBack);
      if (this.isQuorum) this.#dispatch();
      this.#dropOverflow();
      this.#expiry.look();
      if (!this.isQuorum) this.#dispatch();
      this.expire();
      this.#letGo();
    });
  }

  #dispatch(): void {
    for (this.#expiry.glance(); this.#ready.size > 0; this.#expiry.look()) {
      const consumer = this.#consumers.next();
      if (consumer === undefined) break;
      this.#handTo(consumer, this.#ready.shift() as QueueEntry);
    }
    this.#observe();
  }

  #handTo(consumer: Consumer, entry: QueueEntry): void {
    this.#unsettled++;
    consumer.deliver(entry);
    this.#consumers.served(consumer);
  }

  /** True when something was dropped. */
  #dropOverflow(): boolean {
    if (this.settings.overflow !== "drop-head" || this.#ready.fullness !== "over") return false;
    this.#bury(this.#ready.excess(), "maxlen");
    return true;
  }

  /** A classic queue refuses what would go beyond its length, a quorum queue those whom it has told to stop. */
  #refuses({ body }: StoredMessage, publisher: object | undefined): boolean {
    if (this.settings.overflow === "drop-head") return false;
    if (this.#backpressure === undefined) return this.#ready.isFullFor(body.byteLength);
    return publisher !== undefined && this.#backpressure.refuses(publisher, this.#ready.fullness);
  }

  /** Its length has changed. */
  #observe(): void {
    this.#backpressure?.observe(this.#ready.fullness);
  }

  /** Somebody holds less than before, which may have kept a quorum queue from going. */
  #letGo(): void {
    if (this.isQuorum && this.settings.expiresMs !== Infinity) this.#use();
  }

  #bury(dead: Iterable<QueueEntry>, reason: DeathReason): void {
    this.#host.together(() => {
      for (const { message } of dead) this.#host.bury(message, this, reason);
    });
  }

  #use(): void {
    const { expiresMs } = this.settings;
    const isFree = expiresMs !== Infinity && this.consumers === 0;
    this.#goesAtMs = isFree ? this.#host.clock.elapsed() + expiresMs : Infinity;
    this.#setAlarm();
  }

  /** What it is set for may have been put off when it rings. */
  #setAlarm(): void {
    const dueMs = Math.min(this.#expiry.dueMs, this.#goesAtMs, this.#ready.unburied.dueMs);
    if (dueMs !== Infinity && this.#host.isInUse) this.#alarm.set(dueMs);
  }
}
