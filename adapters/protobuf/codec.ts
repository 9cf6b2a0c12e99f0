/**
 * The protobuf codec over a pair of functions (contract codecs 2.8).
 *
 * @module
 */

import { matchesFormat, parseContentType } from "../../src/codec/content_type.ts";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import { assertWholeNumber, assertWithin } from "../../src/internal/assert_option.ts";
import { assertOptions, describeKind, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec } from "../../src/ports/codec.ts";

/** What a generator makes of one message type: protobufjs and ts-proto do. */
export interface ProtobufCoder<In, Out> {
  /** The bytes, or a writer that has them. */
  encode(message: In): Uint8Array | { finish(): Uint8Array };
  /** Throws for bytes that are no message of this type. */
  decode(bytes: Uint8Array): Out;
}

/** Options of `protobufCodec`. */
export interface ProtobufCodecOptions {
  /** Levels of messages within messages that are written and read, at most 100; another generator's code has its own. @default {100} */
  readonly maxDepth?: number;
  /** Bytes of a body that are read; a larger one is refused unread. @default {Infinity} */
  readonly maxBodyBytes?: number;
}

const KINDS: Readonly<OptionKinds<ProtobufCodecOptions>> = { maxDepth: "checked", maxBodyBytes: "checked" };

const NAMES: readonly string[] = [
  "application/x-protobuf",
  "application/protobuf",
  "application/vnd.google.protobuf",
];

/** The limits of a codec. */
export interface ProtobufLimits {
  readonly maxDepth: number;
  readonly maxBodyBytes: number;
}

/** Checked options with their defaults. */
export function limitsOf(options: ProtobufCodecOptions): ProtobufLimits {
  assertOptions("a protobuf codec", options, KINDS);
  const { maxDepth = 100, maxBodyBytes = Infinity } = options;
  assertWithin("maxDepth", maxDepth, [1, 100]);
  if (maxBodyBytes !== Infinity) assertWholeNumber("maxBodyBytes", maxBodyBytes, 0);
  return { maxDepth, maxBodyBytes };
}

/** A codec of a pair of functions. What they throw is told by its name: its words may show the payload. */
export function generatedCodec<In, Out>(
  coder: ProtobufCoder<In, Out>,
  { maxBodyBytes }: ProtobufLimits,
): Codec<In, Out> {
  return {
    contentType: "application/x-protobuf",
    guessable: false,
    canDecode: (contentType) => {
      const parsed = parseContentType(contentType);
      return parsed !== undefined && matchesFormat(parsed.essence, NAMES, "protobuf");
    },
    encode: (payload) => ({ body: written(coder, payload) }),
    decode: (body) => {
      if (body.byteLength > maxBodyBytes) {
        throw new DecodeError(
          `Cannot read the body as protobuf: it must have at most ${maxBodyBytes} bytes, found ${body.byteLength}`,
        );
      }
      return read(coder, body);
    },
  };
}

/** Whether it is such a pair. A message type is none: it is data. */
export function isCoder(value: unknown): value is ProtobufCoder<never, unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "encode" in value && typeof value.encode === "function" && "decode" in value &&
    typeof value.decode === "function";
}

function written<In, Out>(coder: ProtobufCoder<In, Out>, payload: In): Uint8Array {
  const encoded = attempt(() => coder.encode(payload), (name, cause) => cannotWrite(name, cause));
  const bytes: unknown = encoded instanceof Uint8Array ? encoded : finished(encoded);
  // A writer may hand out a part of its pool, and a Buffer is a Uint8Array whose copies share memory.
  if (bytes instanceof Uint8Array) return new Uint8Array(bytes);
  throw new EncodeError(
    `Cannot write the payload as protobuf: its encoder must make bytes, found ${describeKind(bytes)}`,
  );
}

function finished(writer: unknown): unknown {
  const hasEnd = typeof writer === "object" && writer !== null && "finish" in writer;
  if (!hasEnd || typeof writer.finish !== "function") return writer;
  const { finish } = writer;
  return attempt((): unknown => finish.call(writer), (name, cause) => cannotWrite(name, cause));
}

function cannotWrite(name: string, cause: unknown): EncodeError {
  return new EncodeError(`Cannot write the payload as protobuf: its encoder failed with ${name}`, { cause });
}

function read<In, Out>(coder: ProtobufCoder<In, Out>, body: Uint8Array): Out {
  return attempt(
    () => coder.decode(body),
    (name, cause) => new DecodeError(`Cannot read the body as protobuf: its decoder failed with ${name}`, { cause }),
  );
}

function attempt<T>(act: () => T, refusal: (name: string, cause: unknown) => Error): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof EncodeError || error instanceof DecodeError) throw error;
    throw refusal(error instanceof Error ? error.name : typeof error, error);
  }
}
