/**
 * A value as a YAML document that a reader of YAML 1.1 and one of YAML 1.2 take for the same (contract codecs 2.5).
 *
 * One document in block style, without a marker: lists stand at the column of the key they belong to, and whatever one of the two
 * families could take for something else than text is quoted.
 *
 * @module
 */

import { EncodeError } from "../../src/errors.ts";
import { encodeBase64 } from "../../src/internal/base64.ts";
import { bytesOf, classOf, objectKind, placeOf, type Trail } from "../../src/internal/payload_value.ts";
import { plainDate, yamlNumber, yamlString } from "./yaml_scalar.ts";

/** The YAML text of a value, at most `maxDepth` levels of it. */
export function yamlText(value: unknown, maxDepth: number): string {
  return new Writer(maxDepth).document(value);
}

/** What a node follows on its line: nothing, a key's colon, or the dash of an item. */
type After = "nothing" | "key" | "dash";

/** PyYAML and others look no further than 1,024 characters for the colon of a key. */
const LONGEST_KEY = 1_000;

class Writer {
  readonly #maxDepth: number;
  readonly #trail: Trail = [];
  #text = "";

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  document(value: unknown): string {
    this.#node(value, "nothing", "", 0, this.#maxDepth, "");
    return this.#text;
  }

  /** `pad` is the indentation of what the node belongs to, `depth` its place on the trail, `left` the levels it may have. */
  #node(value: unknown, after: After, pad: string, depth: number, left: number, key: string): void {
    if (typeof value !== "object" || value === null) return this.#scalar(this.#scalarText(value, depth), after);
    const kind = objectKind(value);
    if (kind === "date") return this.#scalar(this.#dateText(value as Date, depth), after);
    if (kind === "bytes") return this.#scalar(yamlString(encodeBase64(bytesOf(value as ArrayBufferView))), after);
    if (left === 0) {
      throw new EncodeError(
        `Cannot write the payload as YAML: it is nested too deeply at ${placeOf(this.#trail, depth)}`,
      );
    }
    switch (kind) {
      case "replaced":
        return this.#node((value as { toJSON(key: string): unknown }).toJSON(key), after, pad, depth, left - 1, key);
      case "list":
        return this.#list(value as readonly unknown[], after, pad, depth, left - 1);
      case "record":
        return this.#record(value as Readonly<Record<string, unknown>>, after, pad, depth, left - 1);
      case "opaque":
        throw this.#refusal(`an instance of ${classOf(value)}`, depth);
    }
  }

  #list(list: readonly unknown[], after: After, pad: string, depth: number, left: number): void {
    if (list.length === 0) return this.#scalar("[]", after);
    const inner = after === "dash" ? `${pad}  ` : pad;
    this.#text += after === "key" ? "\n" : after === "dash" ? " " : "";
    for (let index = 0; index < list.length; index++) {
      this.#text += index === 0 && after === "dash" ? "-" : `${inner}-`;
      this.#trail[depth] = ~index;
      this.#node(list[index], "dash", inner, depth + 1, left, String(index));
    }
  }

  #record(record: Readonly<Record<string, unknown>>, after: After, pad: string, depth: number, left: number): void {
    const names = Object.keys(record);
    if (names.every((name) => record[name] === undefined)) return this.#scalar("{}", after);
    const inner = after === "nothing" ? pad : `${pad}  `;
    this.#text += after === "key" ? "\n" : after === "dash" ? " " : "";
    let isFirst = after === "dash";
    for (let position = 0; position < names.length; position++) {
      const name = names[position] as string;
      const member = record[name];
      if (member === undefined) continue;
      this.#trail[depth] = position;
      if (!isFirst) this.#text += inner;
      isFirst = false;
      this.#key(name, inner, depth + 1);
      this.#node(member, "key", inner, depth + 1, left, name);
    }
  }

  #key(name: string, pad: string, depth: number): void {
    const text = this.#stringText(name, depth);
    this.#text += text.length > LONGEST_KEY ? `? ${text}\n${pad}:` : `${text}:`;
  }

  #scalar(text: string, after: After): void {
    this.#text += after === "nothing" ? `${text}\n` : ` ${text}\n`;
  }

  #scalarText(value: unknown, depth: number): string {
    switch (typeof value) {
      case "string":
        return this.#stringText(value, depth);
      case "number":
        return yamlNumber(value);
      case "boolean":
      case "bigint":
        return String(value);
      case "object":
        return "null";
      default:
        throw this.#refusal(typeof value, depth);
    }
  }

  #stringText(text: string, depth: number): string {
    if (!text.isWellFormed()) throw this.#refusal("half a surrogate pair", depth);
    return yamlString(text);
  }

  #dateText(date: Date, depth: number): string {
    const text = plainDate(date);
    if (text === undefined) throw this.#refusal("a Date that YAML has no timestamp for", depth);
    return text;
  }

  #refusal(found: string, depth: number): EncodeError {
    return new EncodeError(`Cannot write the payload as YAML: found ${found} at ${placeOf(this.#trail, depth)}`);
  }
}
