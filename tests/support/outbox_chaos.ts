/**
 * Relays over one outbox in virtual time, between a broker and a store that do as a script says, with an account of everything that
 * was handed over: what each relay may know, and so what it may do again.
 *
 * @module
 */
import {
  memoryBroker,
  type MemoryOutboxStore,
  memoryOutboxStore,
  type VirtualClock,
  virtualClock,
} from "../../adapters/memory/mod.ts";
import { type Connection, openConnection } from "../../src/connection.ts";
import { StoreError } from "../../src/errors.ts";
import type { RunningRelay } from "../../src/patterns/outbox/relay.ts";
import type { RelayOptions } from "../../src/patterns/outbox/relay_options.ts";
import type { PublishReceipt } from "../../src/ports/broker.ts";
import { FaultyOutbox, type OutboxCall } from "./faulty_outbox.ts";
import { Faults, faultyBroker } from "./faulty_broker.ts";
import { outboundOf } from "./outbox_world.ts";

/** What the broker does with a message. `late`: takes it, and answers when nobody waits any more. */
export type BrokerDoes =
  | "take"
  | "take slowly"
  | "take and lose the answer"
  | "take late"
  | "drop"
  | "nack"
  | "return"
  | "refuse"
  | "refuse one of several"
  | "decline"
  | "cut the link";

/** What the store does with a question. */
export type StoreDoes = "answer" | "fail" | "answer slowly" | "answer too late" | "keep the answer" | "lose the answer";

/** What happens, in the order it is asked for; when it has ended, all goes well. */
export interface Script {
  readonly broker: readonly BrokerDoes[];
  readonly store: readonly StoreDoes[];
}

export const LEASE_MS = 8_000;
export const PUBLISH_TIMEOUT_MS = 1_500;

const CONFIRMED: PublishReceipt = { outcome: "confirmed" };
const UNKNOWN: PublishReceipt = { outcome: "unknown", reason: "nobody knows" };

/** One relay, its connection and its way to the store. */
interface Actor {
  readonly faults: Faults;
  readonly store: FaultyOutbox;
  /** When it was handed a row last. */
  readonly claimedAtMs: Map<string, number>;
  /** How often its link was cut: what was in flight then has no answer. */
  cuts: number;
  running: RunningRelay | undefined;
  isDead: boolean;
}

/** One publish that a broker was handed. */
interface Handed {
  readonly id: string;
  readonly by: Actor;
  /** When the lease began under which it was published. */
  readonly claimedAtMs: number;
  /** Its relay's link, by how often that had been cut. */
  readonly link: number;
  /** Whether its relay was told that a queue has it. */
  isConfirmed: boolean;
  /** Whether its relay was told that the broker refused it. */
  isRefused: boolean;
}

/** See the module. */
export class OutboxChaos {
  readonly clock: VirtualClock = virtualClock();
  readonly outbox: MemoryOutboxStore;
  /** Ids that a queue has, in the order they arrived, each as often as it did. */
  readonly arrived: string[] = [];
  /** What went wrong, in words. */
  readonly faults: string[] = [];
  readonly #handed: Handed[] = [];
  readonly #actors: Actor[] = [];
  readonly #connections: Connection[] = [];
  readonly #options: RelayOptions;
  readonly #script: { broker: BrokerDoes[]; store: StoreDoes[] };

  readonly #settings: readonly RelayOptions[];

  /** `settings`: what each relay has for itself, in turns. */
  constructor(script: Script, { maxAttempts = 10, ...options }: RelayOptions, settings: readonly RelayOptions[] = []) {
    this.#settings = settings;
    this.#script = { broker: [...script.broker], store: [...script.store] };
    this.#options = { leaseMs: LEASE_MS, ...options };
    this.outbox = memoryOutboxStore({ clock: this.clock, maxAttempts });
  }

  /** How often the broker has refused a message, and its relay was told. */
  refusals(id: string): number {
    return this.#handed.filter((one) => one.id === id && one.isRefused).length;
  }

  /** How often a failure of a row was counted. */
  failures(id: string): number {
    return this.#actors.flatMap(({ store }) => store.of("markFailed")).flat().filter((one) => one === id).length;
  }

  /** Whether a broker was ever handed a message. */
  wasHanded(id: string): boolean {
    return this.#handed.some((one) => one.id === id);
  }

  /** Another relay, in a process of its own. */
  async start(): Promise<void> {
    const actor: Actor = {
      faults: new Faults(),
      store: new FaultyOutbox(this.outbox),
      claimedAtMs: new Map(),
      cuts: 0,
      running: undefined,
      isDead: false,
    };
    const broker = faultyBroker(memoryBroker({ clock: this.clock }), actor.faults);
    const mq = await openConnection(broker, { publishTimeoutMs: PUBLISH_TIMEOUT_MS, random: () => 0.5 });
    this.#connections.push(mq);
    this.#actors.push(actor);
    actor.faults.onPublish = ({ messageId = "" }) => this.#publish(messageId, actor);
    actor.store.before = (call) => this.#before(call, actor);
    actor.store.after = (call) => this.#after(call, actor);
    actor.store.done = (call, ids) => {
      if (call === "claim") ids.forEach((id) => actor.claimedAtMs.set(id, this.clock.elapsed()));
    };
    const own = this.#settings[(this.#actors.length - 1) % this.#settings.length];
    actor.running = await mq.relay(actor.store, { ...this.#options, ...own }).start();
  }

  /** Kills a relay wherever it is: nothing it does from now on is seen by anybody. Another one takes its place. */
  async crash(index: number): Promise<void> {
    const living = this.#actors.filter(({ isDead }) => !isDead);
    const actor = living[index % living.length];
    if (actor === undefined) return;
    actor.isDead = true;
    void actor.running?.close({ budget: AbortSignal.abort() });
    await this.start();
  }

  /** Writes rows of one key in a transaction that ends so long after, one way or the other. */
  async write(
    ids: readonly string[],
    { key, takesMs, commits }: {
      readonly key: string | undefined;
      readonly takesMs: number;
      readonly commits: boolean;
    },
  ): Promise<void> {
    const work = this.outbox.transaction(async (tx) => {
      await this.outbox.addAll(tx, ids.map((id) => outboundOf(id)), { orderingKey: key });
      await this.clock.delay(takesMs);
      if (!commits) throw new Error("rolled back");
    });
    await work.catch(() => {});
  }

  /** From now on all goes well. */
  async heal(): Promise<void> {
    this.#script.broker = [];
    this.#script.store = [];
    for (const { faults, isDead } of this.#actors) if (!isDead) await faults.recover();
  }

  async close(): Promise<void> {
    const closing = Promise.all(this.#connections.map((mq) => mq.close()));
    await this.clock.advance(60_000);
    await closing;
  }

  #publish(id: string, by: Actor): Promise<PublishReceipt> {
    if (by.isDead) return new Promise(() => {});
    this.#assertExcused(id);
    const claimedAtMs = by.claimedAtMs.get(id) ?? -Infinity;
    const handed: Handed = { id, by, claimedAtMs, link: by.cuts, isConfirmed: false, isRefused: false };
    this.#handed.push(handed);
    return this.#answer(handed, this.#script.broker.shift() ?? "take");
  }

  async #answer(handed: Handed, does: BrokerDoes): Promise<PublishReceipt> {
    const { id, by } = handed;
    const refused = (receipt: PublishReceipt): PublishReceipt => {
      handed.isRefused = !by.isDead;
      return receipt;
    };
    switch (does) {
      case "take":
        return this.#take(handed);
      case "take slowly":
        await this.clock.delay(700);
        return this.#take(handed);
      case "take and lose the answer":
        this.arrived.push(id);
        return UNKNOWN;
      case "take late":
        await this.clock.delay(PUBLISH_TIMEOUT_MS + 2_000);
        this.arrived.push(id);
        return CONFIRMED;
      case "drop":
        return UNKNOWN;
      case "nack":
        return refused({ outcome: "nacked", reason: "no" });
      case "return":
        return refused({ outcome: "unroutable", reason: "312 NO_ROUTE" });
      case "refuse":
        return refused({ outcome: "refused", written: true, reason: "404 NOT_FOUND" });
      case "refuse one of several":
        this.arrived.push(id);
        return { outcome: "unknown", reason: "404 NOT_FOUND", oneRefused: true };
      case "decline":
        return { outcome: "paused", reason: "not now" };
      case "cut the link":
        // Whatever was answered before has arrived.
        await this.clock.delay(1);
        by.cuts++;
        await by.faults.lose();
        void this.clock.delay(1_200).then(() => by.faults.recover());
        return UNKNOWN;
    }
  }

  /** An answer that comes in time: what its relay knows from then on. */
  #take(handed: Handed): PublishReceipt {
    this.arrived.push(handed.id);
    handed.isConfirmed = !handed.by.isDead && handed.link === handed.by.cuts;
    return CONFIRMED;
  }

  /**
   * What was confirmed to somebody may be published again only when that relay was killed, or had the row for the length of a lease
   * without a mark.
   */
  #assertExcused(id: string): void {
    for (const earlier of this.#handed) {
      if (earlier.id !== id || !earlier.isConfirmed || earlier.by.isDead) continue;
      if (this.clock.elapsed() - earlier.claimedAtMs >= LEASE_MS) continue;
      this.faults.push(`${id} was published again though a relay that lives knew that it was out`);
    }
  }

  async #before(call: OutboxCall, by: Actor): Promise<void> {
    if (by.isDead) return await new Promise(() => {});
    if (call === "stats") return;
    switch (this.#script.store[0]) {
      case "fail":
        this.#script.store.shift();
        throw new StoreError("the database is away");
      case "answer slowly":
        this.#script.store.shift();
        return await this.clock.delay(900);
      case "answer too late":
        this.#script.store.shift();
        return await this.clock.delay(LEASE_MS + 500);
      case "answer":
        this.#script.store.shift();
    }
  }

  async #after(call: OutboxCall, by: Actor): Promise<void> {
    // It was done, and whoever had it done is not there to hear.
    if (by.isDead) return await new Promise(() => {});
    if (call === "stats") return;
    switch (this.#script.store[0]) {
      case "keep the answer":
        this.#script.store.shift();
        return await this.clock.delay(LEASE_MS - 2_000);
      case "lose the answer":
        this.#script.store.shift();
        throw new StoreError("the connection to the database was lost");
    }
  }
}
