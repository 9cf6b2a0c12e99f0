/**
 * Our side of the handshake: what the broker says is read, what it is told is written, and how far it has come is known.
 *
 * @module
 */

import type { WireTable } from "../../src/message/wire_value.ts";
import type { SaslAnswer } from "./credentials.ts";
import type { LinkFailure, LinkPhase } from "./link_failure.ts";
import type { ByteReader } from "./wire/byte_reader.ts";
import type { ByteWriter } from "./wire/byte_writer.ts";
import * as frames from "./wire/handshake_frames.ts";

/** What a connection is opened with. */
export interface HandshakeSettings {
  readonly connectionName: string;
  readonly virtualHost: string;
  readonly sasl: SaslAnswer;
  readonly tuning: frames.Tuning;
}

/** The first byte of a method frame, which is what a broker answers a greeting with. */
const METHOD = 1;

/** The first byte of a TLS alert. */
const TLS_ALERT = 0x15;

/** One handshake. */
export class Handshake {
  readonly #settings: HandshakeSettings;
  #phase: LinkPhase = "dialling";
  #serverProperties: WireTable = {};
  #isAnswered = false;

  constructor(settings: HandshakeSettings) {
    this.#settings = settings;
  }

  /** How far the opening has come. */
  get phase(): LinkPhase {
    return this.#phase;
  }

  /** What the broker said of itself. */
  get serverProperties(): WireTable {
    return this.#serverProperties;
  }

  /** Something went well: the next thing is under way. */
  enter(phase: LinkPhase): void {
    this.#phase = phase;
  }

  /**
   * Looks at the first bytes that come back, and says why they are nothing to us.
   *
   * Only now is TLS beyond doubt: a client certificate is refused after our side of that handshake is over.
   */
  answered(chunk: Uint8Array): LinkFailure | undefined {
    if (this.#isAnswered) return undefined;
    this.#isAnswered = true;
    if (chunk[0] === TLS_ALERT) return { kind: "speaks_tls" };
    if (chunk[0] !== METHOD) return { kind: "protocol", text: "the other end does not speak AMQP 0-9-1" };
    this.#phase = "greeting";
    return undefined;
  }

  /** Answers connection.start, or says why it cannot be. */
  start(reader: ByteReader, writer: ByteWriter): LinkFailure | undefined {
    const { serverProperties, mechanisms } = frames.readStart(reader);
    const { sasl, connectionName } = this.#settings;
    if (!mechanisms.includes(sasl.mechanism)) {
      const text = `the broker does not offer the mechanism ${sasl.mechanism}, only ${mechanisms.join(", ")}`;
      return { kind: "mechanism", text };
    }
    this.#serverProperties = serverProperties;
    this.#phase = "authenticating";
    frames.writeStartOk(writer, { connectionName, ...sasl });
    return undefined;
  }

  /** Answers connection.tune and asks for the virtual host; gives what was settled on. */
  tune(reader: ByteReader, writer: ByteWriter): frames.Tuning {
    const agreed = frames.negotiate(this.#settings.tuning, frames.readTune(reader));
    this.#phase = "opening";
    frames.writeTuneOk(writer, agreed);
    frames.writeOpen(writer, this.#settings.virtualHost);
    return agreed;
  }
}
