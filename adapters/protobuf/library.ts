/**
 * The part of `@bufbuild/protobuf` that is used here.
 *
 * @module
 */

import type { DescMessage, Message } from "@bufbuild/protobuf";

/** `import("@bufbuild/protobuf")`, version 2. */
export interface ProtobufLibrary {
  create(type: DescMessage, init?: Readonly<Record<string, unknown>>): Message;
  toBinary(type: DescMessage, message: Message): Uint8Array;
  fromBinary(type: DescMessage, bytes: Uint8Array, options?: { readonly recursionLimit?: number }): Message;
}
