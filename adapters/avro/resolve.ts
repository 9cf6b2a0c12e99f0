/**
 * How bytes of one schema are read as values of another (Avro 1.11, "Schema resolution"; contract codecs 2.7).
 *
 * The branch of a union and the symbol of an enum are only known while they are read, so both are decided value by value: a schema
 * that cannot read some branch reads every body without it.
 *
 * @module
 */

import type { ByteReader } from "./byte_reader.ts";
import { fieldSources } from "./field_sources.ts";
import { Fault, ResolutionFault, within } from "./fault.ts";
import type { LogicalTypes } from "./logical_type.ts";
import { defaultReader } from "./default_reader.ts";
import { minimumSize } from "./minimum_size.ts";
import { promotion } from "./promotion.ts";
import { type Read, readEntries, Readers, readItems, setOwn } from "./read.ts";
import { isSameName } from "./same_name.ts";
import type { AvroType, EnumType, FixedType, RecordType, UnionType } from "./schema.ts";
import { branchName } from "./schema.ts";

/** What reads a body that was written with `writer` as values of `reader`; throws a `ResolutionFault` when no body of it can be. */
export function resolve(writer: AvroType, reader: AvroType, logicalTypes: LogicalTypes): Read {
  return new Resolver(logicalTypes).of(writer, reader);
}

class Resolver {
  readonly #readers: Readers;
  /** Pairs of records that were met: one may be within itself. */
  readonly #records = new Map<RecordType, Map<RecordType, Read>>();

  constructor(logicalTypes: LogicalTypes) {
    this.#readers = new Readers(logicalTypes);
  }

  of(writer: AvroType, reader: AvroType): Read {
    if (writer.kind === "union") return this.#fromUnion(writer, reader);
    if (reader.kind === "union") return this.#toUnion(writer, reader);
    if (writer.kind === "array" && reader.kind === "array") {
      return readItems(this.#part(writer.items, reader.items, "items"), minimumSize(writer.items));
    }
    if (writer.kind === "map" && reader.kind === "map") {
      return readEntries(this.#part(writer.values, reader.values, "values"), 1 + minimumSize(writer.values));
    }
    if (writer.kind === "enum" && reader.kind === "enum") return readSymbol(writer, reader);
    if (writer.kind === "fixed" && reader.kind === "fixed") return this.#fixed(writer, reader);
    if (writer.kind === "record" && reader.kind === "record") return this.#record(writer, reader);
    const promoted = promotion(writer.kind, reader.kind);
    if (promoted === undefined || reader.kind === "fixed" || !("logical" in reader)) throw differ(writer, reader);
    return this.#readers.converted(reader, promoted);
  }

  #part(writer: AvroType, reader: AvroType, place: string): Read {
    try {
      return this.of(writer, reader);
    } catch (error) {
      throw within(error, place);
    }
  }

  /** Each branch is resolved for itself, and refused when it is met. */
  #fromUnion({ branches }: UnionType, reader: AvroType): Read {
    const reads = branches.map((branch) => {
      try {
        return this.of(branch, reader);
      } catch (error) {
        return refusing(error);
      }
    });
    return (from) => (reads[from.index(reads.length, "branch of a union")] as Read)(from);
  }

  /** The branch of the same kind if there is one that fits, else the first that the writer's is promoted to. */
  #toUnion(writer: AvroType, { branches }: UnionType): Read {
    const same = branches.filter(({ kind }) => kind === writer.kind);
    for (const branch of [...same, ...branches.filter((one) => !same.includes(one))]) {
      try {
        return this.of(writer, branch);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
      }
    }
    throw new ResolutionFault(`${called(writer)} is none of the reader's ${branches.map(branchName).join(", ")}`);
  }

  #fixed(writer: FixedType, reader: FixedType): Read {
    if (!isSameName(writer, reader)) throw differ(writer, reader);
    if (writer.size !== reader.size) {
      throw new ResolutionFault(`fixed "${writer.name}" has ${writer.size} bytes, the reader's ${reader.size}`);
    }
    return this.#readers.converted(reader, (from) => from.fixed(writer.size));
  }

  #record(writer: RecordType, reader: RecordType): Read {
    const known = this.#records.get(writer)?.get(reader);
    if (known !== undefined) return known;
    const pairs = this.#records.get(writer) ?? new Map<RecordType, Read>();
    this.#records.set(writer, pairs);
    let read: Read = () => null;
    pairs.set(reader, (from) => read(from));
    try {
      read = this.#members(writer, reader);
      return read;
    } catch (error) {
      // Whoever has it from the map meets the refusal where it reads.
      read = refusing(error);
      pairs.delete(reader);
      throw error;
    }
  }

  #members(writer: RecordType, reader: RecordType): Read {
    if (!isSameName(writer, reader)) throw differ(writer, reader);
    const sources = fieldSources(writer.fields, reader.fields);
    const targets = new Map(Array.from(sources, ([target, source]) => [source, target]));
    const written = writer.fields.map((field): Member => {
      const target = targets.get(field);
      if (target === undefined) return { name: undefined, place: field.name, read: this.#readers.of(field.type) };
      return { name: target.name, place: target.name, read: this.#part(field.type, target.type, target.name) };
    });
    const missing = reader.fields.filter((field) => !sources.has(field)).map((field): Member => {
      if (field.otherwise === undefined) {
        throw new ResolutionFault(
          `the writer's "${writer.name}" has no field "${field.name}", and the reader's no default for it`,
        );
      }
      return {
        name: field.name,
        place: field.name,
        read: defaultReader(field.type, field.otherwise.json, this.#readers),
      };
    });
    return readResolved([...written, ...missing]);
  }
}

/** A field of the writer or a default; without a name it is read and left out. */
interface Member {
  readonly name: string | undefined;
  readonly place: string;
  readonly read: Read;
}

function readResolved(members: readonly Member[]): Read {
  return (from) => {
    const object: Record<string, unknown> = {};
    let at = 0;
    from.enter();
    try {
      for (; at < members.length; at++) {
        const { name, read } = members[at] as Member;
        const value = read(from);
        if (name !== undefined) setOwn(object, name, value);
      }
    } catch (error) {
      throw within(error, `${members[at]?.place}`);
    }
    from.leave();
    return object;
  };
}

function readSymbol(writer: EnumType, reader: EnumType): Read {
  if (!isSameName(writer, reader)) throw differ(writer, reader);
  const symbols = writer.symbols.map((symbol) => reader.symbols.includes(symbol) ? symbol : reader.otherwise);
  return (from: ByteReader) => {
    const symbol = symbols[from.index(symbols.length, "symbol of an enum")];
    if (symbol === undefined) {
      throw new ResolutionFault(`the reader's enum "${reader.name}" lacks the symbol and has no default`);
    }
    return symbol;
  };
}

/** Refuses what it is asked to read, for a reason that was found before. */
function refusing(error: unknown): Read {
  if (!(error instanceof Fault)) throw error;
  const reason = error.describe();
  return () => {
    throw new ResolutionFault(reason);
  };
}

function differ(writer: AvroType, reader: AvroType): ResolutionFault {
  return new ResolutionFault(`${called(writer)} cannot be read as ${called(reader)}`);
}

function called(type: AvroType): string {
  return "name" in type ? `${type.kind} "${type.name}"` : type.kind;
}
