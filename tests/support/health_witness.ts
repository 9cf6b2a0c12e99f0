/**
 * Watches whether a connection says of itself what has happened to it: in its events, and in its health.
 *
 * @module
 */
import type { Connection } from "../../src/connection.ts";
import type { HealthReport } from "../../src/health/report.ts";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import type { Observation } from "./observed_broker.ts";
import { until } from "./until.ts";

/** What health has to say in the moment of an event. */
const EXPECTED: Readonly<Partial<Record<BrokerEvent["type"], (report: HealthReport) => boolean>>> = {
  lost: ({ status }) => status === "down",
  consumer_lost: ({ status }) => status !== "up",
  blocked: (report) => brokerPart(report)?.parts?.["blocked"] === true,
};

/** One connection's witness. */
export class HealthWitness {
  /** What `mq.events()` has told. */
  readonly events: BrokerEvent[] = [];
  /** Where the connection said something else, or nothing. */
  readonly contradictions: string[] = [];
  readonly #mq: Connection;
  readonly #seen: Observation;
  /** What had happened before anybody could listen. */
  readonly #early: number;
  readonly #reading: Promise<void>;
  readonly #reports: Promise<void>[] = [];

  constructor(mq: Connection, seen: Observation, signal: AbortSignal) {
    this.#mq = mq;
    this.#seen = seen;
    this.#early = seen.events.length;
    seen.onEvent = (event) => this.#reports.push(this.#compare(event));
    this.#reading = this.#read(signal);
  }

  /** Waits until the connection is up with everything on it, or closed: the test has closed it. */
  async isWell(): Promise<void> {
    let last: HealthReport | undefined;
    const isFine = async (): Promise<boolean> => {
      last = await this.#mq.health();
      return last.status === "up" || brokerPart(last)?.detail === "the connection is closed";
    };
    await until("health", isFine).catch(() => this.contradictions.push(`not up in the end: ${JSON.stringify(last)}`));
  }

  /** The connection is closed: every event has to have been told by now. */
  async end(): Promise<void> {
    await Promise.all([this.#reading, ...this.#reports]);
    const [seen, told] = [this.#seen.events.slice(this.#early), this.events].map((events) => JSON.stringify(events));
    if (seen !== told) this.contradictions.push(`the events were ${seen}, and ${told} was told`);
  }

  async #read(signal: AbortSignal): Promise<void> {
    for await (const event of this.#mq.events({ signal })) this.events.push(event);
  }

  async #compare(event: BrokerEvent): Promise<void> {
    const isExpected = EXPECTED[event.type];
    if (isExpected === undefined) return;
    const report = await this.#mq.health();
    if (!isExpected(report)) this.contradictions.push(`${event.type}, but health was ${JSON.stringify(report)}`);
  }
}

function brokerPart({ parts }: HealthReport): HealthReport | undefined {
  const broker = parts?.["broker"];
  return typeof broker === "object" && broker !== null ? broker : undefined;
}
