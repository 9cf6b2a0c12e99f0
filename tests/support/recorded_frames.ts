/**
 * The codec that a recorded frame is read with: what it names, with what it names inside.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { avroCodec, registeredAvroCodec } from "../../adapters/avro/mod.ts";
import { fileClaimCheckStore } from "../../adapters/filesystem/mod.ts";
import { memoryClaimCheckStore } from "../../adapters/memory/mod.ts";
import { xmlCodec } from "../../adapters/xml/mod.ts";
import { bytesCodec } from "../../src/codec/bytes.ts";
import { claimCheckCodec } from "../../src/codec/claim_check.ts";
import { compositeCodec } from "../../src/codec/composite.ts";
import { encryptedCodec } from "../../src/codec/encrypted.ts";
import { EncryptionKey } from "../../src/codec/encryption_key.ts";
import { jsonCodec } from "../../src/codec/json.ts";
import type { Keyring } from "../../src/codec/keyring.ts";
import { textCodec } from "../../src/codec/text.ts";
import { SchemaRegistryError } from "../../src/errors.ts";
import type { ClaimCheckStore } from "../../src/ports/claim_check_store.ts";
import type { Codec } from "../../src/ports/codec.ts";
import type { SchemaRegistry } from "../../src/ports/schema_registry.ts";
import { fingerprint, type SchemaDefinition } from "../../src/schema/definition.ts";
import { bytesOfHex, type FixtureCase, FIXTURES } from "./fixtures.ts";

/** A codec by its name, or a frame with a codec in it. */
export type Inner = string | { readonly frame: string; readonly inner?: Inner };

/** One recorded frame. */
export interface FrameCase extends FixtureCase {
  readonly frame: string;
  readonly content_type: string | null;
  readonly body_hex: string;
  readonly given: {
    readonly inner?: Inner;
    readonly keys?: Readonly<Record<string, string>>;
    readonly currentKey?: string;
    readonly nonceHex?: string;
    readonly plaintextHex?: string;
    readonly composite?: boolean;
    /** A folder of payloads, or the payloads themselves by their keys. */
    readonly store?: string | Readonly<Record<string, Uint8Array>> | null;
    readonly thresholdBytes?: number;
    readonly schemas?: Readonly<Record<string, SchemaDefinition & { readonly subject: string }>>;
    readonly readerSchema?: string | null;
    readonly fixedSchema?: string;
  };
  readonly means: unknown;
}

/** The codec a case is read with. */
export function frameCodec({ frame, given }: FrameCase): Codec {
  const codec = codecOf({ frame, ...given.inner === undefined ? {} : { inner: given.inner } }, given);
  return given.composite === true ? compositeCodec([codec]) : codec;
}

/** The keys of a case, as another language's keyring held them: perhaps none. */
export function recordedKeys({ keys = {}, currentKey }: FrameCase["given"]): Keyring {
  const held = new Map(Object.entries(keys).map(([id, hex]) => [id, new EncryptionKey(id, bytesOfHex(hex))]));
  return {
    current: () => held.get(currentKey ?? "") ?? Promise.reject(new Error("No key is current")),
    keyFor: (id) => held.get(id),
    ids: () => [...held.keys()],
  };
}

function codecOf(inner: Inner, given: FrameCase["given"]): Codec {
  if (typeof inner !== "string" && inner.frame !== "avro-registered") {
    if (inner.frame === "claim-check") {
      const { thresholdBytes = 65_536 } = given;
      return claimCheckCodec(codecOf(inner.inner ?? "json", given), recordedStore(given), { thresholdBytes });
    }
    if (inner.frame !== "encrypted") throw new TypeError(`There is no frame "${inner.frame}"`);
    return encryptedCodec(codecOf(inner.inner ?? "json", given), recordedKeys(given));
  }
  switch (typeof inner === "string" ? inner : inner.frame) {
    case "json":
      return jsonCodec();
    case "text":
      return textCodec() as Codec;
    case "bytes":
      return bytesCodec() as Codec;
    case "xml":
      return xmlCodec();
    case "avro-registered":
      if (given.fixedSchema !== undefined) return avroCodec(given.fixedSchema);
      return registeredAvroCodec(recordedRegistry(given), { readerSchema: given.readerSchema ?? null });
  }
  throw new TypeError(`There is no codec "${String(inner)}"`);
}

/** The payloads another language kept. Nothing is written among them. */
function recordedStore({ store }: FrameCase["given"]): ClaimCheckStore {
  if (typeof store === "string") return fileClaimCheckStore(fileURLToPath(new URL(store, FIXTURES)));
  const payloads = memoryClaimCheckStore();
  return {
    put: (content) => payloads.put(content),
    get: async (key) => {
      const bytes = store?.[key];
      return bytes === undefined ? null : new Blob([new Uint8Array(bytes)]).stream();
    },
    delete: (key) => payloads.delete(key),
  };
}

/** The rows another language's registry held: also what ours would not register. */
function recordedRegistry({ schemas = {} }: FrameCase["given"]): SchemaRegistry {
  const elsewhere = (): Promise<never> => Promise.reject(new TypeError("Not asked of a reader"));
  return {
    byId: async (id) => {
      const schema = schemas[id];
      if (schema === undefined) throw new SchemaRegistryError("ACEMQ_SCHEMA_NOT_FOUND", `Cannot find schema ${id}`);
      const mark = await fingerprint(schema.definition);
      return { ...schema, id, version: 1, fingerprint: mark, registeredAtMs: undefined };
    },
    register: elsewhere,
    latest: elsewhere,
    versions: elsewhere,
    idFor: elsewhere,
    exportSchemas: elsewhere,
    importSchemas: elsewhere,
  };
}
