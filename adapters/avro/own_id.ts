/**
 * The id of the schema a codec writes with: asked for once, with the first payload.
 *
 * @module
 */

import { EncodeError, isRetryable } from "../../src/errors.ts";
import type { SchemaRegistry } from "../../src/ports/schema_registry.ts";
import { fingerprint } from "../../src/schema/definition.ts";
import { isSchemaId } from "../../src/schema/framing.ts";
import { avroDefinition } from "./definition.ts";

/** Which schema it is. */
export interface OwnSchema {
  readonly subject: string;
  readonly text: string;
  /** Whether it is registered where it is not. */
  readonly register: boolean;
}

/** Asks the registry, and remembers. */
export class OwnId {
  readonly #registry: SchemaRegistry;
  readonly #schema: OwnSchema;
  #id: number | Promise<number> | undefined;

  /** Asks this registry, and not yet. */
  constructor(registry: SchemaRegistry, schema: OwnSchema) {
    this.#registry = registry;
    this.#schema = schema;
  }

  /** The id; a promise until it is there. A registry that fails is asked again with the next payload. */
  get(): number | Promise<number> {
    return this.#id ??= this.#ask().then(
      (id) => this.#id = id,
      (error) => {
        this.#id = undefined;
        throw error;
      },
    );
  }

  async #ask(): Promise<number> {
    const { subject, text, register } = this.#schema;
    const definition = avroDefinition(text);
    let id: number;
    try {
      if (!register) id = await this.#registry.idFor(subject, definition);
      else {
        const schema = await this.#registry.register(subject, definition);
        if (schema.fingerprint !== await fingerprint(text)) {
          throw refusal(subject, "the registry gave another schema's");
        }
        id = schema.id;
      }
    } catch (error) {
      if (isRetryable(error) || error instanceof EncodeError) throw error;
      throw refusal(subject, "the registry has none for it", error);
    }
    if (!isSchemaId(id)) throw refusal(subject, "the registry gave a number that no frame holds");
    return id;
  }
}

function refusal(subject: string, why: string, cause?: unknown): EncodeError {
  const options = cause === undefined ? {} : { cause };
  return new EncodeError(`Cannot write the payload as Avro: no id for the schema of "${subject}": ${why}`, options);
}
