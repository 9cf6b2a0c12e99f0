/**
 * Reading JSON where the platform's own reader falls short: integers beyond 2^53, and a limit to nesting.
 *
 * @module
 */

import { DecodeError } from "../errors.ts";

/** Refuses text nested deeper than `limit`: whoever walks the value afterwards recurses. */
export function assertJsonDepth(text: string, limit: number): void {
  // Each level takes an opening and a closing character, so short text needs no look.
  if (text.length < 2 * limit) return;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (++depth > limit) {
        throw new DecodeError(`Cannot read the body as JSON: it is nested deeper than ${limit} levels`);
      }
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--;
  }
}

/** JSON as the platform reads it, but for a number that it would take for an infinity. */
export function parseJson(text: string): unknown {
  return mayBeHuge(text) ? parseJsonNumbers(text, finiteNumber) : parsePlain(text);
}

/** JSON with every integer exact: a `number` where it holds the value, otherwise a `bigint`. */
export function parseJsonExactly(text: string): unknown {
  return LONG_INTEGER.test(text) || mayBeHuge(text) ? parseJsonNumbers(text, exactNumber) : parsePlain(text);
}

/** Makes a value of a number as it is written; `isInteger` says that it has neither a fraction nor an exponent. */
export type NumberReader = (digits: string, isInteger: boolean) => unknown;

/** JSON whose numbers `number` reads, where a `number` of JavaScript says less than what is written. */
export function parseJsonNumbers(text: string, number: NumberReader): unknown {
  return new Reader(text, number).document();
}

function exactNumber(digits: string, isInteger: boolean): number | bigint {
  return isInteger && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : finiteNumber(digits);
}

function finiteNumber(digits: string): number {
  const value = Number(digits);
  if (Number.isFinite(value)) return value;
  throw new DecodeError("Cannot read the body as JSON: a number in it is beyond what a double holds");
}

/** What is beyond a double has an exponent of three digits, or so many digits that one of two is enough: at least these. */
const LONG_EXPONENT = /[eE]\+?\d{3,}(?=[\s,\]}]|$)/;
const MANY_DIGITS = 209;

/** Whether a number in a text may be beyond a double; a look at all of it costs more than reading it. */
function mayBeHuge(text: string): boolean {
  if (LONG_EXPONENT.test(text)) return true;
  // No run of so many digits lies between two places that are looked at.
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    if (isDigit(text, at) && digitsAround(text, at) >= MANY_DIGITS) return true;
  }
  return false;
}

function digitsAround(text: string, at: number): number {
  let from = at;
  let to = at;
  while (isDigit(text, from - 1)) from--;
  while (isDigit(text, to + 1)) to++;
  return to - from + 1;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= ZERO && unit <= NINE;
}

/** Sixteen digits are the least an unsafe integer has. */
const LONG_INTEGER = /\d{16}/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;

/** A recursive-descent reader; the depth was bounded before. Strings are left to `JSON.parse`. */
class Reader {
  readonly #text: string;
  readonly #read: NumberReader;
  readonly #numberHere = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
  readonly #wordHere = /true|false|null/y;
  #at = 0;

  constructor(text: string, read: NumberReader) {
    this.#text = text;
    this.#read = read;
  }

  document(): unknown {
    const value = this.#value();
    if (this.#next() !== undefined) throw notJson();
    return value;
  }

  #value(): unknown {
    switch (this.#next()) {
      case OPEN_OBJECT:
        return this.#object();
      case OPEN_LIST:
        return this.#list();
      case QUOTE:
        return this.#string();
      default:
        return this.#word();
    }
  }

  #object(): unknown {
    const object: Record<string, unknown> = {};
    this.#at++;
    if (this.#skip(CLOSE_OBJECT)) return object;
    do {
      if (this.#next() !== QUOTE) throw notJson();
      const name = this.#string();
      if (!this.#skip(COLON)) throw notJson();
      const value = this.#value();
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    } while (this.#skip(COMMA));
    if (!this.#skip(CLOSE_OBJECT)) throw notJson();
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    if (this.#skip(CLOSE_LIST)) return list;
    do list.push(this.#value()); while (this.#skip(COMMA));
    if (!this.#skip(CLOSE_LIST)) throw notJson();
    return list;
  }

  #string(): string {
    const start = this.#at;
    this.#at = endOfString(this.#text, start) + 1;
    const value = parsePlain(this.#text.slice(start, this.#at));
    if (typeof value !== "string") throw notJson();
    return value;
  }

  #word(): unknown {
    const word = this.#match(this.#wordHere)?.[0];
    if (word === undefined) return this.#number();
    return word === "null" ? null : word === "true";
  }

  #number(): unknown {
    const match = this.#match(this.#numberHere);
    if (match === null) throw notJson();
    const [digits, fraction, exponent] = match;
    return this.#read(digits, fraction === undefined && exponent === undefined);
  }

  /** Matches a sticky pattern here, and passes over what matched. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  /** The next character that is no white space, which is passed over. */
  #next(): number | undefined {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#at < this.#text.length ? this.#text.charCodeAt(this.#at) : undefined;
  }

  #skip(unit: number): boolean {
    if (this.#next() !== unit) return false;
    this.#at++;
    return true;
  }
}

/** The index of the quote that ends the string which begins at `start`; the end of the text when none does. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) return index;
    if (unit === BACKSLASH) index++;
  }
  return text.length;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

function notJson(): DecodeError {
  return new DecodeError("Cannot read the body as JSON: it is not valid JSON");
}
