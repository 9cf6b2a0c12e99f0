/**
 * Puts a message together from the frames it comes in: method, content header, body frames.
 *
 * @module
 */

import type { ReceivedMessage } from "../../../src/message/received.ts";
import type { ByteReader } from "./byte_reader.ts";
import { type ContentHeader, readContentHeader } from "./content_header.ts";
import { MalformedFrame } from "./malformed.ts";
import type { ContentMethod } from "./method_frames.ts";

/** A whole message and what announced it. */
export interface Content {
  readonly method: ContentMethod;
  readonly message: ReceivedMessage;
}

const NO_BODY = new Uint8Array(0);

/** One a channel: content never interleaves within a channel. */
export class ContentAssembler {
  #method: ContentMethod | undefined;
  #header: ContentHeader | undefined;
  #body: Uint8Array = NO_BODY;
  #received = 0;

  /** A method that announces content; content that was under way is out of step. */
  method(method: ContentMethod): void {
    if (this.#method !== undefined) throw new MalformedFrame("announces a message within a message");
    this.#method = method;
  }

  /** The content header; gives the message when it has no body. */
  header(reader: ByteReader): Content | undefined {
    if (this.#method === undefined || this.#header !== undefined) throw new MalformedFrame("is a header of no message");
    this.#header = readContentHeader(reader);
    this.#received = 0;
    return this.#header.bodySize === 0 ? this.#complete(this.#method, this.#header, new Uint8Array(0)) : undefined;
  }

  /** A body frame; gives the message when it was the last. */
  body(reader: ByteReader): Content | undefined {
    if (this.#method === undefined || this.#header === undefined) throw new MalformedFrame("is a body of no message");
    const { bodySize } = this.#header;
    const length = reader.remaining;
    if (this.#received + length > bodySize) throw new MalformedFrame("brings more body than announced");
    if (length === bodySize) return this.#complete(this.#method, this.#header, reader.copy(length));
    if (this.#received === 0) this.#body = new Uint8Array(bodySize);
    reader.copyInto(this.#body, this.#received, length);
    this.#received += length;
    return this.#received === bodySize ? this.#complete(this.#method, this.#header, this.#body) : undefined;
  }

  #complete(method: ContentMethod, { properties, headers }: ContentHeader, body: Uint8Array): Content {
    this.#method = undefined;
    this.#header = undefined;
    this.#body = NO_BODY;
    const redelivered = method.kind !== "returned" && method.redelivered;
    const { exchange, routingKey } = method;
    return { method, message: { exchange, routingKey, redelivered, properties, headers, body } };
  }
}
