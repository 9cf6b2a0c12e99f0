/**
 * What of the data of one schema another cannot read, found without any data: for a registry that holds a new version to those that
 * stand.
 *
 * @module
 */

import { fieldSources } from "./field_sources.ts";
import { Fault } from "./fault.ts";
import { parseSchema } from "./parse_schema.ts";
import { promotion } from "./promotion.ts";
import { isSameName } from "./same_name.ts";
import { type AvroType, branchName, type EnumType, type RecordType, type UnionType } from "./schema.ts";

/** One line for each place; empty when everything that `writer` writes can be read with `reader`. Both are JSON. */
export function unreadableParts(reader: string, writer: string): readonly string[] {
  try {
    return new Comparison().parts(parseSchema(writer), parseSchema(reader), "");
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [`one of the two is no Avro schema: ${error.describe()}`];
  }
}

class Comparison {
  /** Pairs of records that were met: one within itself is no further reason. */
  readonly #met = new Map<RecordType, Set<RecordType>>();

  parts(writer: AvroType, reader: AvroType, place: string): readonly string[] {
    if (writer.kind === "union") {
      return writer.branches.flatMap((branch) => this.parts(branch, reader, place));
    }
    if (reader.kind === "union") return this.#toUnion(writer, reader, place);
    if (writer.kind === "array" && reader.kind === "array") {
      return this.parts(writer.items, reader.items, `${place}[]`);
    }
    if (writer.kind === "map" && reader.kind === "map") return this.parts(writer.values, reader.values, `${place}{}`);
    if (writer.kind === "record" && reader.kind === "record") return this.#records(writer, reader, place);
    if (writer.kind === "enum" && reader.kind === "enum") return enumParts(writer, reader, place);
    if (writer.kind === "fixed" && reader.kind === "fixed") {
      return isSameName(writer, reader) && writer.size === reader.size ? [] : [differ(writer, reader, place)];
    }
    return promotion(writer.kind, reader.kind) === undefined ? [differ(writer, reader, place)] : [];
  }

  /** What the reader's closest branch cannot read: any of them that reads everything will do. */
  #toUnion(writer: AvroType, { branches }: UnionType, place: string): readonly string[] {
    const found = branches.map((branch) => this.parts(writer, branch, place));
    if (found.some((parts) => parts.length === 0)) return [];
    const same = branches.findIndex((branch) => branchName(branch) === branchName(writer));
    return found[same] ?? [`${nameOf(place)}: ${branchName(writer)} is none of ${branches.map(branchName).join(", ")}`];
  }

  #records(writer: RecordType, reader: RecordType, place: string): readonly string[] {
    const met = this.#met.get(writer) ?? new Set();
    if (met.has(reader)) return [];
    this.#met.set(writer, met.add(reader));
    if (!isSameName(writer, reader)) return [differ(writer, reader, place)];
    const sources = fieldSources(writer.fields, reader.fields);
    return reader.fields.flatMap((field) => {
      const at = place === "" ? field.name : `${place}.${field.name}`;
      const source = sources.get(field);
      if (source !== undefined) return this.parts(source.type, field.type, at);
      return field.otherwise === undefined ? [`${at}: it is not written, and has no default`] : [];
    });
  }
}

function enumParts(writer: EnumType, reader: EnumType, place: string): readonly string[] {
  if (!isSameName(writer, reader)) return [differ(writer, reader, place)];
  const missing = writer.symbols.filter((symbol) => !reader.symbols.includes(symbol));
  if (missing.length === 0 || reader.otherwise !== undefined) return [];
  return [`${nameOf(place)}: the enum lacks ${missing.join(", ")}, and has no default`];
}

function differ(writer: AvroType, reader: AvroType, place: string): string {
  return `${nameOf(place)}: ${branchName(writer)} cannot be read as ${branchName(reader)}`;
}

function nameOf(place: string): string {
  return place === "" ? "the schema" : place;
}
