/**
 * A schema from JSON (Avro 1.11, "Schema declaration" and "Names").
 *
 * @module
 */

import { assertJsonDepth, parseJsonExactly } from "../../src/codec/json_reader.ts";
import { Fault, within } from "./fault.ts";
import { logicalOf } from "./logical_annotation.ts";
import type { AvroType, EnumType, Field, FixedType, PrimitiveKind, RecordType } from "./schema.ts";
import { branchName } from "./schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Levels of JSON; more than any schema has whose data can be read. */
const MAX_DEPTH = 400;

const PRIMITIVES: readonly PrimitiveKind[] = ["null", "boolean", "int", "long", "float", "double", "string", "bytes"];
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FULL_NAME = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** The schema of a text; throws a `Fault` for what is none. */
export function parseSchema(text: string): AvroType {
  return new Parser().type(parseJson(text), "", 0);
}

function parseJson(text: string): unknown {
  try {
    assertJsonDepth(text, MAX_DEPTH);
    return parseJsonExactly(text);
  } catch {
    throw new Fault("it is not JSON, or nested too deeply");
  }
}

class Parser {
  readonly #named = new Map<string, FixedType | EnumType | RecordType>();

  /** `namespace` is that of the closest type around. */
  type(json: unknown, namespace: string, depth: number): AvroType {
    if (depth > MAX_DEPTH) throw new Fault("it is nested too deeply");
    if (typeof json === "string") return this.#mentioned(json, namespace);
    if (Array.isArray(json)) return this.#union(json, namespace, depth);
    if (typeof json !== "object" || json === null) throw new Fault("a schema is text, a list or an object");
    const object = json as JsonObject;
    const { type } = object;
    switch (type) {
      case "record":
      case "error":
        return this.#record(object, namespace, depth);
      case "enum":
        return this.#enum(object, namespace);
      case "fixed":
        return this.#fixed(object, namespace);
      case "array":
        return { kind: "array", items: this.#part(object, "items", namespace, depth) };
      case "map":
        return { kind: "map", values: this.#part(object, "values", namespace, depth) };
    }
    if (isPrimitive(type)) return { kind: type, logical: logicalOf(object, type, undefined) };
    if (type === undefined) throw new Fault("a schema that is an object has a 'type'");
    return this.type(type, namespace, depth + 1);
  }

  #part(object: JsonObject, name: string, namespace: string, depth: number): AvroType {
    if (!Object.hasOwn(object, name)) throw new Fault(`it has no '${name}'`);
    try {
      return this.type(object[name], namespace, depth + 1);
    } catch (error) {
      throw within(error, name);
    }
  }

  #mentioned(name: string, namespace: string): AvroType {
    if (isPrimitive(name)) return { kind: name, logical: undefined };
    const type = this.#named.get(fullName(name, namespace)) ?? this.#named.get(name);
    if (type === undefined) throw new Fault(`nothing before it is called "${name.slice(0, 80)}"`);
    return type;
  }

  #union(json: readonly unknown[], namespace: string, depth: number): AvroType {
    const branches = json.map((branch, index) => {
      try {
        return this.type(branch, namespace, depth + 1);
      } catch (error) {
        throw within(error, `branch ${index}`);
      }
    });
    if (branches.length === 0) throw new Fault("a union has at least one branch");
    if (branches.some(({ kind }) => kind === "union")) throw new Fault("a union has no union as a branch");
    const names = branches.map(branchName);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Fault(`a union has two branches called "${twice}"`);
    return { kind: "union", branches };
  }

  #record(object: JsonObject, around: string, depth: number): RecordType {
    const { name, aliases } = this.#name(object, around);
    const fields: Field[] = [];
    const type: RecordType = { kind: "record", name, aliases, fields };
    this.#named.set(name, type);
    const json = object["fields"];
    if (!Array.isArray(json)) throw new Fault(`the record "${name}" has no list of 'fields'`);
    for (const [index, field] of json.entries()) {
      try {
        fields.push(this.#field(field, namespaceOf(name), depth));
      } catch (error) {
        throw within(error, `field ${index} of "${name}"`);
      }
    }
    const names = fields.flatMap((field) => field.name);
    const twice = names.find((one, index) => names.indexOf(one) !== index);
    if (twice !== undefined) throw new Fault(`the record "${name}" has two fields called "${twice}"`);
    return type;
  }

  #field(json: unknown, namespace: string, depth: number): Field {
    if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Fault("a field is an object");
    const object = json as JsonObject;
    const name = object["name"];
    if (typeof name !== "string" || !NAME.test(name)) throw new Fault("its name is not letters, digits and _");
    return {
      name,
      aliases: textsOf(object, "aliases"),
      type: this.#part(object, "type", namespace, depth),
      otherwise: Object.hasOwn(object, "default") ? { json: object["default"] } : undefined,
    };
  }

  #enum(object: JsonObject, around: string): EnumType {
    const { name, aliases } = this.#name(object, around);
    if (!Object.hasOwn(object, "symbols")) throw new Fault(`the enum "${name}" has no list of 'symbols'`);
    const symbols = textsOf(object, "symbols");
    if (symbols.some((symbol, index) => !NAME.test(symbol) || symbols.indexOf(symbol) !== index)) {
      throw new Fault(`a symbol of the enum "${name}" is not letters, digits and _, or stands there twice`);
    }
    const otherwise = object["default"];
    if (otherwise !== undefined && !symbols.includes(otherwise as string)) {
      throw new Fault(`the default of the enum "${name}" is none of its symbols`);
    }
    const type: EnumType = { kind: "enum", name, aliases, symbols, otherwise: otherwise as string | undefined };
    this.#named.set(name, type);
    return type;
  }

  #fixed(object: JsonObject, around: string): FixedType {
    const { name, aliases } = this.#name(object, around);
    const size = object["size"];
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      throw new Fault(`the size of "${name}" is no whole number`);
    }
    const type: FixedType = {
      kind: "fixed",
      name,
      aliases,
      size: size as number,
      logical: logicalOf(object, "fixed", size as number),
    };
    this.#named.set(name, type);
    return type;
  }

  #name(object: JsonObject, around: string): { readonly name: string; readonly aliases: readonly string[] } {
    const { name, namespace = around } = object;
    if (typeof name !== "string" || typeof namespace !== "string") throw new Fault("its name or namespace is no text");
    const full = fullName(name, namespace);
    if (!FULL_NAME.test(full)) throw new Fault("its name is not letters, digits, _ and dots between them");
    if (this.#named.has(full) || isPrimitive(full)) throw new Fault(`"${full}" is the name of something else already`);
    return { name: full, aliases: textsOf(object, "aliases").map((alias) => fullName(alias, namespaceOf(full))) };
  }
}

function isPrimitive(name: unknown): name is PrimitiveKind {
  return PRIMITIVES.includes(name as PrimitiveKind);
}

function fullName(name: string, namespace: string): string {
  return name.includes(".") || namespace === "" ? name : `${namespace}.${name}`;
}

function namespaceOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(".")));
}

function textsOf(object: JsonObject, name: string): readonly string[] {
  const texts = object[name] ?? [];
  if (Array.isArray(texts) && texts.every((text) => typeof text === "string")) return texts;
  throw new Fault(`'${name}' is no list of texts`);
}
