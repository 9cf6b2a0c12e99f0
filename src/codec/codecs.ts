/**
 * Codecs by name (contract codecs 1.5).
 *
 * @module
 */

import { CodecMissingError } from "../errors.ts";
import type { Codec } from "../ports/codec.ts";
import { assertCodec } from "./assert_codec.ts";
import { bytesCodec } from "./bytes.ts";
import { parseContentType } from "./content_type.ts";
import { jsonCodec } from "./json.ts";
import { textCodec } from "./text.ts";

/** The codec names of shared configuration. `string` is `text`; case does not matter. */
export type CodecName = "json" | "text" | "string" | "bytes" | "xml" | "yaml" | "toml";

/** Looks codecs up; made once a connection, from what `connect` was handed. */
export interface CodecCatalog {
  /** Throws a `CodecMissingError` for a name that stands for nothing, and says what would. */
  resolve(choice: CodecName | Codec): Codec;
}

/** Formats that live in an adapter each: the content type that tells them, and the import that brings them. */
const OPTIONAL: Readonly<Record<string, { readonly contentType: string; readonly bring: string }>> = {
  xml: { contentType: "application/xml", bring: 'xmlCodec() from "@acemq/amqp/xml"' },
  yaml: { contentType: "application/yaml", bring: 'yamlCodec() from "@acemq/amqp/yaml"' },
  toml: { contentType: "application/toml", bring: 'tomlCodec() from "@acemq/amqp/toml"' },
};

/** The catalog of `json`, `text`, `bytes` and the codecs handed in. Throws a `TypeError` for one that no name stands for. */
export function codecCatalog(handedIn: readonly Codec[] = []): CodecCatalog {
  const known = new Map<string, Codec>([
    ["json", jsonCodec()],
    ["text", textCodec()],
    ["bytes", bytesCodec()],
  ]);
  for (const codec of handedIn.map(assertCodec)) known.set(nameOf(codec), codec);
  return {
    resolve: (choice) => typeof choice === "string" ? byName(known, choice) : assertCodec(choice),
  };
}

/** A codec without a name would be handed in for nothing: nobody could ask for it. */
function nameOf({ contentType }: Codec): string {
  const essence = parseContentType(contentType)?.essence;
  const name = Object.keys(OPTIONAL).find((one) => OPTIONAL[one]?.contentType === essence);
  if (name !== undefined) return name;
  throw new TypeError(
    `Cannot use option 'codecs': the codec that writes ${contentType} has no name to be asked for by; give it as 'codec'`,
  );
}

function byName(known: ReadonlyMap<string, Codec>, choice: string): Codec {
  const name = choice.toLowerCase() === "string" ? "text" : choice.toLowerCase();
  const codec = known.get(name);
  if (codec !== undefined) return codec;
  const optional = Object.hasOwn(OPTIONAL, name) ? OPTIONAL[name] : undefined;
  if (optional !== undefined) {
    throw new CodecMissingError(`Cannot use codec "${name}": hand ${optional.bring} to connect as one of 'codecs'`);
  }
  throw new CodecMissingError(`Cannot use codec "${choice}": the known names are ${[...known.keys()].join(", ")}`);
}
