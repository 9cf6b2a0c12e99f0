/**
 * Values as they cross a port.
 *
 * The port copies by structured clone, which knows no class: a double would arrive as a plain object, that is as a table. So
 * tables travel as maps, and a plain object stands for everything else.
 *
 * @module
 */
import {
  ConnectionError,
  type ConnectionErrorCode,
  TopologyError,
  type TopologyErrorCode,
  WireDecimal,
  WireDouble,
  WireNested,
  WireText,
  WireTimestamp,
  WireUnsigned,
} from "@acemq/amqp/core";

/** An instance of a class, or something that cannot be copied at all. */
type Stand =
  | { readonly is: "double"; readonly value: number }
  | { readonly is: "decimal"; readonly scale: number; readonly unscaled: number }
  | { readonly is: "unsigned"; readonly value: bigint }
  | { readonly is: "timestamp"; readonly seconds: bigint }
  | { readonly is: "text"; readonly bytes: Uint8Array }
  | { readonly is: "nested"; readonly kind: "table" | "array"; readonly bytes: Uint8Array }
  | { readonly is: "function" | "symbol" };

/** A copy that structured clone carries over whole. */
export function pack(value: unknown): unknown {
  if (typeof value === "function") return { is: "function" } satisfies Stand;
  if (typeof value === "symbol") return { is: "symbol" } satisfies Stand;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  // A view would take its whole buffer along.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(pack);
  return standFor(value) ?? new Map(Object.entries(value).map(([name, member]) => [name, pack(member)]));
}

/** The value that was packed. What could not be copied arrives as its like, for the broker to refuse in its own words. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, unpack(member)]));
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array) return value;
  return fromStand(value as Stand);
}

function standFor(value: object): Stand | undefined {
  if (value instanceof WireDouble) return { is: "double", value: value.value };
  if (value instanceof WireDecimal) return { is: "decimal", scale: value.scale, unscaled: value.unscaled };
  if (value instanceof WireUnsigned) return { is: "unsigned", value: value.value };
  if (value instanceof WireTimestamp) return { is: "timestamp", seconds: value.seconds };
  if (value instanceof WireText) return { is: "text", bytes: new Uint8Array(value.bytes) };
  if (value instanceof WireNested) return { is: "nested", kind: value.kind, bytes: new Uint8Array(value.bytes) };
  return undefined;
}

function fromStand(stand: Stand): unknown {
  switch (stand.is) {
    case "double":
      return new WireDouble(stand.value);
    case "decimal":
      return new WireDecimal(stand.scale, stand.unscaled);
    case "unsigned":
      return new WireUnsigned(stand.value);
    case "timestamp":
      return new WireTimestamp(stand.seconds);
    case "text":
      return new WireText(stand.bytes);
    case "nested":
      return new WireNested(stand.kind, stand.bytes);
    case "function":
      return () => {};
    case "symbol":
      return Symbol();
  }
}

/** An error as plain values. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly findings?: readonly string[];
}

/** The parts of an error somebody reacts to. */
export function packError(error: unknown): PackedError {
  if (error instanceof TopologyError) {
    return { name: "TopologyError", message: error.message, code: error.code, findings: error.findings };
  }
  if (error instanceof ConnectionError) return { name: "ConnectionError", message: error.message, code: error.code };
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
}

/** The error that was packed, of the class it was of. */
export function unpackError({ name, message, code, findings = [] }: PackedError): Error {
  switch (name) {
    case "TopologyError":
      return new TopologyError(code as TopologyErrorCode, message, { findings });
    case "ConnectionError":
      return new ConnectionError(code as ConnectionErrorCode, message);
    case "RangeError":
      return new RangeError(message);
    case "TypeError":
      return new TypeError(message);
    default:
      return new Error(message);
  }
}
