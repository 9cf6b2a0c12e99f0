/**
 * An Avro schema for a registry.
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import type { SchemaDefinition } from "../../src/schema/definition.ts";
import { defaultBytes } from "./default_value.ts";
import { Fault, within } from "./fault.ts";
import { parseSchema } from "./parse_schema.ts";
import type { AvroType } from "./schema.ts";
import { unreadableParts } from "./unreadable.ts";

/** An Avro schema: the JSON it is written in as text, or as the value that text stands for. */
export type AvroSchema = string | object;

/** A schema of the caller's that has been looked at. */
export interface CheckedSchema {
  /** What is registered. */
  readonly text: string;
  /** What the text says. */
  readonly type: AvroType;
}

/**
 * An Avro schema as a registry takes it. Text is kept character by character; an object becomes `JSON.stringify` of it, so that the
 * order of its members counts.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { avroDefinition } from "@acemq/amqp/avro";
 * import { memorySchemaRegistry } from "@acemq/amqp/memory";
 *
 * const registry = memorySchemaRegistry();
 * const order = { type: "record", name: "Order", fields: [{ name: "id", type: "string" }] };
 * const { id } = await registry.register("order.placed", avroDefinition(order));
 * assert.equal(id, 1);
 * ```
 *
 * @throws {TypeError} what is no Avro schema, or has a default that is no value of its field
 */
export function avroDefinition(schema: AvroSchema): SchemaDefinition {
  const { text } = checkedSchema(schema, "the Avro schema");
  return { format: "avro", definition: text, unreadable: unreadableParts };
}

/** The text and the type of a schema of the caller's; throws a `TypeError` that says what is wrong with it. */
export function checkedSchema(schema: unknown, what: string): CheckedSchema {
  const isSchema = typeof schema === "string" || (typeof schema === "object" && schema !== null);
  if (!isSchema) {
    throw new TypeError(`Cannot use ${what}: it must be JSON as text or as an object, found ${describeKind(schema)}`);
  }
  try {
    const text = typeof schema === "string" ? schema : JSON.stringify(schema);
    const type = parseSchema(text);
    assertDefaults(type, new Set());
    return { text, type };
  } catch (error) {
    throw new TypeError(`Cannot use ${what}: ${error instanceof Fault ? error.describe() : "it is no JSON"}`);
  }
}

/** Throws a `Fault` for a default that is no value of its field. */
function assertDefaults(type: AvroType, seen: Set<AvroType>): void {
  if (seen.has(type)) return;
  seen.add(type);
  if (type.kind === "array") assertDefaults(type.items, seen);
  if (type.kind === "map") assertDefaults(type.values, seen);
  if (type.kind === "union") { for (const branch of type.branches) assertDefaults(branch, seen); }
  if (type.kind !== "record") return;
  for (const field of type.fields) {
    try {
      assertDefaults(field.type, seen);
      if (field.otherwise !== undefined) defaultBytes(field.type, field.otherwise.json);
    } catch (error) {
      throw within(error, `field "${field.name}" of "${type.name}"`);
    }
  }
}
