/**
 * UTF-8 at the speed of the runtime: Node, Bun and Deno have methods behind `Buffer` that are several times as fast as the platform's
 * own on the short texts that bodies are full of. Where there is no `Buffer`, the platform's do the work.
 *
 * @module
 */

/** Reads the text that lies between two places; undefined where the bytes are not UTF-8. A byte order mark is a character. */
export type ReadText = (bytes: Uint8Array, start: number, end: number) => string | undefined;

/** Writes a text from a place on, where it has room, and says how many bytes it took. */
export type WriteText = (text: string, into: Uint8Array, at: number) => number;

/** What stands for bytes that are no UTF-8, where nobody is strict. */
const REPLACEMENT = "\ufffd";

interface FastMethods {
  readonly utf8Slice?: (this: Uint8Array, start: number, end: number) => string;
  readonly utf8Write?: (this: Uint8Array, text: string, at: number, length: number) => number;
}

/** What reads texts. */
export function textReader(): ReadText {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const strictly: ReadText = (bytes, start, end) => {
    try {
      return decoder.decode(bytes.subarray(start, end));
    } catch {
      return undefined;
    }
  };
  const { utf8Slice } = fastMethods();
  if (typeof utf8Slice !== "function") return strictly;
  return (bytes, start, end) => {
    const text = utf8Slice.call(bytes, start, end);
    // It may be what was written, or stand for what could not be read.
    return text.includes(REPLACEMENT) ? strictly(bytes, start, end) : text;
  };
}

/** What writes texts; half a surrogate pair must have been refused before. */
export function textWriter(): WriteText {
  const encoder = new TextEncoder();
  const { utf8Write } = fastMethods();
  if (typeof utf8Write === "function") return (text, into, at) => utf8Write.call(into, text, at, into.length - at);
  return (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written;
}

function fastMethods(): FastMethods {
  const { Buffer } = globalThis as { readonly Buffer?: { readonly prototype?: FastMethods } };
  return Buffer?.prototype ?? {};
}
