/**
 * Schemas that a registry has answered with: they never change, so they are kept for ever.
 *
 * @module
 */

import type { RegisteredSchema } from "../../src/ports/schema_registry.ts";
import { conflict } from "../../src/schema/registration.ts";

/** See the module. What is not there is not kept: it may be there a moment later. */
export class KeptSchemas {
  readonly #byId = new Map<number, RegisteredSchema>();
  readonly #byText = new Map<string, RegisteredSchema>();

  /** The schema of an id. */
  get(id: number): RegisteredSchema | undefined {
    return this.#byId.get(id);
  }

  /** The schema of a text under a subject. */
  find(subject: string, mark: string): RegisteredSchema | undefined {
    return this.#byText.get(keyOf(subject, mark));
  }

  /** Keeps a schema; throws a `SchemaRegistryError` where its id had another meaning: the table has lost what it held. */
  keep(schema: RegisteredSchema): RegisteredSchema {
    this.assertMeans(schema);
    const kept = this.#byId.get(schema.id) ?? schema;
    this.#byId.set(kept.id, kept);
    this.#byText.set(keyOf(kept.subject, kept.fingerprint), kept);
    return kept;
  }

  /** Throws as {@linkcode keep}. */
  assertMeans({ id, subject, fingerprint }: RegisteredSchema): void {
    const known = this.#byId.get(id);
    if (known === undefined || (known.subject === subject && known.fingerprint === fingerprint)) return;
    throw conflict(
      `Cannot use schema ${id} of "${subject}": this process knows the id as version ${known.version} of "${known.subject}", so the table has lost what stood there`,
    );
  }
}

function keyOf(subject: string, mark: string): string {
  return `${mark} ${subject}`;
}
