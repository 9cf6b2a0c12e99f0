/**
 * A value as an XML document without a declaration, namespaces, attributes or indentation (contract codecs 2.4).
 *
 * @module
 */

import { EncodeError } from "../../src/errors.ts";
import { encodeBase64 } from "../../src/internal/base64.ts";
import { bytesOf, classOf, objectKind, placeOf, type Trail } from "../../src/internal/payload_value.ts";
import { isWritable } from "./xml_name.ts";

/** How a document is written. */
export interface XmlWriterOptions {
  readonly root: string;
  readonly lists: "repeated" | "wrapped";
  readonly maxDepth: number;
}

/** The XML text of a value. */
export function xmlText(value: unknown, options: XmlWriterOptions): string {
  return new Writer(options).document(value);
}

/** Where a value stands, how many levels it may have, and whether it is the item of a list. */
interface Place {
  readonly depth: number;
  readonly left: number;
  readonly isItem: boolean;
}

class Writer {
  readonly #options: XmlWriterOptions;
  readonly #trail: Trail = [];
  #text = "";

  constructor(options: XmlWriterOptions) {
    this.#options = options;
  }

  document(value: unknown): string {
    const { root, maxDepth } = this.#options;
    const top = { depth: 0, left: maxDepth, isItem: false };
    const kind = typeof value === "object" && value !== null ? objectKind(value) : undefined;
    if (kind === "replaced") return this.#replaced(value as object, "", top, (inner) => this.document(inner));
    if (kind === "opaque") throw this.#refusal(`an instance of ${classOf(value as object)}`, 0);
    if (kind !== "record") {
      const found = kind === "list" ? "a list" : value === null ? "null" : kind ?? typeof value;
      throw new EncodeError(`Cannot write the payload as XML: the top must be an object, found ${found}`);
    }
    this.#element(root, value, top);
    return this.#text;
  }

  /** One element, or as many as a list has items. */
  #element(name: string, value: unknown, place: Place): void {
    if (typeof value !== "object") return this.#leaf(name, this.#scalarText(value, place.depth));
    if (value === null) {
      this.#text += `<${name}/>`;
      return;
    }
    const kind = objectKind(value);
    switch (kind) {
      case "date":
        return this.#leaf(name, this.#dateText(value as Date, place.depth));
      case "bytes":
        return this.#leaf(name, encodeBase64(bytesOf(value as ArrayBufferView)));
      case "opaque":
        throw this.#refusal(`an instance of ${classOf(value)}`, place.depth);
      case "replaced":
        return this.#replaced(value, name, place, (inner, at) => this.#element(name, inner, at));
      case "list":
        return this.#list(name, value as readonly unknown[], place);
      case "record":
        return this.#record(name, value as Readonly<Record<string, unknown>>, place);
    }
  }

  #replaced<Result>(value: object, key: string, place: Place, next: (inner: unknown, place: Place) => Result): Result {
    const left = this.#deeper(place);
    return next((value as { toJSON(key: string): unknown }).toJSON(key), { ...place, left });
  }

  #record(name: string, record: Readonly<Record<string, unknown>>, place: Place): void {
    const inner = { depth: place.depth + 1, left: this.#deeper(place), isItem: false };
    this.#text += `<${name}>`;
    let position = 0;
    for (const member of Object.keys(record)) {
      this.#trail[place.depth] = position++;
      const value = record[member];
      if (value === undefined) continue;
      if (!isWritable(member)) throw this.#refusal("a name that no element can have", inner.depth);
      this.#element(member, value, inner);
    }
    this.#text += `</${name}>`;
  }

  #list(name: string, list: readonly unknown[], place: Place): void {
    if (place.isItem) throw this.#refusal("a list in a list", place.depth);
    if (list.length === 0) return;
    const isWrapped = this.#options.lists === "wrapped";
    const inner = { depth: place.depth + 1, left: this.#deeper(place), isItem: true };
    if (isWrapped) this.#text += `<${name}>`;
    for (let index = 0; index < list.length; index++) {
      this.#trail[place.depth] = ~index;
      this.#element(name, list[index], inner);
    }
    if (isWrapped) this.#text += `</${name}>`;
  }

  #leaf(name: string, text: string): void {
    this.#text += `<${name}>${text}</${name}>`;
  }

  #scalarText(value: unknown, depth: number): string {
    switch (typeof value) {
      case "string":
        return this.#escaped(value, depth);
      case "number":
        if (!Number.isFinite(value)) throw this.#refusal(String(value), depth);
        return String(value);
      case "boolean":
      case "bigint":
        return String(value);
      default:
        throw this.#refusal(typeof value, depth);
    }
  }

  #escaped(text: string, depth: number): string {
    if (!NOT_AS_IT_IS.test(text)) {
      if (text.isWellFormed()) return text;
      throw this.#refusal("half a surrogate pair", depth);
    }
    if (NO_CHARACTER.test(text) || !text.isWellFormed()) {
      throw this.#refusal("a character that XML does not allow", depth);
    }
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\r", "&#13;");
  }

  #dateText(date: Date, depth: number): string {
    if (Number.isNaN(date.getTime())) throw this.#refusal("an invalid Date", depth);
    return date.toISOString();
  }

  #deeper({ depth, left }: Place): number {
    if (left > 0) return left - 1;
    throw new EncodeError(`Cannot write the payload as XML: it is nested too deeply at ${placeOf(this.#trail, depth)}`);
  }

  #refusal(found: string, depth: number): EncodeError {
    return new EncodeError(`Cannot write the payload as XML: found ${found} at ${placeOf(this.#trail, depth)}`);
  }
}

/** A character that is none in XML; halves of surrogate pairs are looked at elsewhere. */
const NO_CHARACTER = /[^\t\n\r\u0020-\ufffd]/;

/** One of those, or one that is written as a reference: a carriage return, `&`, `<` or `>`. */
const NOT_AS_IT_IS = /[^\t\n\u0020-\u0025\u0027-\u003b=\u003f-\ufffd]/;
