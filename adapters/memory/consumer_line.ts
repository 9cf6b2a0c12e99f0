/**
 * The consumers of one queue, and which of them is handed the next message.
 *
 * @module
 */

/** What the line needs to know of a consumer. */
export interface Standing {
  /** Whether it may have one message more. */
  readonly hasCredit: boolean;
  /** Higher is served first. */
  readonly priority: number;
}

/** How the line goes. */
export interface LineOptions {
  /** One consumer gets everything, the others wait to take its place. */
  readonly isSingle: boolean;
  /**
   * A quorum queue counts of several only the active one, and lets nobody pass who has waited longer. A consumer that is full is out of
   * its line until it has settled something; in that of a classic queue it stays until its turn comes and it is full still.
   */
  readonly isQuorum: boolean;
}

/** Takes turns between those who can take a message; with a single active consumer, waits for that one. */
export class ConsumerLine<Member extends Standing> {
  readonly #options: LineOptions;
  /** In the order they came. */
  readonly #members = new Set<Member>();
  /** By priority, highest first: who may be able to take a message, longest waiting first. */
  readonly #ready = new Map<number, Set<Member>>();
  #active: Member | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Consumers that the queue counts. */
  get size(): number {
    const { isSingle, isQuorum } = this.#options;
    return isSingle && isQuorum ? Math.min(1, this.#members.size) : this.#members.size;
  }

  /** Consumers that are there, also those that only wait. */
  get members(): number {
    return this.#members.size;
  }

  add(member: Member): void {
    this.#members.add(member);
    if (this.#options.isSingle) this.#active ??= member;
  }

  remove(member: Member): void {
    this.#members.delete(member);
    this.#ready.get(member.priority)?.delete(member);
    if (this.#active === member) this.#active = this.#successor();
  }

  /** It is another consumer now, the last that came. */
  comeAgain(member: Member): void {
    if (!this.#members.delete(member)) return;
    this.#members.add(member);
    this.#ready.get(member.priority)?.delete(member);
    // Being there when its place is given away, it may take it itself.
    if (this.#active === member) this.#active = this.#successor();
  }

  /** It may be able to take a message. */
  offer(member: Member): void {
    if (member.hasCredit) this.#queueUp(member);
  }

  /** It was handed a message. */
  served(member: Member): void {
    if (!this.#options.isQuorum || member.hasCredit) this.#queueUp(member);
  }

  /** Who takes the next message, and is {@linkcode ConsumerLine.served} it. */
  next(): Member | undefined {
    if (this.#options.isSingle) return this.#active?.hasCredit === true ? this.#active : undefined;
    for (const ready of this.#ready.values()) {
      for (const member of ready) {
        ready.delete(member);
        if (member.hasCredit) return member;
      }
    }
    return undefined;
  }

  /** Everybody leaves. */
  clear(): readonly Member[] {
    const members = [...this.#members];
    this.#members.clear();
    this.#ready.clear();
    this.#active = undefined;
    return members;
  }

  /** Whoever stands in line keeps the place. */
  #queueUp(member: Member): void {
    if (this.#options.isSingle || !this.#members.has(member)) return;
    const ready = this.#ready.get(member.priority);
    if (ready === undefined) this.#addLevel(member);
    else ready.add(member);
  }

  #successor(): Member | undefined {
    const [first, ...others] = this.#members;
    if (first === undefined || this.#options.isQuorum) return first;
    return others.reduce((best, other) => other.priority > best.priority ? other : best, first);
  }

  /** There are few priorities, and seldom a new one. */
  #addLevel(member: Member): void {
    const levels = [...this.#ready, [member.priority, new Set([member])] as const];
    this.#ready.clear();
    for (const [priority, ready] of levels.toSorted(([one], [other]) => other - one)) this.#ready.set(priority, ready);
  }
}
