/**
 * What a format must do: `node:test` cases to run against a codec (contract codecs 1.1 to 1.4).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import type { MessageHeaders } from "../../src/message/header_value.ts";
import type { Codec, EncodedPayload } from "../../src/ports/codec.ts";
import { contractOptions } from "./options.ts";

/** A codec, what it can hold, and what it has to refuse. */
export interface CodecUnderTest {
  /** Made anew for every case. */
  readonly codec: Codec;
  /** Payloads it writes. The more of what the format can hold, the better. */
  readonly holds: readonly CodecSample[];
  /** Payloads the format cannot hold. */
  readonly refuses: readonly unknown[];
  /** Bodies that say nothing in this format, under the codec's own content type. */
  readonly unreadable: readonly Uint8Array[];
  /** Content types it reads beside its own; undefined stands for a body without one. */
  readonly reads: readonly (string | undefined)[];
  /** Content types that are somebody else's. */
  readonly leaves: readonly (string | undefined)[];
  /** Stands in what is refused and in what is unreadable; an error must not repeat it. @default {"4242"} */
  readonly secret?: string;
  /** Removes whatever was opened for the case. */
  readonly close?: () => Promise<void>;
}

/** One payload, and what it is when it has been read. */
export interface CodecSample {
  /** What is written. */
  readonly payload: unknown;
  /** What is read, where that is not the same: a format without numbers has text. */
  readonly reads?: unknown;
}

/** Options of {@linkcode codecContract}. */
export interface CodecContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/**
 * Registers the cases for a codec.
 *
 * A format that reads whatever bytes it is given, as text and bytes do, has no `unreadable` bodies; everything else is asked of it as
 * well.
 *
 * @example
 * ```ts
 * import { codecContract } from "@acemq/amqp/contracts";
 * import { jsonCodec } from "@acemq/amqp/core";
 *
 * codecContract("JSON", async () => ({
 *   codec: jsonCodec(),
 *   holds: [{ payload: { id: "A-19", lines: [1, 2] } }, { payload: new Date(0), reads: "1970-01-01T00:00:00.000Z" }],
 *   refuses: [undefined, NaN, { card: "4242", of: new Map() }],
 *   unreadable: [new Uint8Array(), new TextEncoder().encode('{"card":4242')],
 *   reads: ["text/json", "application/vnd.shop.order+json", undefined],
 *   leaves: ["text/plain", "application/jsonlines"],
 * }));
 * ```
 *
 * @param name what the cases are listed under
 */
export function codecContract(
  name: string,
  open: () => Promise<CodecUnderTest>,
  options: CodecContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The codec contract on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 30_000 }, () => runCase(open, body));
  });
}

type Case = (under: CodecUnderTest) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  "writes under one content type, which it reads": async ({ codec, holds }) => {
    assert.match(codec.contentType, /^[a-z]+\/[a-z0-9.+-]+(?:; [a-z0-9-]+=[a-z0-9-]+)?$/);
    assert.equal(codec.canDecode(codec.contentType), true);
    for (const { payload } of holds) {
      const { contentType = codec.contentType } = await codec.encode(payload);
      assert.equal(codec.canDecode(contentType), true, contentType);
    }
  },

  "reads the content types it says, in any case and with any parameters, and no others": async (under) => {
    const { codec, reads, leaves } = under;
    for (const type of reads) {
      for (const spelling of spellingsOf(type)) assert.equal(codec.canDecode(spelling), true, String(spelling));
    }
    for (const type of leaves) {
      for (const spelling of spellingsOf(type)) assert.equal(codec.canDecode(spelling), false, String(spelling));
    }
  },

  "takes an empty content type for an absent one": async ({ codec }) => {
    for (const absent of ["", " "]) assert.equal(codec.canDecode(absent), codec.canDecode(undefined));
  },

  "gives back what it was given to write": async ({ codec, holds }) => {
    for (const sample of holds) assert.deepEqual(await read(codec, await write(codec, sample)), readsAs(sample));
  },

  "leaves the payload as it was: written a second time it reads the same": async ({ codec, holds }) => {
    for (const sample of holds) {
      const first = await write(codec, sample);
      const second = await write(codec, sample);
      first.body.fill(0);
      assert.deepEqual(await read(codec, second), readsAs(sample));
    }
  },

  "leaves the body as it was, and reads it wherever in a buffer it lies": async ({ codec, holds }) => {
    for (const sample of holds) {
      const encoded = await write(codec, sample);
      const buffer = new Uint8Array(encoded.body.byteLength + 9).fill(0x5a);
      buffer.set(encoded.body, 5);
      const body = buffer.subarray(5, 5 + encoded.body.byteLength);
      for (const _ of [1, 2]) assert.deepEqual(await read(codec, { ...encoded, body }), readsAs(sample));
      assert.deepEqual(buffer.subarray(5, 5 + body.byteLength), encoded.body);
    }
  },

  "keeps payloads apart that are written and read at once": async ({ codec, holds }) => {
    const written = await Promise.all(holds.map((sample) => write(codec, sample)));
    const back = await Promise.all(written.map((encoded) => read(codec, encoded)));
    assert.deepEqual(back, holds.map(readsAs));
  },

  "refuses to write what it cannot hold, with an EncodeError that says nothing of it": async (under) => {
    for (const payload of under.refuses) {
      await assert.rejects(async () => await under.codec.encode(payload), (error: unknown) => {
        assert.ok(error instanceof EncodeError, `${String(error)} is no EncodeError`);
        return isDiscreet(error, under);
      });
    }
  },

  "refuses what it cannot read, with a DecodeError that says nothing of it": async (under) => {
    for (const body of under.unreadable) {
      const reading = async (): Promise<unknown> => await read(under.codec, { body });
      await assert.rejects(reading, (error: unknown) => isDecodeError(error) && isDiscreet(error, under));
    }
  },

  "reads a body that was cut short or changed, or refuses it with a DecodeError": async (under) => {
    for (const sample of under.holds) {
      const encoded = await write(under.codec, sample);
      for (const body of damaged(encoded.body)) {
        await read(under.codec, { ...encoded, body }).catch(isDecodeError);
      }
    }
  },
};

/** How other people spell a content type. */
function spellingsOf(type: string | undefined): readonly (string | undefined)[] {
  if (type === undefined) return [undefined];
  return [type, type.toUpperCase(), ` ${type} `, `${type};v=2`, `${type} ; charset=utf-8`];
}

async function write(codec: Codec, { payload }: CodecSample): Promise<EncodedPayload> {
  const encoded = await codec.encode(payload);
  assert.ok(encoded.body instanceof Uint8Array);
  return encoded;
}

async function read(
  codec: Codec,
  { body, contentType = codec.contentType, headers }: EncodedPayload,
): Promise<unknown> {
  // What a codec sends along arrives as it was sent, but for members that are undefined: they are left out.
  const arrived = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  return await codec.decode(body, { contentType, headers: Object.fromEntries(arrived) as MessageHeaders });
}

function readsAs(sample: CodecSample): unknown {
  return "reads" in sample ? sample.reads : sample.payload;
}

function isDecodeError(error: unknown): error is DecodeError {
  assert.ok(error instanceof DecodeError, `${String(error)} is no DecodeError`);
  return true;
}

/** An error's text reaches logs and a header: in the words of the library, on one line, and nothing of the payload. */
function isDiscreet(error: Error, { secret = "4242" }: CodecUnderTest): boolean {
  assert.match(error.message, /^Cannot \S.*$/);
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    assert.ok(!one.message.includes(secret), "The error repeats what it must not");
  }
  return true;
}

/** Every beginning of a short body and some of a long one, and the body with one byte that is another, each in turn. */
function* damaged(body: Uint8Array): Generator<Uint8Array> {
  const step = Math.ceil(body.byteLength / 128);
  for (let at = 0; at < body.byteLength; at += step) {
    yield body.slice(0, at);
    for (const other of [0x00, 0x22, 0x7f, 0xff]) {
      const changed = body.slice();
      changed[at] = (body[at] ?? 0) ^ other;
      yield changed;
    }
  }
}

async function runCase(open: () => Promise<CodecUnderTest>, body: Case): Promise<void> {
  const under = await open();
  try {
    await body(under);
    assert.deepEqual(Object.keys(Object.prototype), [], "Something was put on every object there is");
  } finally {
    await under.close?.();
  }
}
