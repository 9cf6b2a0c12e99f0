/**
 * What was declared through a connection is declared on every link, and what is refused there is asked for again until it stands.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { describeError } from "../../src/errors.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import { Declared } from "../../src/topology/declared.ts";
import { delayBefore } from "./backoff.ts";
import type { Link } from "./link.ts";
import type { Backoff } from "./options.ts";
import { inTime, PATIENCE_MS } from "./patience.ts";
import { type Declaration, exchangeDeclarations, failureOf, queueDeclarations } from "./redeclare.ts";
import type { SideLinks } from "./side_links.ts";

/** What keeping a topology takes. */
export interface TopologyHost {
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly report: (event: BrokerEvent) => void;
  readonly aside: SideLinks;
}

/** An exchange, or a queue with its bindings, as it is wanted at the moment it is asked for. */
type Unit = () => readonly Declaration[];

/** Units that are declared at a time: one that gets no answer holds nobody up, and a broker that has just started is not overrun. */
const ABREAST = 16;

/** Keeps the topology of one connection. */
export class TopologyKeeper {
  readonly declared: Declared = new Declared();
  readonly #host: TopologyHost;
  /** What was told not to stand, and why. */
  readonly #failures = new Map<string, string>();
  /** What a link went down over, or may have. */
  readonly #faults = new Map<string, string>();
  /** Questions on the newest link that are not answered yet. */
  #unanswered = new Map<string, Promise<string | undefined>>();
  #ending = new AbortController();

  constructor(host: TopologyHost) {
    this.#host = host;
  }

  /** Declares everything on a new link, exchanges before queues and bindings. Resolves when each was tried once. */
  async restore(link: Link): Promise<void> {
    this.end();
    this.#ending = new AbortController();
    this.#unanswered = new Map();
    const exchanges = this.declared.exchanges.map(({ name }) => () => exchangeDeclarations(this.declared, name));
    const queues = this.declared.queueNames.map((name) => () => queueDeclarations(this.declared, name));
    this.#forgetAllBut([...exchanges, ...queues]);
    await abreast(exchanges, (unit) => this.#begin(link, unit));
    await abreast(queues, (unit) => this.#begin(link, unit));
  }

  /** Before somebody consumes from a queue: declares what of it does not stand, and what may have gone by itself. */
  async refresh(link: Link, queue: string): Promise<void> {
    const gone = this.declared.mayBeGoneWith(queue);
    for (const name of new Set(this.declared.bindingsOf(queue).map(({ exchange }) => exchange))) {
      const isGone = gone.exchanges.some((exchange) => exchange.name === name);
      await this.#attempt(link, this.#due(exchangeDeclarations(this.declared, name), isGone));
    }
    await this.#attempt(link, this.#due(queueDeclarations(this.declared, queue), gone.queues.length > 0));
  }

  /** Asks for nothing any more. */
  end(): void {
    this.#ending.abort();
  }

  /** What is not wanted any more will not be told to stand. */
  #forgetAllBut(units: readonly Unit[]): void {
    if (this.#failures.size + this.#faults.size === 0) return;
    const wanted = new Set(units.flatMap((unit) => unit().map(({ key }) => key)));
    for (const known of [this.#failures, this.#faults]) {
      for (const key of [...known.keys()]) if (!wanted.has(key)) known.delete(key);
    }
  }

  /** What has taken a link down is not let onto the next one before it has shown that it does not. */
  async #begin(link: Link, unit: Unit): Promise<void> {
    const declarations = unit();
    const harmless = declarations.filter(({ key }) => !this.#faults.has(key));
    for (const one of declarations) if (this.#faults.has(one.key)) this.#note(one, this.#faults.get(one.key));
    const stands = await this.#attempt(link, harmless);
    if (stands && harmless.length === declarations.length) return;
    this.#insist(link, unit).catch(() => {/* ended, or begun anew on the next link */});
  }

  async #insist(link: Link, unit: Unit): Promise<void> {
    const { clock, backoff } = this.#host;
    const { signal } = this.#ending;
    for (let attempt = 1; link.isUsable; attempt++) {
      await clock.delay(delayBefore(attempt, backoff), { signal });
      if (await this.#attempt(link, this.#due(unit(), false))) return;
    }
  }

  #due(declarations: readonly Declaration[], all: boolean): readonly Declaration[] {
    return all ? declarations : declarations.filter(({ key }) => this.#failures.has(key));
  }

  /** Whether all of it stands. One that is refused does not keep the next from being tried: a queue that differs can be bound. */
  async #attempt(link: Link, declarations: readonly Declaration[]): Promise<boolean> {
    let stands = true;
    for (const declaration of declarations) stands = await this.#stands(link, declaration) && stands;
    return stands;
  }

  async #stands(link: Link, declaration: Declaration): Promise<boolean> {
    // What fails with the link is declared on the next one.
    if (!link.isUsable) return false;
    const reason = await inTime(this.#ask(link, declaration), this.#host);
    if (!link.isUsable) return false;
    this.#note(declaration, reason === "late" ? `the broker has not answered within ${PATIENCE_MS} ms` : reason);
    return reason === undefined;
  }

  /** A question that has no answer yet is not asked a second time. */
  #ask(link: Link, declaration: Declaration): Promise<string | undefined> {
    const { key } = declaration;
    const unanswered = this.#unanswered;
    const asked = unanswered.get(key) ?? this.#declare(link, declaration).finally(() => unanswered.delete(key));
    unanswered.set(key, asked);
    return asked;
  }

  async #declare(link: Link, declaration: Declaration): Promise<string | undefined> {
    const { key, isShared } = declaration;
    const failure = this.#faults.has(key) && isShared ? await this.#declareAside(declaration) : undefined;
    if (failure !== undefined) return failure;
    const reason = await failureOf(link, declaration);
    if (reason === undefined) this.#faults.delete(key);
    else if (link.fault !== undefined) this.#faults.set(key, link.fault);
    return reason;
  }

  async #declareAside(declaration: Declaration): Promise<string | undefined> {
    try {
      return await this.#host.aside.run(this.#ending.signal, (other) => failureOf(other, declaration));
    } catch (error) {
      return describeError(error);
    }
  }

  /** Tells each reason once, and that it stands once. */
  #note({ key, object, isWanted }: Declaration, reason: string | undefined): void {
    const told = this.#failures.get(key);
    if (reason === undefined) {
      if (this.#failures.delete(key)) this.#host.report({ type: "redeclared", object });
    } else if (told !== reason && isWanted()) {
      this.#failures.set(key, reason);
      this.#host.report({ type: "redeclare_failed", object, reason });
    }
  }
}

/** Does something for every item, so many at a time. */
async function abreast<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const one = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(ABREAST, items.length) }, one));
}
