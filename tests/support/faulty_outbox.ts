/**
 * An outbox store whose faults come on command: it stands in front of another one and hands everything on but what a test spoils.
 *
 * @module
 */
import type {
  OutboxClaim,
  OutboxClaimOptions,
  OutboxFailure,
  OutboxGiveBackOptions,
  OutboxListener,
  OutboxMode,
  OutboxNewsHooks,
  OutboxPurgeOptions,
  OutboxStats,
  RelayStore,
} from "../../src/ports/outbox_store.ts";
import type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";

/** What a relay asks a store to do. */
export type OutboxCall = "claim" | "markPublished" | "markFailed" | "giveBack" | "stats" | "purgePublished";

/** What is in front of the store, and what passed. Every member may be set at any time. */
export class FaultyOutbox implements RelayStore {
  /** Runs before the store behind does what it is asked; what it throws or waits for counts. */
  before: ((call: OutboxCall) => void | Promise<void>) | undefined;
  /** Runs when the store behind has done it; what it throws counts: the answer is lost. */
  after: ((call: OutboxCall) => void | Promise<void>) | undefined;
  /** Hears of what the store behind has done, in that moment. */
  done: ((call: OutboxCall, ids: readonly string[]) => void) | undefined;
  /** Every call that was answered, with the ids it was about. */
  readonly calls: { readonly call: OutboxCall; readonly ids: readonly string[] }[] = [];
  /** How every claim was asked for. */
  readonly claims: OutboxClaimOptions[] = [];
  /** Who hears news of other processes; undefined while nobody listens. */
  news: OutboxNewsHooks | undefined;
  readonly maxAttempts: number;
  readonly #store: Required<Omit<RelayStore, "listen">>;

  constructor(store: Required<Omit<RelayStore, "listen">>) {
    this.#store = store;
    this.maxAttempts = store.maxAttempts;
  }

  /** The ids of every call of a kind. */
  of(call: OutboxCall): readonly (readonly string[])[] {
    return this.calls.filter((one) => one.call === call).map(({ ids }) => ids);
  }

  async check(options?: StoreCallOptions & { readonly mode?: OutboxMode }): Promise<void> {
    await this.#store.check(options);
  }

  claim(options: OutboxClaimOptions): Promise<OutboxClaim> {
    this.claims.push(options);
    return this.#call("claim", () => this.#store.claim(options), ({ rows }) => rows.map(({ id }) => id));
  }

  markPublished(token: string, ids: readonly string[], options?: StoreCallOptions): Promise<number> {
    return this.#call("markPublished", () => this.#store.markPublished(token, ids, options), () => ids);
  }

  markFailed(token: string, failures: readonly OutboxFailure[], options?: StoreCallOptions): Promise<number> {
    const ids = failures.map(({ id }) => id);
    return this.#call("markFailed", () => this.#store.markFailed(token, failures, options), () => ids);
  }

  giveBack(token: string, ids: readonly string[], options?: OutboxGiveBackOptions): Promise<number> {
    return this.#call("giveBack", () => this.#store.giveBack(token, ids, options), () => ids);
  }

  stats(options?: StoreCallOptions): Promise<OutboxStats> {
    return this.#call("stats", () => this.#store.stats(options));
  }

  purgePublished(options: OutboxPurgeOptions): Promise<number> {
    return this.#call("purgePublished", () => this.#store.purgePublished(options));
  }

  onAdded(listener: OutboxListener): () => void {
    return this.#store.onAdded(listener);
  }

  listen(hooks: OutboxNewsHooks): Promise<() => Promise<void>> {
    this.news = hooks;
    return Promise.resolve(() => Promise.resolve(void (this.news = undefined)));
  }

  async #call<T>(
    call: OutboxCall,
    ask: () => Promise<T>,
    idsOf: (answer: T) => readonly string[] = () => [],
  ): Promise<T> {
    await this.before?.(call);
    const answer = await ask();
    const ids = idsOf(answer);
    this.done?.(call, ids);
    await this.after?.(call);
    this.calls.push({ call, ids });
    return answer;
  }
}
