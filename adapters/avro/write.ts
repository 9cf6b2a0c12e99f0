/**
 * How a value of a schema is written. What the schema has no place for is refused: nothing is rounded, left out or made up.
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import type { ByteWriter } from "./byte_writer.ts";
import { defaultBytes } from "./default_value.ts";
import { Fault, within } from "./fault.ts";
import { converterOf, type LogicalTypes } from "./logical_type.ts";
import { minimumSize } from "./minimum_size.ts";
import { primitiveWriter } from "./primitive_writer.ts";
import type { ArrayType, AvroType, EnumType, Field, FixedType, MapType, PrimitiveType, RecordType } from "./schema.ts";
import { unionWriter } from "./union_writer.ts";
import { bytesIn, isEntries, type Writer } from "./writer.ts";

/** Makes writers of schemas; each record has one, however often it is mentioned. */
export class Writers {
  readonly #logicalTypes: LogicalTypes;
  readonly #records = new Map<RecordType, Writer>();

  /** Takes values of the logical types as they convert them; everything else is raw. */
  constructor(logicalTypes: LogicalTypes) {
    this.#logicalTypes = logicalTypes;
  }

  /** What writes a value of this schema. */
  of(type: AvroType): Writer {
    switch (type.kind) {
      case "array":
        return arrayWriter(type, this.of(type.items));
      case "map":
        return mapWriter(type, this.of(type.values));
      case "union":
        return unionWriter(type, type.branches.map((branch) => this.of(branch)));
      case "enum":
        return enumWriter(type);
      case "record":
        return this.#record(type);
      default:
        return this.#converted(type, type.kind === "fixed" ? fixedWriter(type) : primitiveWriter(type.kind));
    }
  }

  #record(type: RecordType): Writer {
    const known = this.#records.get(type);
    if (known !== undefined) return known;
    const members: Member[] = [];
    const writer = recordWriter(members);
    // A record may mention itself, so its members come when it is known.
    this.#records.set(type, writer);
    for (const field of type.fields) members.push(memberOf(field, this.of(field.type)));
    return writer;
  }

  #converted(type: PrimitiveType | FixedType, raw: Writer): Writer {
    const { logical } = type;
    const converter = converterOf(this.#logicalTypes, logical);
    if (logical === undefined || converter === undefined) return raw;
    const rawOf = (value: unknown): unknown => {
      try {
        return converter.write(value, logical);
      } catch {
        // Its words may quote the value.
        return undefined;
      }
    };
    return {
      may: (value) => rawOf(value) !== undefined,
      fits: (value, depth) => {
        const made = rawOf(value);
        return made !== undefined && raw.fits(made, depth);
      },
      write: (value, into) => {
        const made = rawOf(value);
        if (made === undefined) {
          throw new Fault(`it is no value of logical type ${logical.name}, found ${describeKind(value)}`);
        }
        raw.write(made, into);
      },
    };
  }
}

function enumWriter({ symbols }: EnumType): Writer {
  const indexes = new Map(symbols.map((symbol, index) => [symbol, index]));
  return {
    may: (value) => typeof value === "string",
    fits: (value) => indexes.has(value as string),
    write: (value, into) => {
      const index = indexes.get(value as string);
      if (index === undefined) throw new Fault(`it must be one of the symbols, found ${otherText(value)}`);
      into.whole(index);
    },
  };
}

function fixedWriter({ size }: FixedType): Writer {
  return {
    may: (value) => bytesIn(value) !== undefined,
    fits: (value) => bytesIn(value)?.byteLength === size,
    write: (value, into) => {
      const bytes = bytesIn(value);
      if (bytes?.byteLength !== size) {
        throw new Fault(`it must be ${size} bytes, found ${bytes?.byteLength ?? describeKind(value)}`);
      }
      into.fixed(bytes);
    },
  };
}

function arrayWriter({ items }: ArrayType, item: Writer): Writer {
  const itemSize = minimumSize(items);
  return {
    may: Array.isArray,
    fits: (value, depth) => Array.isArray(value) && depth > 0 && all(value, (one) => item.fits(one, depth - 1)),
    write: (value, into) => {
      if (!Array.isArray(value)) throw new Fault(`it must be an array, found ${describeKind(value)}`);
      into.enter();
      if (value.length > 0) into.blockCount(value.length, itemSize);
      let index = 0;
      try {
        for (; index < value.length; index++) item.write(value[index], into);
      } catch (error) {
        throw within(error, `item ${index}`);
      }
      into.whole(0);
      into.leave();
    },
  };
}

/** A hole in an array is an item as well. */
function all(items: readonly unknown[], test: (item: unknown) => boolean): boolean {
  for (let index = 0; index < items.length; index++) if (!test(items[index])) return false;
  return true;
}

function mapWriter({ values }: MapType, value: Writer): Writer {
  const entrySize = 1 + minimumSize(values);
  return {
    may: isEntries,
    fits: (object, depth) =>
      isEntries(object) && depth > 0 &&
      Object.keys(object).every((key) =>
        key.isWellFormed() && (object[key] === undefined || value.fits(object[key], depth - 1))
      ),
    write: (object, into) => {
      if (!isEntries(object)) throw new Fault(`it must be an object with entries, found ${describeKind(object)}`);
      const keys = Object.keys(object).filter((key) => object[key] !== undefined);
      into.enter();
      if (keys.length > 0) into.blockCount(keys.length, entrySize);
      for (const [position, key] of keys.entries()) {
        try {
          if (!key.isWellFormed()) throw new Fault("its key must be text without half a surrogate pair");
          into.text(key);
          value.write(object[key], into);
        } catch (error) {
          throw within(error, `entry ${position}`);
        }
      }
      into.whole(0);
      into.leave();
    },
  };
}

/** A field, as it is written. */
interface Member {
  readonly name: string;
  readonly writer: Writer;
  /** What stands for a member that is not there; undefined: it has to be. */
  readonly otherwise: Uint8Array | undefined;
  /** Every object has something of this name. */
  readonly isInherited: boolean;
}

function memberOf({ name, type, otherwise }: Field, writer: Writer): Member {
  const bytes = otherwise === undefined ? undefined : defaultBytes(type, otherwise.json);
  return { name, writer, otherwise: bytes, isInherited: name in Object.prototype };
}

type Entries = Readonly<Record<string, unknown>>;

function recordWriter(members: readonly Member[]): Writer {
  return {
    may: isEntries,
    fits: (value, depth) => {
      if (!isEntries(value) || depth === 0) return false;
      const fitting = members.every((member) => {
        const part = partOf(value, member);
        return part === undefined ? member.otherwise !== undefined : member.writer.fits(part, depth - 1);
      });
      return fitting && unknownMember(value, members) === undefined;
    },
    write: (value, into) => {
      if (!isEntries(value)) throw new Fault(`it must be an object with members, found ${describeKind(value)}`);
      into.enter();
      const written = writeMembers(value, members, into);
      // A member without a place would be lost: count first, and look only where there are more than were written.
      if (countOf(value) > written) assertKnown(value, members);
      into.leave();
    },
  };
}

/** Writes every field, and says how many of them the object had itself. */
function writeMembers(value: Entries, members: readonly Member[], into: ByteWriter): number {
  let written = 0;
  let at = 0;
  try {
    for (; at < members.length; at++) {
      const member = members[at] as Member;
      const part = partOf(value, member);
      if (part !== undefined) {
        member.writer.write(part, into);
        written++;
      } else if (member.otherwise !== undefined) into.fixed(member.otherwise);
      else throw new Fault("it must be there: the field has no default");
    }
  } catch (error) {
    throw within(error, `${members[at]?.name}`);
  }
  return written;
}

function partOf(value: Entries, { name, isInherited }: Member): unknown {
  return isInherited && !Object.hasOwn(value, name) ? undefined : value[name];
}

function countOf(value: Entries): number {
  let count = 0;
  for (const _ in value) count++;
  return count;
}

function assertKnown(value: Entries, members: readonly Member[]): void {
  const unknown = unknownMember(value, members);
  if (unknown !== undefined) {
    throw new Fault(`the schema has no field for member ${unknown} of the object, counted from 0`);
  }
}

function unknownMember(value: Entries, members: readonly Member[]): number | undefined {
  const at = Object.keys(value).findIndex((name) =>
    value[name] !== undefined && !members.some((member) => member.name === name)
  );
  return at < 0 ? undefined : at;
}

function otherText(value: unknown): string {
  return typeof value === "string" ? "another text" : describeKind(value);
}
