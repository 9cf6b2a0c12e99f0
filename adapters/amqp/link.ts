/**
 * A link: one open AMQP connection, from the handshake to its end. What comes after it is another link.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import { ConnectionError, describeError } from "../../src/errors.ts";
import { settledOrAborted } from "../../src/internal/abort.ts";
import type { BrokerLimits } from "../../src/ports/broker.ts";
import type { LinkChannel } from "./link_channel.ts";
import { describeClose, describeFailure } from "./link_failure.ts";
import { inTime } from "./patience.ts";
import { isRabbit, limitsOf, rabbitMajor } from "./server_limits.ts";
import type { SocketClient } from "./socket_client.ts";
import type { Call } from "./wire/calls.ts";
import type { CloseReason } from "./wire/method_frames.ts";
import { Unwritable } from "./wire/unwritable.ts";

/** A call the broker refused by closing the channel it was made on. */
export class CallRefused extends Error {
  readonly reason: CloseReason;

  constructor(reason: CloseReason) {
    super(reason.text);
    this.reason = reason;
  }
}

/** Why a call failed, in the broker's words where there are some. */
export function describeCallError(error: unknown): string {
  return error instanceof CallRefused ? describeClose(error.reason) : describeError(error);
}

/** The code of a close that an operator asked for, or a shutdown. */
const CONNECTION_FORCED = 320;

/** How long the broker has to answer a close. */
const CLOSE_TIMEOUT_MS = 5_000;

/** How long the socket has to take what is still to be written to a broker that reads nothing. */
const LAST_WRITE_MS = 100;

/** One open connection. */
export class Link {
  readonly limits: BrokerLimits;
  /** Whether a queue with a single active consumer may not survive its cancel: RabbitMQ before 4.0. */
  readonly losesQueues: boolean;
  readonly #client: SocketClient;
  readonly #clock: Clock;
  #isClosing = false;

  constructor(client: SocketClient, clock: Clock, maxMessageBytes: number | undefined) {
    this.#client = client;
    this.#clock = clock;
    const { frameMax, handshake: { serverProperties: properties } } = client;
    this.limits = limitsOf({ frameMax, properties, maxMessageBytes });
    this.losesQueues = (rabbitMajor(properties) ?? Infinity) < 4;
  }

  /** The socket and its frames, for those who write them. */
  get client(): SocketClient {
    return this.#client;
  }

  /** Whether frames can be sent. */
  get isUsable(): boolean {
    return this.#client.isUsable;
  }

  /** Whether a close is under way from this side. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Whether the other end is RabbitMQ, by its own word. */
  get isRabbit(): boolean {
    return isRabbit(this.#client.handshake.serverProperties);
  }

  /** Whether the broker reads nothing just now. */
  get isBlocked(): boolean {
    return this.#client.blockBegan.aborted;
  }

  /** Why the broker closed the link over something it was asked; undefined where that is not what ended it. */
  get fault(): string | undefined {
    const { failure } = this.#client;
    if (failure?.kind !== "broker" || failure.reason.code === CONNECTION_FORCED) return undefined;
    return `the broker closed the connection: ${describeClose(failure.reason)}`;
  }

  /** Opens a channel; rejects like {@linkcode Link.call}. */
  async openChannel(): Promise<LinkChannel> {
    try {
      return await this.#client.openChannel();
    } catch (error) {
      throw this.#callError(error, undefined);
    }
  }

  /** Makes a call on a channel; rejects with {@linkcode CallRefused}, `Unwritable` or a `ConnectionError`. */
  async call(channel: LinkChannel, call: Call): Promise<unknown> {
    try {
      return await channel.call(call);
    } catch (error) {
      throw this.#callError(error, channel);
    }
  }

  /**
   * Waits for an answer that only says when something is over. While the broker has blocked the link there is none to wait for: what
   * was written is read in its order when the block ends, or is void with the link.
   */
  unlessBlocked(answer: Promise<unknown>): Promise<void> {
    return settledOrAborted(answer, this.#client.blockBegan);
  }

  /** Says goodbye, waits a little for the answer, and ends the link. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const farewell = this.#client.closed ? Promise.resolve() : this.#client.close();
    const written = new Promise<void>((resolve) => this.#client.out.whenWritten(resolve));
    const { over, blockBegan } = this.#client;
    await inTime(Promise.race([this.unlessBlocked(farewell), over]), { clock: this.#clock, ms: CLOSE_TIMEOUT_MS });
    if (blockBegan.aborted) await inTime(Promise.race([written, over]), { clock: this.#clock, ms: LAST_WRITE_MS });
    this.#client.abort({ kind: "hung_up" });
  }

  #callError(error: unknown, channel: LinkChannel | undefined): Error {
    if (error instanceof Unwritable) return error;
    if (channel?.closeReason !== undefined) return new CallRefused(channel.closeReason);
    if (this.#isClosing) {
      return new ConnectionError("ACEMQ_CONNECTION_CLOSED", "Cannot ask the broker: the connection is closed");
    }
    if (!this.isUsable) {
      // It may be this very call that the broker has closed the connection over, as it does over a place in a stream that is none.
      const { failure } = this.#client;
      const why = failure === undefined ? "" : `: ${describeFailure(failure)}`;
      return new ConnectionError("ACEMQ_CONNECTION_LOST", `Cannot ask the broker: the connection is lost${why}`);
    }
    const text = error instanceof Error ? error.message : "the call failed";
    return new ConnectionError("ACEMQ_CONNECTION_LOST", `Cannot ask the broker: ${text}`);
  }
}
