/**
 * What a connection asks its broker: answered in turn, with the errors of the port where the broker refuses.
 *
 * @module
 */

import { ConnectionError, TopologyError } from "../../src/errors.ts";
import type { CompareResult, DeclareResult } from "../../src/ports/broker.ts";
import type { Inlet } from "./inlet.ts";
import { Refusal } from "./refusals.ts";
import { UnwritableError } from "./wire_hop.ts";

/** Asks over one connection. */
export class Questions {
  readonly #inlet: Inlet;
  #isOpen = true;

  constructor(inlet: Inlet) {
    this.#inlet = inlet;
  }

  /** The connection is closed: whatever is asked from now on is rejected. */
  close(): void {
    this.#isOpen = false;
  }

  /**
   * Asks for something to be there.
   *
   * @throws {ConnectionError} the connection is closed
   */
  async declare(action: string, effect: () => void): Promise<DeclareResult> {
    await this.#turn(action);
    try {
      effect();
      return { status: "declared" };
    } catch (error) {
      if (error instanceof UnwritableError) return { status: "refused", reason: error.message };
      if (!(error instanceof Refusal)) throw error;
      return { status: error.isDifference ? "differs" : "refused", reason: error.message };
    }
  }

  /**
   * Asks how something differs from what is there.
   *
   * @throws {ConnectionError} the connection is closed
   */
  async compare(action: string, difference: () => Refusal | undefined): Promise<CompareResult> {
    await this.#turn(action);
    try {
      const found = difference();
      return found === undefined ? { status: "same" } : { status: "differs", reason: found.message };
    } catch (error) {
      if (error instanceof UnwritableError) return { status: "refused", reason: error.message };
      if (!(error instanceof Refusal)) throw error;
      return { status: error.code === 404 ? "absent" : "refused", reason: error.message };
    }
  }

  /**
   * Asks for an answer.
   *
   * @throws {ConnectionError} the connection is closed
   * @throws {TopologyError} what is asked about is not there, or somebody else's
   */
  async ask<Answer>(action: string, answer: () => Answer): Promise<Answer> {
    await this.#turn(action);
    try {
      return answer();
    } catch (error) {
      throw portError(error, action);
    }
  }

  /** At once, unless the broker has stopped reading. */
  #turn(action: string): Promise<void> | undefined {
    if (this.#isOpen && !this.#inlet.isBlocked) return undefined;
    const closed = new ConnectionError("ACEMQ_CONNECTION_CLOSED", `Cannot ${action}: the connection is closed`);
    if (!this.#isOpen) throw closed;
    return new Promise((resolve, reject) => this.#inlet.send(resolve, () => reject(closed)));
  }
}

/** A refusal, or what cannot be asked, as the port knows it; any other error stays what it is. */
export function portError(error: unknown, action: string): unknown {
  if (error instanceof UnwritableError) {
    return new TopologyError("ACEMQ_TOPOLOGY_REFUSED", `Cannot ${action}: ${error.message}`);
  }
  if (!(error instanceof Refusal)) return error;
  const code = error.code === 404 ? "ACEMQ_TOPOLOGY_MISSING" : "ACEMQ_TOPOLOGY_REFUSED";
  return new TopologyError(code, `Cannot ${action}: ${error.message}`, { findings: [error.message] });
}
