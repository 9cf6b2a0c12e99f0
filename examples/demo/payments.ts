/**
 * The payment provider the flow depends on: slow, and away now and then.
 *
 * @module
 */
import { systemClock } from "@acemq/amqp";

/** A stand-in for somebody else's service. */
export class Payments {
  readonly #outages = new Map<string, number>();

  /** Makes the next `times` charges under a key fail; `Infinity` for all of them. */
  failNext(key: string, times: number): void {
    this.#outages.set(key, times);
  }

  /** Moves the money. The key is what a real provider recognises a repeated charge by. */
  async charge(
    _amountCents: number,
    { key, signal }: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<void> {
    await systemClock().delay(5, { signal });
    const left = this.#outages.get(key) ?? 0;
    if (left === 0) return;
    this.#outages.set(key, left - 1);
    throw new Error("The payment provider does not answer");
  }
}
