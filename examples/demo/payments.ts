/**
 * The payment provider the flow depends on: slow, and away now and then.
 *
 * @module
 */
import { systemClock } from "@acemq/amqp";

/** A stand-in for somebody else's service. */
export class Payments {
  readonly #outages = new Map<string, number>();
  readonly #charged = new Set<string>();
  #chargedAgain = 0;

  /** Charges under a key that had been charged before: what nobody wants to explain to a customer. */
  get chargedAgain(): number {
    return this.#chargedAgain;
  }

  /** Makes the next `times` charges under a key fail; `Infinity` for all of them. */
  failNext(key: string, times: number): void {
    this.#outages.set(key, times);
  }

  /** Moves the money. The key is what a real provider recognises a repeated charge by; this one does not. */
  async charge(
    _amountCents: number,
    { key, signal }: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<void> {
    await systemClock().delay(5, { signal });
    const left = this.#outages.get(key) ?? 0;
    if (left === 0) return this.#take(key);
    this.#outages.set(key, left - 1);
    throw new Error("The payment provider does not answer");
  }

  #take(key: string): void {
    if (this.#charged.has(key)) this.#chargedAgain++;
    this.#charged.add(key);
  }
}
