/**
 * Arbitrary Avro schemas, each with a value of it.
 *
 * @module
 */
import fc from "fast-check";

/** A schema as text, and a value that it holds. */
export interface Typed {
  readonly schema: string;
  readonly value: unknown;
}

/** A schema as JSON, and a value of it. */
interface Pair {
  readonly json: unknown;
  readonly value: unknown;
}

/** What may come. */
export interface TypedOptions {
  /** Whether there are unions. @default {true} */
  readonly unions?: boolean;
}

const LONG = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
).map((value) => Object.is(value, -0) ? 0 : value);

const PRIMITIVES: readonly (readonly [string, fc.Arbitrary<unknown>])[] = [
  ["null", fc.constant(null)],
  ["boolean", fc.boolean()],
  ["int", fc.integer()],
  ["long", LONG],
  ["float", fc.float()],
  ["double", fc.double()],
  ["string", fc.string({ unit: "grapheme" })],
  ["bytes", fc.uint8Array({ maxLength: 20 })],
];

/** Arbitrary schemas with values. */
export function typed({ unions = true }: TypedOptions = {}): fc.Arbitrary<Typed> {
  const primitive = fc.oneof(
    ...PRIMITIVES.map(([json, values]) => values.map((value): Pair => ({ json, value }))),
  );
  const { pair } = fc.letrec<{ pair: Pair }>((tie) => ({
    pair: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      primitive,
      fc.uint8Array({ minLength: 2, maxLength: 2 }).map((value) => ({
        json: { type: "fixed", name: "F", size: 2 },
        value,
      })),
      fc.constantFrom("A", "B", "C").map((value) => ({
        json: { type: "enum", name: "E", symbols: ["A", "B", "C"] },
        value,
      })),
      tie("pair").chain(({ json, value }) =>
        fc.nat({ max: 3 }).map((count) => ({
          json: { type: "array", items: json },
          value: Array.from({ length: count }, () => value),
        }))
      ),
      tie("pair").chain(({ json, value }) =>
        fc.uniqueArray(fc.oneof(fc.string(), fc.constant("__proto__"), fc.constant("constructor")), { maxLength: 3 })
          .map((keys) => ({
            json: { type: "map", values: json },
            value: ownMembers(keys.map((key) => [key, value])),
          }))
      ),
      fc.array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "toString", "_9"), tie("pair")), { maxLength: 4 }).map(
        recordOf,
      ),
      ...unions ? [fc.array(tie("pair"), { minLength: 1, maxLength: 3 }).chain(unionOf)] : [],
    ),
  }));
  return pair.map(({ json, value }) => ({ schema: JSON.stringify(named(json, { count: 0 })), value }));
}

/** The JSON of a schema's text. */
export function parsed(schema: string): unknown {
  return JSON.parse(schema);
}

function recordOf(members: readonly (readonly [string, Pair])[]): Pair {
  const unique = members.filter(([name], index) => members.findIndex(([other]) => other === name) === index);
  return {
    json: { type: "record", name: "R", fields: unique.map(([name, { json }]) => ({ name, type: json })) },
    value: ownMembers(unique.map(([name, { value }]) => [name, value])),
  };
}

/** A union has no union within it, and no kind twice unless it has a name. */
function unionOf(pairs: readonly Pair[]): fc.Arbitrary<Pair> {
  const flat = pairs.flatMap(({ json, value }) => Array.isArray(json) ? [] : [{ json, value }]);
  const branches = flat.filter(({ json }, index) =>
    flat.findIndex((other) => kindOf(other.json) === kindOf(json)) === index
  );
  if (branches.length === 0) return fc.constant({ json: ["null"], value: null });
  return fc.constantFrom(...branches).map(({ value }) => ({ json: branches.map(({ json }) => json), value }));
}

function kindOf(json: unknown): unknown {
  return typeof json === "object" && json !== null ? (json as { readonly type: unknown }).type : json;
}

function ownMembers(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

/** Every named type gets a name of its own, told by where it stands, so that two schemas of one shape have the same names. */
function named(json: unknown, counter: { count: number }): unknown {
  if (Array.isArray(json)) return json.map((one) => named(one, counter));
  if (typeof json !== "object" || json === null) return json;
  const copy: Record<string, unknown> = { ...json };
  if (typeof copy["name"] === "string" && copy["type"] !== undefined && /^[FER]$/.test(copy["name"])) {
    copy["name"] = `${copy["name"]}${counter.count++}`;
  }
  for (const part of ["items", "values"]) if (part in copy) copy[part] = named(copy[part], counter);
  if (Array.isArray(copy["fields"])) {
    copy["fields"] = (copy["fields"] as { readonly name: string; readonly type: unknown }[]).map(({ name, type }) => ({
      name,
      type: named(type, counter),
    }));
  }
  return copy;
}
