/**
 * Avro, with one schema that both sides know or with schemas from a registry. Needs no library, and no code generation.
 *
 * @module
 */

export { avroCodec, type AvroCodecOptions } from "./codec.ts";
export { registeredAvroCodec, type RegisteredAvroCodecOptions } from "./registered_codec.ts";
export { avroDefinition, type AvroSchema } from "./definition.ts";
export { fingerprint } from "../../src/schema/definition.ts";
export { standardLogicalTypes } from "./standard_logical_types.ts";
export type { LogicalConverter, LogicalTypes } from "./logical_type.ts";
export type { LogicalType } from "./schema.ts";
