/**
 * Messages of one type of `@bufbuild/protobuf`, checked before they are written.
 *
 * @module
 */

import type { DescMessage } from "@bufbuild/protobuf";
import { DecodeError, EncodeError } from "../../src/errors.ts";
import { describeKind } from "../../src/internal/option_kinds.ts";
import type { ProtobufCoder, ProtobufLimits } from "./codec.ts";
import { FittingTypes } from "./fitting.ts";
import type { ProtobufLibrary } from "./library.ts";

/** The pair of functions for a message type. Throws a `TypeError` for something else. */
export function messageCoder(
  { create, toBinary, fromBinary }: ProtobufLibrary,
  type: DescMessage,
  { maxDepth }: ProtobufLimits,
): ProtobufCoder<unknown, unknown> {
  assertMessageType(type);
  const types = new FittingTypes(maxDepth);
  return {
    encode: (payload) => {
      const problem = types.problemOf(type, payload);
      if (problem !== undefined) throw new EncodeError(`Cannot write the payload as protobuf: ${problem}`);
      // What fits is an object: a message already, or what one is made of.
      const init = payload as Readonly<Record<string, unknown>>;
      return toBinary(type, create(type, init));
    },
    decode: (bytes) => {
      try {
        return fromBinary(type, bytes, { recursionLimit: maxDepth });
      } catch (cause) {
        throw new DecodeError(`Cannot read the body as protobuf: it is no message of type ${type.typeName}`, { cause });
      }
    },
  };
}

function assertMessageType(type: unknown): void {
  const isType = typeof type === "object" && type !== null && "kind" in type && type.kind === "message" &&
    "typeName" in type && typeof type.typeName === "string" && "fields" in type;
  if (isType) return;
  throw new TypeError(
    `Cannot make a protobuf codec: it must be given a message type of @bufbuild/protobuf, or an object with encode and decode, found ${
      describeKind(type)
    }`,
  );
}
