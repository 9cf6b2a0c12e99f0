/**
 * The default of a field as a value: made anew every time, so that nobody changes another's.
 *
 * @module
 */

import { ByteReader } from "./byte_reader.ts";
import { defaultBytes } from "./default_value.ts";
import type { Read, Readers } from "./read.ts";
import type { AvroType } from "./schema.ts";
import { textReader } from "./utf8.ts";

/** What answers with the default, and reads nothing of the body. */
export function defaultReader(type: AvroType, json: unknown, readers: Readers): Read {
  const bytes = defaultBytes(type, json);
  const readText = textReader();
  const read = readers.of(type);
  return () => {
    const from = new ByteReader(readText);
    from.begin(bytes);
    return read(from);
  };
}
