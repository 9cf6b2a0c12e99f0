/**
 * A database file and a broker that outlive the processes of a service.
 *
 * @module
 */
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type Broker,
  type BrokerConnection,
  connect,
  deadLetterQueueName,
  parkedQueueName,
  systemClock,
} from "@acemq/amqp/core";
import { memoryBroker } from "@acemq/amqp/memory";
import { type Payment, PAYMENT_ID, type QueueNames, queuesOf, type ServiceOrders } from "./orders.ts";
import { serveChild } from "./parent_broker.ts";

/** How a process of the service ended. */
export type Ended = "killed" | "by itself";

/** What is there when it is over. */
export interface Outcome {
  /** Rows that the work has written. */
  readonly worked: number;
  /** Messages that say so, each id once. */
  readonly announced: number;
  /** Of those, how many came again. */
  readonly copies: number;
}

/** Where a scenario takes place. */
export interface Place {
  readonly folder: string;
  /** Undefined: this process has the broker, and those of the service reach it over a channel. */
  readonly amqpUrl: string | undefined;
}

/** See the module. */
export class Scenario {
  readonly #broker: Broker;
  readonly #link: BrokerConnection;
  readonly #queues: QueueNames;
  readonly #databasePath: string;
  readonly #amqpUrl: string | undefined;

  private constructor(broker: Broker, link: BrokerConnection, { folder, amqpUrl }: Place) {
    const name = randomUUID().slice(0, 8);
    this.#broker = broker;
    this.#link = link;
    this.#queues = { payments: `never-twice-${name}.payments`, announced: `never-twice-${name}.announced` };
    this.#databasePath = join(folder, `${name}.sqlite`);
    this.#amqpUrl = amqpUrl;
  }

  static async open(place: Place): Promise<Scenario> {
    const { amqpUrl } = place;
    const broker = amqpUrl === undefined ? memoryBroker() : (await import("@acemq/amqp")).amqpBroker(amqpUrl);
    const link = await broker.open({ name: "never-twice", clock: systemClock(), onEvent: () => {} });
    return new Scenario(broker, link, place);
  }

  /** A customer pays. */
  async placePayment(): Promise<void> {
    const mq = await connect(this.#broker);
    await mq.declare(queuesOf(this.#queues));
    await mq.publisher<Payment>("", this.#queues.payments).send({ amountCents: 1_250 }, { messageId: PAYMENT_ID });
    await mq.close();
  }

  /** Runs a process of the service until it ends. */
  async run(orders: Pick<ServiceOrders, "work" | "killedAt">): Promise<Ended> {
    const told: ServiceOrders = {
      ...orders,
      databasePath: this.#databasePath,
      queues: this.#queues,
      amqpUrl: this.#amqpUrl,
    };
    const child = fork(new URL("./service.ts", import.meta.url), [JSON.stringify(told)], { serialization: "advanced" });
    const endConnection = this.#amqpUrl === undefined ? serveChild(this.#broker, child) : undefined;
    const [code, signal] = await new Promise<readonly [number | null, string | null]>((resolve, reject) => {
      child.once("error", reject).once("exit", (...how) => resolve(how));
    });
    await endConnection?.();
    if (signal === "SIGKILL") return "killed";
    if (code === 0) return "by itself";
    throw new Error(`Cannot go on: the service ended with ${code ?? signal}`);
  }

  /** Takes the announcements off their queue, and looks into the file. */
  async outcome(): Promise<Outcome> {
    const ids = await this.#announcedIds();
    const announced = new Set(ids).size;
    return { worked: this.#worked(), announced, copies: ids.length - announced };
  }

  async close(): Promise<void> {
    const { payments, announced } = this.#queues;
    for (const queue of [payments, deadLetterQueueName(payments), parkedQueueName(payments), announced]) {
      await this.#link.deleteQueue(queue);
    }
    await this.#link.close();
  }

  #worked(): number {
    const database = new DatabaseSync(this.#databasePath);
    const { n } = database.prepare("SELECT count(*) AS n FROM work").get() ?? {};
    database.close();
    return Number(n);
  }

  async #announcedIds(): Promise<readonly string[]> {
    const puller = await this.#link.openPuller(this.#queues.announced);
    const ids: string[] = [];
    for (let pulled = await puller.pull(); pulled !== null; pulled = await puller.pull()) {
      ids.push(String(pulled.message.properties.messageId));
      pulled.settle("ack");
    }
    await puller.close();
    return ids;
  }
}
