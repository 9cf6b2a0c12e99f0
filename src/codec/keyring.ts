/**
 * Keys for sealing and opening, by name (contract codecs 2.9).
 *
 * @module
 */

import { assertOptions, describeKind, type OptionKinds } from "../internal/option_kinds.ts";
import { EncryptionKey } from "./encryption_key.ts";

/**
 * Where keys come from: {@linkcode keyring}, or an object of your own that asks a vault. Asked for each message; what it throws while
 * the vault is away has the message retried, not parked.
 */
export interface Keyring {
  /** The key to seal with now. */
  current(): EncryptionKey | Promise<EncryptionKey>;
  /** The key of that name; undefined when there is none, and there will be none. */
  keyFor(id: string): EncryptionKey | undefined | Promise<EncryptionKey | undefined>;
  /** The names of all keys, for an error's text. @default {undefined: they are not told} */
  ids?(): readonly string[];
}

/** What {@linkcode keyring} is made of. */
export interface KeyringOptions {
  /** The name of the key to seal with. */
  readonly current: string;
  /** The keys by their names: this one, and those of what may still wait in a queue. 16, 24 or 32 bytes each. */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

const KINDS: Readonly<OptionKinds<KeyringOptions>> = { current: "checked", keys: "checked" };

/**
 * A keyring in memory. To change the key, first have every process hold the new one, then have it be the current one everywhere, and
 * take the old one away when no queue holds a message it sealed, the dead letters included.
 *
 * Nonces are random, so one key is good for some four thousand million messages; a key a year is more than enough for most.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { keyFromBase64, keyring } from "@acemq/amqp/core";
 *
 * const keys = keyring({
 *   current: "2026-01",
 *   keys: {
 *     "2026-01": keyFromBase64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
 *     "2025-07": keyFromBase64("HxwdGhsYGRYXFBUSExAREA4PDA0KCwgJBgcEBQIDAAE="),
 *   },
 * });
 * assert.equal((await keys.current()).id, "2026-01");
 * ```
 *
 * @throws {TypeError} a key that is no bytes, a name that is no text, an option that there is not
 * @throws {RangeError} a name or a key of the wrong length, or no key of the current name
 */
export function keyring(options: KeyringOptions): Keyring {
  assertOptions("a keyring", options, KINDS);
  const { current: name, keys } = options;
  if (typeof keys !== "object" || keys === null) {
    throw new TypeError(`Cannot make a keyring: option 'keys' must be an object of keys, found ${describeKind(keys)}`);
  }
  const held = new Map(Object.entries(keys).map(([id, bytes]) => [id, new EncryptionKey(id, bytes)]));
  const ids = (): readonly string[] => [...held.keys()];
  const current = held.get(name);
  if (current === undefined) {
    throw new RangeError(
      `Cannot make a keyring: option 'current' must name one of its keys, ${quoted(ids())}; found ${
        typeof name === "string" ? JSON.stringify(name) : describeKind(name)
      }`,
    );
  }
  return { current: () => current, keyFor: (id) => held.get(id), ids };
}

/** Names for an error's text. */
export function quoted(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.map((name) => JSON.stringify(name)).join(", ");
}
