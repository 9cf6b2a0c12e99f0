/**
 * What reads the bodies of each registered schema: looked up once, and kept for ever, as an id never changes its meaning.
 *
 * @module
 */

import { DecodeError, isRetryable, SchemaRegistryError } from "../../src/errors.ts";
import type { RegisteredSchema, SchemaRegistry } from "../../src/ports/schema_registry.ts";
import { fingerprint } from "../../src/schema/definition.ts";
import { isSchemaId } from "../../src/schema/framing.ts";
import { bodyReader, type ReadBody, unreadable } from "./datum.ts";
import type { CheckedSchema } from "./definition.ts";
import { ResolutionFault } from "./fault.ts";
import type { LogicalTypes } from "./logical_type.ts";
import { parseSchema } from "./parse_schema.ts";
import { type Read, Readers } from "./read.ts";
import { resolve } from "./resolve.ts";

/** How bodies are read. */
export interface KnownSchemasSettings {
  /** Resolved onto; undefined: read in the shape they were written in. */
  readonly reader: CheckedSchema | undefined;
  readonly logicalTypes: LogicalTypes;
}

/** The readers of one codec, one for each id that was met. */
export class KnownSchemas {
  readonly #registry: SchemaRegistry;
  readonly #settings: KnownSchemasSettings;
  readonly #readers = new Map<number, ReadBody>();
  readonly #loading = new Map<number, Promise<ReadBody>>();

  /** Asks this registry. */
  constructor(registry: SchemaRegistry, settings: KnownSchemasSettings) {
    this.#registry = registry;
    this.#settings = settings;
  }

  /** What reads bodies of an id; a promise only the first time. It throws a `DecodeError` for what it cannot read. */
  reader(id: number): ReadBody | Promise<ReadBody> {
    return this.#readers.get(id) ?? this.#load(id);
  }

  #load(id: number): Promise<ReadBody> {
    const loading = this.#loading.get(id) ?? this.#make(id).finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  /** Fails where the registry does, and is asked again then: it may be away, and the schema may be registered later. */
  async #make(id: number): Promise<ReadBody> {
    const schema = await lookUp(this.#registry, id);
    const read = readerOf(schema, this.#settings);
    this.#readers.set(id, read);
    return read;
  }
}

async function lookUp(registry: SchemaRegistry, id: number): Promise<RegisteredSchema> {
  if (!isSchemaId(id)) throw refusal(id, "no schema can have this id");
  let schema: RegisteredSchema;
  try {
    schema = await registry.byId(id);
  } catch (error) {
    if (isRetryable(error)) throw error;
    const isMissing = error instanceof SchemaRegistryError && error.code === "ACEMQ_SCHEMA_NOT_FOUND";
    throw refusal(id, isMissing ? "it is not registered" : "the registry cannot say what it is", error);
  }
  if (schema.id !== id) throw refusal(id, `the registry answered with schema ${schema.id}`);
  if (schema.format !== "avro") throw refusal(id, `it is of format "${schema.format}", not "avro"`);
  if (schema.fingerprint !== await fingerprint(schema.definition)) {
    throw refusal(id, "its text is not the one it was registered with: the fingerprint is another");
  }
  return schema;
}

/** What cannot be read will not be at the next body either, so its reason is kept as well. */
function readerOf(schema: RegisteredSchema, settings: KnownSchemasSettings): ReadBody {
  const what = `Avro of schema ${schema.id}`;
  const described = (error: unknown): DecodeError => {
    const isResolution = error instanceof ResolutionFault;
    const both = `${what}, written as ${schema.definition}, with ${settings.reader?.text}`;
    return unreadable(error, isResolution ? both : what);
  };
  try {
    const read = bodyReader(readOf(schema, settings));
    return (body) => {
      try {
        return read(body);
      } catch (error) {
        throw described(error);
      }
    };
  } catch (error) {
    const { message } = described(error);
    return () => {
      throw new DecodeError(message);
    };
  }
}

function readOf({ definition }: RegisteredSchema, { reader, logicalTypes }: KnownSchemasSettings): Read {
  const isResolved = reader !== undefined && reader.text !== definition;
  const type = parseSchema(definition);
  return isResolved ? resolve(type, reader.type, logicalTypes) : new Readers(logicalTypes).of(type);
}

function refusal(id: number, why: string, cause?: unknown): DecodeError {
  return new DecodeError(`Cannot read the body as Avro of schema ${id}: ${why}`, cause === undefined ? {} : { cause });
}
