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

/** Where a value stands, and how many levels it may have. */
interface Place {
  readonly depth: number;
  readonly left: number;
}

/** A table or a list of tables, which comes after the values of the table it belongs to. */
interface Section {
  readonly name: string;
  readonly position: number;
  readonly content: Table | readonly Table[];
  readonly left: number;
}

class Writer {
  readonly #maxDepth: number;
  readonly #trail: Trail = [];
  #text = "";

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  document(value: unknown): string {
    const [top, left] = this.#resolved(value, { depth: 0, left: this.#maxDepth }, "");
    if (!isTable(top)) {
      throw new EncodeError(`Cannot write the payload as TOML: the top must be a table, found ${nameOf(top)}`);
    }
    this.#table(top, "", { depth: 0, left });
    return this.#text;
  }

  /** The values of a table, then the tables in it. `path` is its own header's, empty at the top. */
  #table(table: Table, path: string, { depth, left }: Place): void {
    const inner = { depth: depth + 1, left: this.#deeper(left, depth) };
    const sections: Section[] = [];
    let position = 0;
    for (const name of Object.keys(table)) {
      this.#trail[depth] = position;
      const member = table[name];
      if (member !== undefined) {
        const key = this.#key(name, inner.depth);
        const [value, innerLeft] = this.#resolved(member, inner, name);
        if (isTable(value)) sections.push({ name: key, position, content: value, left: innerLeft });
        else if (this.#isTables(value)) sections.push({ name: key, position, content: value, left: innerLeft });
        else this.#text += `${key} = ${this.#inline(value, { depth: inner.depth, left: innerLeft })}\n`;
      }
      position++;
    }
    for (const section of sections) this.#section(section, path, depth);
  }

  #section({ name, position, content, left }: Section, path: string, depth: number): void {
    this.#trail[depth] = position;
    const header = path === "" ? name : `${path}.${name}`;
    if (!Array.isArray(content)) {
      this.#header(`[${header}]`);
      return this.#table(content as Table, header, { depth: depth + 1, left });
    }
    const inner = this.#deeper(left, depth + 1);
    content.forEach((item, index) => {
      this.#header(`[[${header}]]`);
      this.#trail[depth + 1] = ~index;
      this.#table(item, header, { depth: depth + 2, left: inner });
    });
  }

  #header(text: string): void {
    this.#text += this.#text === "" ? `${text}\n` : `\n${text}\n`;
  }

  /** A value on one line. */
  #inline(value: unknown, place: Place): string {
    const { depth, left } = place;
    if (Array.isArray(value)) {
      const inner = this.#deeper(left, depth);
      const items = Array.from(value, (item: unknown, index) => {
        this.#trail[depth] = ~index;
        return this.#member(item, { depth: depth + 1, left: inner }, String(index));
      });
      return `[${items.join(", ")}]`;
    }
    return isTable(value) ? this.#inlineTable(value, place) : this.#scalar(value, depth);
  }

  #inlineTable(table: Table, { depth, left }: Place): string {
    const inner = this.#deeper(left, depth);
    const members: string[] = [];
    Object.keys(table).forEach((name, position) => {
      if (table[name] === undefined) return;
      this.#trail[depth] = position;
      const key = this.#key(name, depth + 1);
      members.push(`${key} = ${this.#member(table[name], { depth: depth + 1, left: inner }, name)}`);
    });
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }

  #member(value: unknown, place: Place, key: string): string {
    const [resolved, left] = this.#resolved(value, place, key);
    return this.#inline(resolved, { depth: place.depth, left });
  }

  #scalar(value: unknown, depth: number): string {
    switch (typeof value) {
      case "string":
        return tomlString(this.#whole(value, depth));
      case "number":
        return tomlNumber(value);
      case "boolean":
        return String(value);
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

  /** What stands for a value: a text for bytes, whatever `toJSON` gives; each of those costs a level. */
  #resolved(value: unknown, { depth, left }: Place, key: string): [value: unknown, left: number] {
    if (typeof value !== "object" || value === null) return [value, left];
    switch (objectKind(value)) {
      case "bytes":
        return [encodeBase64(bytesOf(value as ArrayBufferView)), left];
      case "opaque":
        throw this.#refusal(`an instance of ${classOf(value)}`, depth);
      case "replaced": {
        const inner = this.#deeper(left, depth);
        return this.#resolved((value as { toJSON(key: string): unknown }).toJSON(key), { depth, left: inner }, key);
      }
      default:
        return [value, left];
    }
  }

  /** Whether a list is one of tables alone, which has a form of its own. */
  #isTables(value: unknown): value is readonly Table[] {
    return Array.isArray(value) && value.length > 0 && value.every((item) => isTable(item) && isPlain(item));
  }

  #deeper(left: number, depth: number): number {
    if (left > 0) return left - 1;
    throw new EncodeError(
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

/** Whether the members of an object are what is written: nothing stands for it, and nothing is hidden in it. */
function isPlain(value: object): boolean {
  return objectKind(value) === "record";
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return value instanceof Date ? "a Date" : typeof value;
}
