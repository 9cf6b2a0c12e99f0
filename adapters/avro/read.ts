/**
 * How a value of a schema is read from bytes in the shape they were written in.
 *
 * A schema becomes functions once; nothing is generated as text, so it works where code generation is off.
 *
 * @module
 */

import type { ByteReader } from "./byte_reader.ts";
import { within } from "./fault.ts";
import { converterOf, type LogicalTypes } from "./logical_type.ts";
import { minimumSize } from "./minimum_size.ts";
import type {
  ArrayType,
  AvroType,
  EnumType,
  FixedType,
  MapType,
  PrimitiveType,
  RecordType,
  UnionType,
} from "./schema.ts";

/** Reads one value. */
export type Read = (from: ByteReader) => unknown;

/** A member of a record, and what reads it. */
interface Member {
  readonly name: string;
  readonly read: Read;
}

/** Makes readers of schemas; each record has one, however often it is mentioned. */
export class Readers {
  readonly #logicalTypes: LogicalTypes;
  readonly #records = new Map<RecordType, Read>();

  /** Converts what the logical types are of; everything else is raw. */
  constructor(logicalTypes: LogicalTypes) {
    this.#logicalTypes = logicalTypes;
  }

  /** What reads a value of this schema. */
  of(type: AvroType): Read {
    switch (type.kind) {
      case "array":
        return this.#array(type);
      case "map":
        return this.#map(type);
      case "union":
        return this.#union(type);
      case "enum":
        return readEnum(type);
      case "record":
        return this.#record(type);
      default:
        return this.converted(type, type.kind === "fixed" ? readFixed(type) : PRIMITIVES[type.kind]);
    }
  }

  /** A reader with the conversion of the type's logical type behind it, where there is one. */
  converted(type: PrimitiveType | FixedType, read: Read): Read {
    const { logical } = type;
    const converter = converterOf(this.#logicalTypes, logical);
    if (logical === undefined || converter === undefined) return read;
    return (from) => converter.read(read(from), logical);
  }

  #array({ items }: ArrayType): Read {
    return readItems(this.of(items), minimumSize(items));
  }

  #map({ values }: MapType): Read {
    return readEntries(this.of(values), 1 + minimumSize(values));
  }

  #union({ branches }: UnionType): Read {
    const reads = branches.map((branch) => this.of(branch));
    return (from) => (reads[from.index(reads.length, "branch of a union")] as Read)(from);
  }

  #record(type: RecordType): Read {
    const known = this.#records.get(type);
    if (known !== undefined) return known;
    let read: Read = PRIMITIVES.null;
    // A record may mention itself: then it is read by what this becomes.
    this.#records.set(type, (from) => read(from));
    read = readMembers(type.fields.map((field) => ({ name: field.name, read: this.of(field.type) })));
    this.#records.set(type, read);
    return read;
  }
}

/** Primitive values as they are. */
export const PRIMITIVES: Readonly<Record<PrimitiveType["kind"], Read>> = {
  null: () => null,
  boolean: (from) => from.boolean(),
  int: (from) => from.int(),
  long: (from) => from.long(),
  float: (from) => from.float(),
  double: (from) => from.double(),
  string: (from) => from.text(),
  bytes: (from) => from.byteString(),
};

function readFixed({ size }: FixedType): Read {
  return (from) => from.fixed(size);
}

function readEnum({ symbols }: EnumType): Read {
  return (from) => symbols[from.index(symbols.length, "symbol of an enum")];
}

/** A list whose items take at least so many bytes each. */
export function readItems(read: Read, itemSize: number): Read {
  return (from) => {
    const items: unknown[] = [];
    from.enter();
    try {
      for (let count = from.blockCount(itemSize); count !== 0; count = from.blockCount(itemSize)) {
        const end = from.blockEnd;
        for (; count > 0; count--) items.push(read(from));
        from.endBlock(end);
      }
    } catch (error) {
      throw within(error, `item ${items.length}`);
    }
    from.leave();
    return items;
  };
}

/** A map whose entries take at least so many bytes each. */
export function readEntries(read: Read, entrySize: number): Read {
  return (from) => {
    const object: Record<string, unknown> = {};
    let position = 0;
    from.enter();
    try {
      for (let count = from.blockCount(entrySize); count !== 0; count = from.blockCount(entrySize)) {
        const end = from.blockEnd;
        for (; count > 0; count--, position++) setOwn(object, from.text(), read(from));
        from.endBlock(end);
      }
    } catch (error) {
      throw within(error, `entry ${position}`);
    }
    from.leave();
    return object;
  };
}

/** A record with these members, in this order. */
export function readMembers(members: readonly Member[]): Read {
  const names = members.map(({ name }) => name);
  const reads = members.map(({ read }) => read);
  const isPlain = !names.includes("__proto__");
  return (from) => {
    const object: Record<string, unknown> = {};
    let at = 0;
    from.enter();
    try {
      for (; at < reads.length; at++) {
        const value = (reads[at] as Read)(from);
        if (isPlain) object[names[at] as string] = value;
        else setOwn(object, names[at] as string, value);
      }
    } catch (error) {
      throw within(error, `${names[at]}`);
    }
    from.leave();
    return object;
  };
}

/** A member of its own, also under the one name that would set the prototype. */
export function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
