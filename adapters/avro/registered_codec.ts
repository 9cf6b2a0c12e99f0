/**
 * Avro with registered schemas (contract codecs 2.7, 3): in front of the body stands the id of the schema it was written with.
 *
 * @module
 */

import { DecodeError, EncodeError } from "../../src/errors.ts";
import { assertOptions, describeKind, type OptionKinds } from "../../src/internal/option_kinds.ts";
import type { Codec, EncodedPayload } from "../../src/ports/codec.ts";
import type { SchemaRegistry } from "../../src/ports/schema_registry.ts";
import { assertSubject } from "../../src/schema/definition.ts";
import { FRAME_BYTES, readFrame, writeFrame } from "../../src/schema/framing.ts";
import { FIXED_TYPE, framingOf, REGISTERED_TYPE } from "./content_type.ts";
import { bodyWriter, type WriteBody } from "./datum.ts";
import { type AvroSchema, type CheckedSchema, checkedSchema } from "./definition.ts";
import { KnownSchemas } from "./known_schemas.ts";
import { assertLogicalTypes, type LogicalTypes } from "./logical_type.ts";
import { OwnId } from "./own_id.ts";

/** Options of {@linkcode registeredAvroCodec}. */
export interface RegisteredAvroCodecOptions {
  /** What the schema is registered under, such as the message type. @default {undefined: the codec only reads} */
  readonly subject?: string;
  /** What payloads are written with; goes with `subject`. @default {undefined: the codec only reads} */
  readonly schema?: AvroSchema;
  /**
   * What bodies are read as, whatever they were written with: its defaults stand for what is not written, and what it has no field
   * for is passed over. `null` reads each body in the shape it was written in. It is never registered.
   *
   * @default {undefined: `schema`}
   */
  readonly readerSchema?: AvroSchema | null;
  /** Whether the first payload registers the schema; `false` looks its id up, and refuses to write before it has one. @default {true} */
  readonly register?: boolean;
  /**
   * What logical types become, by name: `standardLogicalTypes()`, or converters of your own.
   *
   * @default {{}: raw, as in the other AceMQ languages}
   */
  readonly logicalTypes?: LogicalTypes;
}

const KINDS: Readonly<OptionKinds<RegisteredAvroCodecOptions>> = {
  subject: "checked",
  schema: "checked",
  readerSchema: "checked",
  register: "boolean",
  logicalTypes: "checked",
};

/**
 * Avro as `application/vnd.acemq.avro`: a zero byte, the id of the schema in four bytes, the body. So a body is always read with the
 * schema it was written with, and publishers and consumers change theirs at different times.
 *
 * The registry is asked once for each schema, at its first body; with a registry that is away the message is retried, and with an id
 * it does not know it is parked. Values are as {@linkcode avroCodec} has them.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { registeredAvroCodec } from "@acemq/amqp/avro";
 * import { memorySchemaRegistry } from "@acemq/amqp/memory";
 *
 * const registry = memorySchemaRegistry();
 * const id = { name: "id", type: "string" };
 * const currency = { name: "currency", type: "string", default: "GBP" };
 * const subject = "order.placed";
 * const old = registeredAvroCodec(registry, { subject, schema: { type: "record", name: "Order", fields: [id] } });
 * const now = registeredAvroCodec(registry, { subject, schema: { type: "record", name: "Order", fields: [id, currency] } });
 *
 * const { body } = await old.encode({ id: "o-1" });
 * assert.deepEqual(body, Uint8Array.of(0, 0, 0, 0, 1, 0x06, 0x6f, 0x2d, 0x31));
 * assert.deepEqual(await now.decode(body, {}), { id: "o-1", currency: "GBP" });
 * ```
 *
 * @throws {TypeError} what is no registry, no Avro schema or no option; a schema without a subject
 */
export function registeredAvroCodec<T = unknown>(
  registry: SchemaRegistry,
  options: RegisteredAvroCodecOptions,
): Codec<T> {
  assertRegistry(registry);
  assertOptions("an Avro codec of registered schemas", options, KINDS);
  const { logicalTypes = {}, register = true } = options;
  assertLogicalTypes(logicalTypes);
  const written = writtenSchema(options);
  const known = new KnownSchemas(registry, { reader: readerSchema(options, written), logicalTypes });
  const write = written === undefined ? undefined : bodyWriter(written.type, logicalTypes, FRAME_BYTES);
  const ownId = written === undefined ? undefined : new OwnId(registry, { ...written, register });
  return {
    contentType: REGISTERED_TYPE,
    guessable: false,
    canDecode: (contentType) => ["registered", "either"].includes(framingOf(contentType)),
    encode: (payload) => encode(payload, write, ownId),
    decode: (body, { contentType }) => {
      assertFramed(contentType);
      const { id, body: unframed } = readFrame(body);
      const read = known.reader(id);
      // The casts are the codec's boundary: what the schema says of T is the caller's to know.
      return typeof read === "function" ? read(unframed) as T : read.then((readBody) => readBody(unframed) as T);
    },
  };
}

/** A schema and where it stands. */
interface WrittenSchema extends CheckedSchema {
  readonly subject: string;
}

function writtenSchema({ subject, schema }: RegisteredAvroCodecOptions): WrittenSchema | undefined {
  if (subject === undefined && schema === undefined) return undefined;
  if (subject === undefined || schema === undefined) {
    const [has, lacks] = subject === undefined ? ["schema", "subject"] : ["subject", "schema"];
    throw new TypeError(`Cannot use option '${has}' without '${lacks}': a schema is registered under a subject`);
  }
  try {
    assertSubject(subject);
  } catch (error) {
    throw new TypeError(`Cannot use option 'subject': ${(error as Error).message.replace(/^Cannot use /, "")}`);
  }
  return { subject, ...checkedSchema(schema, "option 'schema'") };
}

function readerSchema(
  { readerSchema }: RegisteredAvroCodecOptions,
  written: CheckedSchema | undefined,
): CheckedSchema | undefined {
  if (readerSchema === null) return undefined;
  return readerSchema === undefined ? written : checkedSchema(readerSchema, "option 'readerSchema'");
}

function encode(
  payload: unknown,
  write: WriteBody | undefined,
  ownId: OwnId | undefined,
): EncodedPayload | Promise<EncodedPayload> {
  if (write === undefined || ownId === undefined) {
    throw new EncodeError("Cannot write the payload as Avro: the codec was made without a schema, only to read");
  }
  const body = write(payload);
  const framed = (id: number): EncodedPayload => {
    writeFrame(body, id);
    return { body };
  };
  const id = ownId.get();
  return typeof id === "number" ? framed(id) : id.then(framed);
}

function assertFramed(contentType: string | undefined): void {
  if (framingOf(contentType) !== "fixed") return;
  throw new DecodeError(
    `Cannot read the body as one of a registered schema: ${FIXED_TYPE} is the type of bodies without an id in front`,
  );
}

function assertRegistry(registry: unknown): asserts registry is SchemaRegistry {
  if (typeof registry === "object" && registry !== null) {
    const { register, byId, idFor } = registry as Readonly<Record<string, unknown>>;
    if ([register, byId, idFor].every((method) => typeof method === "function")) return;
  }
  throw new TypeError(
    `Cannot use the schema registry: it must be an object with register, byId and idFor, found ${
      describeKind(registry)
    }`,
  );
}
