/**
 * The consumer: takes messages off one queue, a bounded number at a time, and settles every one of them.
 *
 * @module
 */

import { orAborted, settledOrAborted, whenAborted } from "../internal/abort.ts";
import { assertWholeNumber } from "../internal/assert_option.ts";
import { assertOptions } from "../internal/option_kinds.ts";
import type { ConsumerContext } from "./context.ts";
import { type DrainOptions, type DrainReport, withBudget } from "./drain.ts";
import type { Feed } from "./feed.ts";
import { Claims } from "./idempotency/claims.ts";
import { assertRetention, claimSettings } from "./idempotency/options.ts";
import type { InHand } from "./in_hand.ts";
import type { ConsumeInterceptor, Handler } from "./interceptor.ts";
import { ConsumeMeter } from "./meter.ts";
import { openFeed } from "./open_feed.ts";
import { type ConsumeOptions, type Intake, intakeOf, prefetchOf } from "./options.ts";
import { type ProcessContext, processDelivery } from "./process.ts";

/** What a consumer looks like from outside. */
export interface ConsumerState {
  /** What it consumes from. */
  readonly queue: string;
  /** Subscribed, and not closing. */
  readonly live: boolean;
  /** Begins no further handler. */
  readonly paused: boolean;
  /** Deliveries in a handler. */
  readonly inFlight: number;
  /** Deliveries fetched that no handler has begun. */
  readonly held: number;
  /** Deliveries whose handler has failed and that wait in the consumer: for their next attempt, or for the broker. */
  readonly waiting: number;
}

/** Beyond the budget: handlers get this long to notice that their signal has aborted. */
const LAST_WORD_MS = 100;

/** A broker that does not answer the goodbye is left without one; beyond the budget, a last word is all the time there is. */
const GOODBYE_MS = 5_000;

/** A running consumer. Open one with `mq.consume(…)`; `close()` drains, then closes, and twice is once. */
export class Consumer<T = unknown> {
  /** What it consumes from. */
  readonly queue: string;
  readonly #context: ConsumerContext<T>;
  readonly #handler: Handler<T>;
  readonly #interceptors: readonly ConsumeInterceptor[];
  readonly #meter: ConsumeMeter;
  readonly #budgetEnd = new AbortController();
  readonly #ended = new AbortController();
  /** Deliveries in a handler; the feed has those that wait for another attempt as well. */
  readonly #running = new Set<InHand>();
  /** Whose handlers have asked to close, and so are not waited for. */
  readonly #asking = new Set<object>();
  readonly #idle = new Set<() => void>();
  #claims: Claims | undefined;
  #feed: Feed | undefined;
  #processing: ProcessContext<T> | undefined;
  #concurrency: number;
  #closing: Promise<DrainReport> | undefined;

  private constructor(
    queue: string,
    handler: Handler<T>,
    context: ConsumerContext<T>,
    options: ConsumeOptions<unknown, unknown>,
  ) {
    const { concurrency = 1, interceptors = [] } = options;
    assertWholeNumber("concurrency", concurrency, 1);
    if (typeof handler !== "function") {
      throw new TypeError(`Cannot consume from queue "${queue}": the handler must be a function`);
    }
    this.queue = queue;
    this.#context = context;
    this.#handler = handler;
    this.#interceptors = [...context.interceptors, ...interceptors];
    this.#meter = new ConsumeMeter(context.environment.recorder, queue);
    this.#concurrency = concurrency;
  }

  /** Use `mq.consume(…)`. */
  static async open<T>(
    target: { readonly queue: string; readonly handler: Handler<T> },
    context: ConsumerContext<T>,
    options: ConsumeOptions<unknown, unknown>,
  ): Promise<Consumer<T>> {
    options.signal?.throwIfAborted();
    const consumer = new Consumer(target.queue, target.handler, context, options);
    await consumer.#openClaims(options);
    const { feed, intake } = await openFeed(target.queue, context, { options, onChange: () => consumer.#pump() });
    consumer.#start(feed, intake);
    if (options.signal?.aborted) void consumer.close();
    else options.signal?.addEventListener("abort", () => void consumer.close(), { signal: consumer.#ended.signal });
    return consumer;
  }

  /** What the consumer is doing just now. */
  get state(): ConsumerState {
    const inFlight = this.#running.size;
    return {
      queue: this.queue,
      live: this.#closing === undefined && (this.#feed?.isLive ?? false),
      paused: this.#feed?.isPaused ?? false,
      inFlight,
      held: this.#feed?.held ?? 0,
      waiting: (this.#feed?.taken.size ?? 0) - inFlight,
    };
  }

  /** Begins no further handler; what is fetched is held, up to the prefetch. Running handlers go on. */
  pause(): void {
    this.#feed?.pause();
  }

  /** Goes on after {@linkcode Consumer.pause}. */
  resume(): void {
    this.#feed?.resume();
    this.#pump();
  }

  /**
   * Changes the bounds of the running consumer; no delivery is dropped.
   *
   * A prefetch is at once what handlers and waits have in hand at most. RabbitMQ may hand out the old one and the new one together until
   * what it had handed out before is settled; what is too much is held.
   *
   * @throws {RangeError} a bound out of range
   */
  async retune(bounds: { readonly prefetch?: number | "unlimited"; readonly concurrency?: number }): Promise<void> {
    assertOptions<typeof bounds>("retune", bounds, { prefetch: "checked", concurrency: "checked" });
    const { prefetch, concurrency } = bounds;
    if (concurrency !== undefined) assertWholeNumber("concurrency", concurrency, 1);
    const wanted = prefetch === undefined ? undefined : prefetchOf(prefetch);
    if (concurrency !== undefined) this.#concurrency = concurrency;
    this.#pump();
    if (wanted !== undefined) await this.#feed?.setPrefetch(wanted);
  }

  /**
   * Drains and closes: deliveries nobody has begun go back at once, waits between attempts end and their messages go back, running
   * handlers have until the budget ends. What a handler decides after that is discarded, since the broker delivers it again.
   *
   * A close from inside one of the consumer's own handlers does not wait for that handler, whose message goes back as well.
   *
   * @returns whether every handler finished in time, and how many did not
   * @throws the signal's reason, when it aborts first: the budget ends with it, and the consumer is gone from the broker by then
   */
  close(options: DrainOptions = {}): Promise<DrainReport> {
    const { environment: { clock, scope }, drainTimeoutMs: budgetMs } = this.#context;
    return withBudget(options, { clock, budgetMs }, (budget) => {
      const within = scope?.current();
      if (within !== undefined) this.#asking.add(within);
      this.#wake();
      // Whoever calls close may end it: the first budget to run out is everybody's.
      void whenAborted(budget).then(() => this.#budgetEnd.abort());
      this.#closing ??= this.#drain(this.#budgetEnd.signal);
      return this.#closing;
    });
  }

  /** The same as {@linkcode Consumer.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Before anything is declared: a table that cannot be used keeps the consumer from starting. */
  async #openClaims(options: ConsumeOptions<unknown, unknown>): Promise<void> {
    if (options.idempotency === undefined) return;
    const settings = claimSettings(options.idempotency);
    assertRetention(this.queue, settings.store, intakeOf(options).ladder);
    const { signal } = options;
    // A store of one's own may not look at the signal, and a database that hangs answers nobody.
    await orAborted(Promise.resolve(settings.store.check(signal === undefined ? {} : { signal })), signal);
    this.#claims = new Claims(this.queue, settings, this.#context.environment);
  }

  #start(feed: Feed, intake: Intake): void {
    this.#feed = feed;
    const { broker, environment: { clock }, gate } = this.#context;
    const onWait = (item: InHand): void => {
      feed.wait(item);
      this.#leaveHandler(item);
    };
    this.#processing = {
      queue: this.queue,
      consumer: this.#context,
      ladder: intake.ladder,
      settling: { queue: this.queue, broker, gate, clock, meter: this.#meter, onWait },
      claims: this.#claims,
    };
    this.#claims?.start();
    this.#meter.consumer("started", { prefetch: intake.prefetch, concurrency: this.#concurrency });
    this.#pump();
  }

  /** Begins handlers while there is room for them. */
  #pump(): void {
    const feed = this.#feed;
    const processing = this.#processing;
    if (feed === undefined || processing === undefined) return;
    while (this.#closing === undefined && this.#running.size < this.#concurrency) {
      const item = feed.take();
      if (item === undefined) return;
      void this.#handle(item, feed, processing);
    }
  }

  async #handle(item: InHand, feed: Feed, processing: ProcessContext<T>): Promise<void> {
    this.#running.add(item);
    this.#meter.inFlight(this.#running.size);
    try {
      await processDelivery(item, { handler: this.#handler, interceptors: this.#interceptors }, processing);
    } finally {
      feed.done(item);
      this.#leaveHandler(item);
      this.#wake();
    }
  }

  /** Makes room for the next handler: a delivery that waits for another attempt takes up prefetch, not concurrency. */
  #leaveHandler(item: InHand): void {
    if (!this.#running.delete(item)) return;
    this.#meter.inFlight(this.#running.size);
    this.#pump();
  }

  async #drain(budget: AbortSignal): Promise<DrainReport> {
    const feed = this.#feed;
    if (feed === undefined) return { drained: true, stranded: 0 };
    await settledOrAborted(feed.stop(), budget);
    const others = (): InHand[] => [...feed.taken].filter((item) => !this.#asking.has(item));
    const isDone = (): boolean => others().length === 0;
    await settledOrAborted(this.#until(isDone), budget);
    for (const item of others()) item.abort(new DOMException("The drain budget has ended", "AbortError"));
    await this.#atMost(LAST_WORD_MS, this.#until(isDone));
    const stranded = others().length;
    await this.#atMost(budget.aborted ? LAST_WORD_MS : GOODBYE_MS, feed.close());
    this.#ended.abort();
    this.#claims?.close();
    this.#context.onClosed?.();
    this.#meter.consumer(stranded === 0 ? "stopped" : "drain_timeout", { stranded });
    return { drained: stranded === 0, stranded };
  }

  async #atMost(ms: number, promise: Promise<void>): Promise<void> {
    const timer = new AbortController();
    const over = this.#context.environment.clock.delay(ms, { signal: timer.signal }).catch(() => {});
    await Promise.race([promise, over]);
    timer.abort();
  }

  /** Resolves when `test` holds; looked at whenever a handler ends. */
  #until(test: () => boolean): Promise<void> {
    if (test()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (!test()) return;
        this.#idle.delete(look);
        resolve();
      };
      this.#idle.add(look);
    });
  }

  #wake(): void {
    for (const look of this.#idle) look();
  }
}
