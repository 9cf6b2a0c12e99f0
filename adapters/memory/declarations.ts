/**
 * What a connection declares, and has back when the broker has removed it by itself.
 *
 * @module
 */

import { Declared } from "../../src/topology/declared.ts";
import type { BindingSpec, ExchangeSpec, QueueSpec } from "../../src/topology/specs.ts";
import { Refusal } from "./refusals.ts";
import type { VirtualHost } from "./virtual_host.ts";

/** The declarations of one connection; methods throw a {@linkcode Refusal} where the broker refuses. */
export class Declarations {
  readonly #broker: VirtualHost;
  readonly #user: object;
  readonly #declared = new Declared();

  constructor(broker: VirtualHost, user: object) {
    this.#broker = broker;
    this.#user = user;
  }

  declareExchange(spec: ExchangeSpec): void {
    this.#broker.declareExchange(spec);
    this.#declared.addExchange(spec);
  }

  declareQueue(spec: QueueSpec): void {
    this.#broker.declareQueue(spec, this.#user);
    this.#declared.addQueue(spec);
  }

  bind(spec: BindingSpec): void {
    this.#broker.bind(spec, this.#user);
    this.#declared.addBinding(spec);
  }

  deleteQueue(name: string): void {
    this.#broker.deleteQueue(name, this.#user);
    this.#declared.removeQueue(name);
  }

  deleteExchange(name: string): void {
    this.#broker.deleteExchange(name);
    this.#declared.removeExchange(name);
  }

  /** The last consumer a queue had here was ended. */
  endConsumers(queue: string): void {
    this.#declared.endConsumers(queue);
  }

  /** A consumer of a queue was lost: has back what goes by itself. */
  redeclare(queue: string): void {
    const { exchanges, queues, bindings } = this.#declared.mayBeGoneWith(queue);
    for (const spec of exchanges) this.#again(() => this.#broker.declareExchange(spec));
    for (const spec of queues) this.#again(() => this.#broker.declareQueue(spec, this.#user));
    for (const spec of bindings) this.#again(() => this.#broker.bind(spec, this.#user));
  }

  #again(declare: () => void): void {
    try {
      declare();
    } catch (error) {
      // Somebody else has declared it otherwise by now.
      if (!(error instanceof Refusal)) throw error;
    }
  }
}
