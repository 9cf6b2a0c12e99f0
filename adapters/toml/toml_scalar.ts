/**
 * Texts, numbers and instants as TOML values, and names as its keys (contract codecs 2.6).
 *
 * @module
 */

const BARE_KEY = /^[A-Za-z0-9_-]+$/;

/** A name as a key: bare where TOML allows it. */
export function tomlKey(name: string): string {
  return BARE_KEY.test(name) ? name : tomlString(name);
}

/** Text as a basic string, on one line. JSON's escapes are TOML's, but for DEL, which JSON leaves as it is. */
export function tomlString(text: string): string {
  const quoted = JSON.stringify(text);
  return quoted.includes("\u007f") ? quoted.replaceAll("\u007f", "\\u007f") : quoted;
}

/**
 * A number as an integer or a float. One beyond 2^53 is written as the float it is: as bare digits it would be read as an integer,
 * which this number does not claim to be exactly, and which may have more than 64 bits.
 */
export function tomlNumber(value: number): string {
  if (Number.isSafeInteger(value) && value !== 0) return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return value === 0 || /[.e]/.test(text) ? text : `${text}.0`;
}

/** Whether a TOML integer, which has 64 bits, can hold the value. */
export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** An instant as an offset date-time; undefined for one that has none: an invalid Date, and years without four digits. */
export function offsetDateTime(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString();
  return text.length === 24 ? text : undefined;
}
