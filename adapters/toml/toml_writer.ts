/**
 * A value as a TOML document, or an error for what TOML cannot hold (contract codecs 2.6).
 *
 * A table's own values come first, each list on one line; then its tables under `[a.b]` and its lists of tables under `[[a.b]]`.
 *
 * @module
 */

import { EncodeError } from "../../src/errors.ts";
import { encodeBase64 } from "../../src/internal/base64.ts";
import { bytesOf, classOf, objectKind, placeOf, type Trail } from "../../src/internal/payload_value.ts";
import { isInt64, offsetDateTime, tomlKey, tomlNumber, tomlString } from "./toml_scalar.ts";

/** The TOML text of a value, at most `maxDepth` levels of it. */
export function tomlText(value: unknown, maxDepth: number): string {
  return new Writer(maxDepth).document(value);
}

type Table = Readonly<Record<string, unknown>>;

/** A table or a list of tables, which comes after the values of the table it belongs to. */
interface Section {
  readonly key: string;
  readonly position: number;
  readonly content: Table | readonly Table[];
}

/** `depth` is the place on the trail throughout, and `left` how many levels there may still be. */
class Writer {
  readonly #maxDepth: number;
  readonly #trail: Trail = [];
  #text = "";

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  document(value: unknown): string {
    const top = typeof value === "object" && value !== null ? this.#resolved(value, "", 0) : value;
    if (!isTable(top)) {
      throw new EncodeError(`Cannot write the payload as TOML: the top must be a table, found ${nameOf(top)}`);
    }
    this.#table(top, "", 0, this.#maxDepth);
    return this.#text;
  }

  /** The values of a table, then the tables in it. `path` is its own header's, empty at the top. */
  #table(table: Table, path: string, depth: number, left: number): void {
    const inner = this.#deeper(left, depth);
    let sections: Section[] | undefined;
    let position = -1;
    for (const name of Object.keys(table)) {
      const member = table[name];
      this.#trail[depth] = ++position;
      if (member === undefined) continue;
      const key = this.#key(name, depth + 1);
      if (typeof member !== "object" || member === null) {
        this.#text += `${key} = ${this.#scalar(member, depth + 1)}\n`;
        continue;
      }
      const content = this.#resolved(member, name, depth + 1);
      if (isTable(content) || isTables(content)) (sections ??= []).push({ key, position, content });
      else this.#text += `${key} = ${this.#inline(content, depth + 1, inner)}\n`;
    }
    for (const section of sections ?? []) this.#section(section, path, depth, inner);
  }

  #section({ key, position, content }: Section, path: string, depth: number, left: number): void {
    this.#trail[depth] = position;
    const header = path === "" ? key : `${path}.${key}`;
    if (!Array.isArray(content)) {
      this.#header(`[${header}]`);
      return this.#table(content as Table, header, depth + 1, left);
    }
    const inner = this.#deeper(left, depth + 1);
    content.forEach((item, index) => {
      this.#header(`[[${header}]]`);
      this.#trail[depth + 1] = ~index;
      this.#table(item, header, depth + 2, inner);
    });
  }

  #header(text: string): void {
    this.#text += this.#text === "" ? `${text}\n` : `\n${text}\n`;
  }

  /** A value on one line; an object has been resolved. */
  #inline(value: unknown, depth: number, left: number): string {
    if (Array.isArray(value)) return this.#inlineList(value, depth, this.#deeper(left, depth));
    return isTable(value) ? this.#inlineTable(value, depth, this.#deeper(left, depth)) : this.#scalar(value, depth);
  }

  #inlineList(list: readonly unknown[], depth: number, left: number): string {
    let items = "";
    for (let index = 0; index < list.length; index++) {
      this.#trail[depth] = ~index;
      const item = this.#member(list[index], String(index), depth + 1, left);
      items += index === 0 ? item : `, ${item}`;
    }
    return `[${items}]`;
  }

  #inlineTable(table: Table, depth: number, left: number): string {
    const members: string[] = [];
    Object.keys(table).forEach((name, position) => {
      if (table[name] === undefined) return;
      this.#trail[depth] = position;
      members.push(`${this.#key(name, depth + 1)} = ${this.#member(table[name], name, depth + 1, left)}`);
    });
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }

  #member(value: unknown, key: string, depth: number, left: number): string {
    if (typeof value !== "object" || value === null) return this.#scalar(value, depth);
    return this.#inline(this.#resolved(value, key, depth), depth, left);
  }

  #scalar(value: unknown, depth: number): string {
    switch (typeof value) {
      case "string":
        return tomlString(this.#whole(value, depth));
      case "number":
        return tomlNumber(value);
      case "boolean":
        return value ? "true" : "false";
      case "bigint":
        if (!isInt64(value)) throw this.#refusal("an integer of more than 64 bits", depth);
        return String(value);
      default:
        if (value instanceof Date) return this.#date(value, depth);
        throw this.#refusal(nameOf(value), depth);
    }
  }

  #date(value: Date, depth: number): string {
    const text = offsetDateTime(value);
    if (text === undefined) throw this.#refusal("a Date that TOML has no date-time for", depth);
    return text;
  }

  #key(name: string, depth: number): string {
    return tomlKey(this.#whole(name, depth));
  }

  #whole(text: string, depth: number): string {
    if (!text.isWellFormed()) throw this.#refusal("half a surrogate pair", depth);
    return text;
  }

  /** What stands for an object: a text for bytes, whatever `toJSON` gives in the end, mostly itself. */
  #resolved(value: object, key: string, depth: number): unknown {
    let object = value;
    for (let step = 0; step <= this.#maxDepth; step++) {
      const kind = objectKind(object);
      if (kind === "bytes") return encodeBase64(bytesOf(object as ArrayBufferView));
      if (kind === "opaque") throw this.#refusal(`an instance of ${classOf(object)}`, depth);
      if (kind !== "replaced") return object;
      const replacement = (object as { toJSON(key: string): unknown }).toJSON(key);
      if (typeof replacement !== "object" || replacement === null) return replacement;
      object = replacement;
    }
    throw this.#tooDeep(depth);
  }

  #deeper(left: number, depth: number): number {
    if (left > 0) return left - 1;
    throw this.#tooDeep(depth);
  }

  #tooDeep(depth: number): EncodeError {
    return new EncodeError(
      `Cannot write the payload as TOML: it is nested too deeply at ${placeOf(this.#trail, depth)}`,
    );
  }

  #refusal(found: string, depth: number): EncodeError {
    return new EncodeError(`Cannot write the payload as TOML: found ${found} at ${placeOf(this.#trail, depth)}`);
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Whether a list is one of tables alone, which has a form of its own. */
function isTables(value: unknown): value is readonly Table[] {
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => typeof item === "object" && item !== null && objectKind(item) === "record");
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return value instanceof Date ? "a Date" : typeof value;
}
