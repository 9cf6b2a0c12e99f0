/**
 * The relays of one connection, and what they share: a lane, and so the turn to be on it.
 *
 * @module
 */

import type { RelayStore } from "../../ports/outbox_store.ts";
import { windowOf } from "./courier.ts";
import { Relay, type RelayContext } from "./relay.ts";
import type { RelayOptions } from "./relay_options.ts";
import type { RelayRun } from "./relay_run.ts";
import { Turnstile } from "./turnstile.ts";

/** See the module. */
export class Relays {
  readonly #context: RelayContext;
  readonly #runs = new Set<RelayRun>();

  constructor(context: Omit<RelayContext, "runs" | "turnstile">) {
    this.#context = { ...context, runs: this.#runs, turnstile: new Turnstile(windowOf(context.gate)) };
  }

  /** Those that run until they are closed. */
  get running(): readonly RelayRun[] {
    return [...this.#runs];
  }

  /** Another one; inert. */
  relay(store: RelayStore, options: RelayOptions): Relay {
    return new Relay(store, this.#context, options);
  }
}
