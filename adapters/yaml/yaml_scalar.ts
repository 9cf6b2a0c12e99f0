/**
 * Texts, numbers and instants as YAML scalars that mean the same by the rules of YAML 1.1 and of YAML 1.2 (contract codecs 2.5).
 *
 * @module
 */

/** What begins with a letter and has nothing in it that is an indicator, a digit's neighbour or a blank at the end. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_ ./@+-]*$/;

/** Letters alone that one of the families takes for a boolean, a null or a number. */
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** Longer text is broken into lines by some writers and is never plain here. */
const LONGEST_PLAIN = 200;

/** Text as a scalar: plain where every reader takes it for text, otherwise as JSON has it. */
export function yamlString(text: string): string {
  const isPlain = text.length < LONGEST_PLAIN && PLAIN.test(text) && !text.endsWith(" ") &&
    !(text.length <= 5 && TAKEN.test(text));
  if (isPlain) return text;
  // What JSON leaves as it is, and YAML does not allow or takes for a line break.
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * A number as a scalar. One beyond 2^53 is written as the float it is: as bare digits it would be read as an integer, which this
 * number does not claim to be exactly. An exponent needs a dot before it, or YAML 1.1 takes the number for text.
 */
export function yamlNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  if (Number.isSafeInteger(value) || text.includes(".")) return text;
  return text.includes("e") ? text.replace("e", ".0e") : `${text}.0`;
}

/** An instant as a timestamp; undefined for one that has none: an invalid Date, and years without four digits. */
export function plainDate(date: Date): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString();
  return text.length === 24 ? text : undefined;
}
