/**
 * The payment provider the flow depends on: slow, and away now and then.
 *
 * @module
 */
import { systemClock } from "@acemq/amqp";

/** A stand-in for somebody else's service. */
export class Payments {
  readonly #outages = new Map<string, number>();

  /** Makes the first attempts under these keys fail; `Infinity` for all of them. */
  failFirst(outages: Iterable<readonly [key: string, attempts: number]>): void {
    for (const [key, attempts] of outages) this.#outages.set(key, attempts);
  }

  /** Answers whether the money may move; throws while the provider is away. */
  async approve(
    { id: key, attempt }: { readonly id: string; readonly attempt: number },
    signal: AbortSignal,
  ): Promise<void> {
    await systemClock().delay(5, { signal });
    if (attempt <= (this.#outages.get(key) ?? 0)) throw new Error("The payment provider does not answer");
  }
}
