/**
 * Whether a payload is what a message type can hold: what does not fit is dropped or converted by the library without a word.
 *
 * @module
 */

import type { DescEnum, DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { describeKind, isRecord } from "../../src/internal/option_kinds.ts";
import { jsonProblem } from "./json_value.ts";
import { scalarRule } from "./scalar.ts";

/** What is wrong with a value; undefined when it fits. Types and members of a type are named, nothing that came with the value is. */
type Check = (value: unknown, depth: number) => string | undefined;

/** The types that one codec meets, taken apart once each. */
export class FittingTypes {
  readonly #maxDepth: number;
  readonly #members = new Map<DescMessage, ReadonlyMap<string, Check>>();

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** What keeps a payload from being a message of the type. */
  problemOf(type: DescMessage, payload: unknown): string | undefined {
    return this.#messageProblem(type, payload, 1);
  }

  #messageProblem(type: DescMessage, value: unknown, depth: number): string | undefined {
    if (depth > this.#maxDepth) return `it is nested deeper than ${this.#maxDepth} messages`;
    if (!isMessageLike(value)) {
      return `${type.typeName} must be a message or a plain object, found ${describeValue(value)}`;
    }
    const { $typeName: name = type.typeName } = value;
    if (name !== type.typeName) return `it must be of type ${type.typeName}, found a message of another type`;
    const members = this.#membersOf(type);
    let at = 0;
    for (const key of Object.keys(value)) {
      const check = members.get(key);
      if (check === undefined && key !== "$typeName" && key !== "$unknown") {
        return `${type.typeName} has no member like the one found at ${at} (counted from 0)`;
      }
      const problem = value[key] === undefined ? undefined : check?.(value[key], depth);
      if (problem !== undefined) return problem;
      at++;
    }
    return undefined;
  }

  #membersOf(type: DescMessage): ReadonlyMap<string, Check> {
    const known = this.#members.get(type);
    if (known !== undefined) return known;
    const members = new Map(type.members.map((member) =>
      [
        member.localName,
        member.kind === "oneof" ? this.#oneofCheck(member) : this.#fieldCheck(member),
      ] as const
    ));
    this.#members.set(type, members);
    return members;
  }

  #oneofCheck(oneof: DescOneof): Check {
    const name = `${oneof.parent.typeName}.${oneof.localName}`;
    const cases = new Map(oneof.fields.map((field) => [field.localName, this.#fieldCheck(field)]));
    return (value, depth) => {
      if (!isMessageLike(value)) return `${name} must be { case, value }, found ${describeValue(value)}`;
      if (value["case"] === undefined) return undefined;
      const check = typeof value["case"] === "string" ? cases.get(value["case"]) : undefined;
      if (check === undefined) return `${name} must be one of ${[...cases.keys()].join(", ")}, found another case`;
      return check(value["value"], depth);
    };
  }

  #fieldCheck(field: DescField): Check {
    const name = `${field.parent.typeName}.${field.localName}`;
    switch (field.fieldKind) {
      case "list":
        return listCheck(name, this.#valueCheck(field, name));
      case "map":
        return mapCheck(name, { key: scalarRule(field.mapKey).fits, value: this.#valueCheck(field, name) });
      default:
        return this.#valueCheck(field, name);
    }
  }

  /** A field's value, or one item of its list or map. */
  #valueCheck(field: DescField, name: string): Check {
    if (field.message !== undefined) return this.#nestedCheck(field, field.message, name);
    if (field.enum !== undefined) return enumCheck(name, field.enum);
    const { wanted, fits } = scalarRule(field.scalar);
    return (value) => fits(value) ? undefined : `${name} must be ${wanted}, found ${describeValue(value)}`;
  }

  #nestedCheck(field: DescField, type: DescMessage, name: string): Check {
    const asMessage: Check = (value, depth) => this.#messageProblem(type, value, depth + 1);
    // A wrapper stands as the value it wraps where it is a field by itself, and a Struct is the JSON object it stands for.
    const [wrapped] = type.fields;
    const isAlone = field.fieldKind === "message" && field.oneof === undefined;
    if (isAlone && isWrapper(type) && wrapped !== undefined) return this.#valueCheck(wrapped, name);
    if (type.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value") {
      return (value, depth) => jsonProblem(name, value, this.#maxDepth - depth);
    }
    return asMessage;
  }
}

function listCheck(name: string, item: Check): Check {
  return (value, depth) => {
    if (!Array.isArray(value)) return `${name} must be a list, found ${describeValue(value)}`;
    for (let at = 0; at < value.length; at++) {
      const problem = item(value[at], depth);
      if (problem !== undefined) return `${problem} in item ${at} (counted from 0)`;
    }
    return undefined;
  };
}

interface EntryChecks {
  readonly key: (value: unknown) => boolean;
  readonly value: Check;
}

/** A key of an object is text, whatever the type of the map's keys. */
function mapCheck(name: string, checks: EntryChecks): Check {
  return (value, depth) => {
    if (!isMessageLike(value)) return `${name} must be a plain object, found ${describeValue(value)}`;
    let at = 0;
    for (const [key, entry] of Object.entries(value)) {
      const fits = checks.key(key) || (/^-?\d+$/.test(key) && checks.key(Number(key))) ||
        (/^(?:true|false)$/.test(key) && checks.key(key === "true"));
      if (!fits) return `${name} must have keys of its type, found another at ${at} (counted from 0)`;
      const problem = checks.value(entry, depth);
      if (problem !== undefined) return `${problem} in entry ${at} (counted from 0)`;
      at++;
    }
    return undefined;
  };
}

function enumCheck(name: string, type: DescEnum): Check {
  const { fits } = scalarRule(5);
  const numbers = new Set<unknown>(type.values.map(({ number }) => number));
  return (value) => {
    if (type.open ? fits(value) : numbers.has(value)) return undefined;
    return `${name} must be a number of ${type.typeName}, found ${describeValue(value)}`;
  };
}

/** The messages of `google/protobuf/wrappers.proto`. */
function isWrapper({ typeName }: DescMessage): boolean {
  return /^google\.protobuf\.(?:Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/.test(typeName);
}

/** A message may have a prototype, that of its defaults. */
function isMessageLike(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) ||
    (typeof value === "object" && value !== null && !Array.isArray(value) && "$typeName" in value);
}

function describeValue(value: unknown): string {
  if (typeof value === "number" && !Number.isInteger(value)) return "another number";
  return typeof value === "number" || typeof value === "bigint" ? "a number out of range" : describeKind(value);
}
