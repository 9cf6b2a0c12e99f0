/**
 * What an error says, of whatever kind it is: other people's errors do not always hold text.
 *
 * @module
 */

/** `Name: message` of an error, its name alone when it says nothing, its text when it is no error. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return safeText(error);
  const words = wordsOf(error);
  return words === "" ? nameOf(error) : `${nameOf(error)}: ${words}`;
}

/** The message of an error, its name when it says nothing, its text when it is no error. */
export function firstWords(error: unknown): string {
  return error instanceof Error ? wordsOf(error) || nameOf(error) : safeText(error);
}

/** The message of an error, empty when it says nothing; other people's errors do not always hold text there. */
function wordsOf(error: Error): string {
  const words = safeText(error.message ?? "");
  return words.trim() === "" ? "" : words;
}

/** A class that sets no name of its own inherits `Error`, which says less than the class does. */
function nameOf(error: Error): string {
  const { name } = error.name === "Error" ? error.constructor : error;
  return safeText(name || "Error");
}

function safeText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
