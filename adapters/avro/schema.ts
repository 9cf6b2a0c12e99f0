/**
 * An Avro schema as the adapter works with it: names resolved, every mention of a named type the one object (Avro 1.11, "Schema
 * declaration").
 *
 * @module
 */

/** A schema of any kind. */
export type AvroType = PrimitiveType | ArrayType | MapType | UnionType | FixedType | EnumType | RecordType;

/** The kinds without parts. */
export type PrimitiveKind = "null" | "boolean" | "int" | "long" | "float" | "double" | "string" | "bytes";

/** What a `logicalType` says beside its name. */
export interface LogicalType {
  /** The word of the schema. */
  readonly name: string;
  /** Of a decimal: digits in all. */
  readonly precision: number;
  /** Of a decimal: digits behind the point. */
  readonly scale: number;
  /** How many bytes the type underneath has; undefined where it is not `fixed`. */
  readonly size: number | undefined;
}

/** A type without parts. */
export interface PrimitiveType {
  readonly kind: PrimitiveKind;
  readonly logical: LogicalType | undefined;
}

/** A list. */
export interface ArrayType {
  readonly kind: "array";
  readonly items: AvroType;
}

/** Values under text keys. */
export interface MapType {
  readonly kind: "map";
  readonly values: AvroType;
}

/** One of several types. */
export interface UnionType {
  readonly kind: "union";
  readonly branches: readonly AvroType[];
}

/** What a type with a name has. */
interface NamedType {
  /** With its namespace. */
  readonly name: string;
  /** Other names, with their namespaces, that a writer may have used. */
  readonly aliases: readonly string[];
}

/** So many bytes. */
export interface FixedType extends NamedType {
  readonly kind: "fixed";
  readonly size: number;
  readonly logical: LogicalType | undefined;
}

/** One of several words. */
export interface EnumType extends NamedType {
  readonly kind: "enum";
  readonly symbols: readonly string[];
  /** What a reader takes for a word it does not know. */
  readonly otherwise: string | undefined;
}

/** Members in an order. */
export interface RecordType extends NamedType {
  readonly kind: "record";
  /** Filled when the schema has been read: a record may mention itself. */
  readonly fields: readonly Field[];
}

/** A member of a record. */
export interface Field {
  readonly name: string;
  /** Other names that a writer may have used. */
  readonly aliases: readonly string[];
  readonly type: AvroType;
  /** As JSON says it; undefined where there is none. */
  readonly otherwise: { readonly json: unknown } | undefined;
}

/** What a branch of a union is called: its name where it has one, else its kind. */
export function branchName(type: AvroType): string {
  return "name" in type ? type.name : type.kind;
}

/** The name without its namespace: what schemas are compared by. */
export function unqualified(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
