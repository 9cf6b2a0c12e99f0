/**
 * Message types without generated code: from the descriptors that a compiler of another language made, and what their messages say.
 *
 * @module
 */
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  isFieldSet,
  type Message,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** A message type of a `FileDescriptorSet`. */
export function messageTypeOf(descriptorSet: Uint8Array, typeName: string): DescMessage {
  const type = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet)).getMessage(typeName);
  if (type === undefined) throw new Error(`There is no type ${typeName} among the descriptors`);
  return type;
}

/** The fields that are set, 64-bit ones as numbers where those are exact, as the recordings have them. */
export function fieldsOf(type: DescMessage, message: Message): Readonly<Record<string, unknown>> {
  return plain(reflect(type, message));
}

function plain(message: ReflectMessage): Readonly<Record<string, unknown>> {
  const set = message.fields.filter((field) => isFieldSet(message.message, field));
  return Object.fromEntries(set.map((field) => [field.localName, valueOf(field, message.get(field))]));
}

function valueOf(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") return [...value as Iterable<unknown>].map(single);
  if (field.fieldKind === "map") {
    return Object.fromEntries(
      [...value as Iterable<[unknown, unknown]>].map(([key, one]) => [String(key), single(one)]),
    );
  }
  return single(value);
}

function single(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return typeof value === "object" && value !== null && "desc" in value ? plain(value as ReflectMessage) : value;
}
