/**
 * What one puller has pulled and not settled: by queue, since another may come by the same name, and as one channel.
 *
 * @module
 */

import type { PulledDelivery } from "../../src/ports/broker.ts";
import { Holder } from "./holder.ts";
import type { Inlet } from "./inlet.ts";
import type { AnyQueue } from "./any_queue.ts";
import type { QueueEntry } from "./ready_list.ts";
import type { SettlementTerms } from "./settlement_watch.ts";

/** The hands of one puller. */
export class PullSide {
  readonly #inlet: Inlet;
  readonly #terms: SettlementTerms;
  readonly #holders = new Map<AnyQueue, Holder>();

  constructor(inlet: Inlet, terms: SettlementTerms) {
    this.#inlet = inlet;
    this.#terms = terms;
  }

  /** Takes a message off a queue; undefined when none waits. */
  pull(queue: AnyQueue): PulledDelivery | undefined {
    const pulled = queue.pull();
    if (pulled === undefined) return undefined;
    return Object.assign(this.#handOf(queue).take(pulled.entry), { waiting: pulled.waiting });
  }

  /** What was pulled from a queue and not settled. */
  heldOf(queue: AnyQueue): readonly QueueEntry[] {
    return this.#holders.get(queue)?.heldOf(queue) ?? [];
  }

  /** Whoever pulled has gone, which the broker hears of later. */
  leave(): void {
    for (const holder of this.#holders.values()) holder.leave();
  }

  /** Gives everything back: the connection is gone, or something was held too long, which closes a channel with all it holds. */
  giveBack(): void {
    const holders = [...this.#holders.values()];
    this.#holders.clear();
    for (const holder of holders) holder.close();
  }

  #handOf(queue: AnyQueue): Holder {
    const known = this.#holders.get(queue);
    if (known !== undefined) return known;
    for (const [other, holder] of this.#holders) {
      if (holder.held > 0) continue;
      this.#holders.delete(other);
      holder.forget();
    }
    const holder = new Holder(queue, { inlet: this.#inlet, terms: this.#terms, onLate: () => this.giveBack() });
    this.#holders.set(queue, holder);
    return holder;
  }
}
