/**
 * The outcome words of telemetry (contract core 3.4 and 7.1): what the engine did, not what was asked of it.
 *
 * @module
 */

/** How a publish ended. */
export type PublishOutcome = "confirmed" | "published" | "unroutable" | "failed" | "refused";

/** How a delivery ended. */
export type ConsumeOutcome = "acked" | "retried" | "rejected" | "dead_lettered" | "parked" | "in_progress";

/** Message types are chosen by publishers, so a stray one must not be able to flood a metrics store. */
const MOST_TYPES = 100;

/** Bounds the values of the `message.type` label: after 100 different types every further one is `other`. */
export class TypeLabels {
  readonly #known = new Set<string>();

  /** The label value for a message type. */
  of(type: string): string {
    if (this.#known.has(type)) return type;
    if (this.#known.size >= MOST_TYPES) return "other";
    this.#known.add(type);
    return type;
  }
}
