/**
 * Room for publishes that wait for a confirm: so many on the connection, and so many on a lane.
 *
 * Whoever finds no room queues up behind the others of its lane, so a lane keeps its order. Lanes take turns, so a crowded one
 * does not hold up the rest.
 *
 * @module
 */

import { Line, type Place } from "../internal/line.ts";

/** One publish in the queue. */
export interface Waiter {
  readonly lane: number;
  /** Called with the permit in hand, in the same breath as it came free. False gives it back at once. */
  readonly enter: () => boolean;
}

/** How much room there is. */
export interface PermitLimits {
  readonly total: number;
  readonly perLane: number;
  /** Lanes are numbered from 0. */
  readonly lanes: number;
}

interface Lane {
  taken: number;
  readonly waiting: Line<Waiter>;
}

/** Permits to publish. Whoever has one gives it back exactly once. */
export class Permits {
  readonly #limits: PermitLimits;
  readonly #lanes: readonly Lane[];
  #taken = 0;
  #waiting = 0;
  /** The lane that was served last. */
  #served = 0;

  constructor(limits: PermitLimits) {
    this.#limits = limits;
    this.#lanes = Array.from({ length: limits.lanes }, () => ({ taken: 0, waiting: new Line<Waiter>() }));
  }

  /** Permits that are out. */
  get taken(): number {
    return this.#taken;
  }

  /** Publishes in the queue. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a permit, if there is room and nobody of the lane waits for it. */
  tryTake(index: number): boolean {
    const lane = this.#lane(index);
    if (lane.waiting.length > 0 || !this.#hasRoom(lane)) return false;
    this.#take(lane);
    return true;
  }

  /** Queues up; only after {@linkcode Permits.tryTake} found no room. */
  wait(waiter: Waiter): Place<Waiter> {
    this.#waiting++;
    return this.#lane(waiter.lane).waiting.join(waiter);
  }

  /** Leaves the queue; twice is once. */
  leave(place: Place<Waiter>): void {
    if (!place.isTaken) return;
    this.#lane(place.value.lane).waiting.leave(place);
    this.#waiting--;
  }

  /** Gives a permit back; who waited longest on the lane whose turn it is has it before this returns. */
  give(index: number): void {
    this.#release(this.#lane(index));
    while (this.#waiting > 0) {
      const lane = this.#nextLane();
      const next = lane?.waiting.first;
      if (lane === undefined || next === undefined) return;
      this.leave(next);
      this.#take(lane);
      if (!next.value.enter()) this.#release(lane);
    }
  }

  /** The next lane in turn that has both a waiting publish and room for it. */
  #nextLane(): Lane | undefined {
    const { lanes } = this.#limits;
    for (let step = 1; step <= lanes; step++) {
      const index = (this.#served + step) % lanes;
      const lane = this.#lane(index);
      if (lane.waiting.length === 0 || !this.#hasRoom(lane)) continue;
      this.#served = index;
      return lane;
    }
    return undefined;
  }

  #hasRoom({ taken }: Lane): boolean {
    return this.#taken < this.#limits.total && taken < this.#limits.perLane;
  }

  #take(lane: Lane): void {
    this.#taken++;
    lane.taken++;
  }

  #release(lane: Lane): void {
    this.#taken--;
    lane.taken--;
  }

  #lane(index: number): Lane {
    const lane = this.#lanes[index];
    if (lane !== undefined) return lane;
    throw new RangeError(`Cannot publish on lane ${index}: lanes are 0 to ${this.#lanes.length - 1}`);
  }
}
