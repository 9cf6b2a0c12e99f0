/**
 * Checks of whole options objects: that there is one, that its members are of their kind, and that each has a name there is.
 *
 * A compiler does the same for whoever has one and writes the object where it is used; an object that comes from a configuration or
 * out of a variable is checked by nobody else.
 *
 * @module
 */

/** What an option must be. `checked`: its own check says more, and makes it. */
export type OptionKind =
  | "text"
  | "boolean"
  | "function"
  | "functions"
  | "object"
  | "record"
  | "list"
  | "signal"
  | "checked";

/** A kind for every option there is, by name. */
export type OptionKinds<Options> = Record<keyof Options & string, OptionKind>;

const SIGNAL_KINDS: Readonly<OptionKinds<{ readonly signal?: AbortSignal }>> = { signal: "signal" };

const WANTED: Readonly<Record<Exclude<OptionKind, "checked">, string>> = {
  text: "text",
  boolean: "true or false",
  function: "a function",
  functions: "an array of functions",
  object: "an object",
  record: "a plain object",
  list: "an array",
  signal: "an AbortSignal",
};

/**
 * Throws a `TypeError` unless `options` is an object whose members are of their kinds and have a name in `kinds`. A member that is
 * `undefined` is not there.
 */
export function assertOptions<Options>(of: string, options: unknown, kinds: Readonly<OptionKinds<Options>>): void {
  assertKinds(of, options, kinds);
  for (const name of Object.keys(options as object)) {
    if (Object.hasOwn(kinds, name) || (options as Readonly<Record<string, unknown>>)[name] === undefined) continue;
    throw new TypeError(
      `Cannot use option '${name.slice(0, 40)}': ${of} has ${Object.keys(kinds).join(", ")}, and none of that name`,
    );
  }
}

/** Throws a `TypeError` unless `options` is an object whose members are of their kinds; other names are left alone. */
export function assertKinds<Options>(of: string, options: unknown, kinds: Readonly<OptionKinds<Options>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`Cannot use the options of ${of}: they must be an object, found ${describeKind(options)}`);
  }
  for (const name of Object.keys(options)) {
    const kind = Object.hasOwn(kinds, name) ? (kinds as Readonly<Record<string, OptionKind>>)[name] : undefined;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (kind === undefined || kind === "checked" || value === undefined || isOfKind(value, kind)) continue;
    throw new TypeError(`Cannot use option '${name}': it must be ${WANTED[kind]}, found ${describeKind(value)}`);
  }
}

/** The signal of an object of options that has nothing else; throws as {@linkcode assertOptions}. */
export function signalOf(of: string, options: { readonly signal?: AbortSignal | undefined }): AbortSignal | undefined {
  assertOptions<{ readonly signal?: AbortSignal }>(of, options, SIGNAL_KINDS);
  return options.signal;
}

/** What a value is, and nothing of what it holds. */
export function describeKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}

function isOfKind(value: unknown, kind: Exclude<OptionKind, "checked">): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "function":
      return typeof value === "function";
    case "functions":
      return Array.isArray(value) && value.every((one) => typeof one === "function");
    case "list":
      return Array.isArray(value);
    case "record":
      return isRecord(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "signal":
      return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
  }
}

/** Whether it is a plain object. A `Map` or a fetch `Headers` has no members of its own: everything in it would be left out. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Of another realm, the last prototype is another object.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
