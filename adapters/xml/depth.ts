/**
 * How deep the elements of a document are nested, before a parser that recurses is handed it.
 *
 * @module
 */

import { DecodeError } from "../../src/errors.ts";

/** The shortest start tag, `<a>`. */
const SHORTEST_TAG = 3;

/** Throws a `DecodeError` for text with more than `limit` elements open at once. Text that is no XML may pass: the parser refuses it. */
export function assertXmlDepth(text: string, limit: number): void {
  if (text.length <= limit * SHORTEST_TAG) return;
  let depth = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at)) {
    const next = text[at + 1];
    if (next === "!" || next === "?") at = endOfAside(text, at);
    else if (next === "/") {
      depth--;
      at += 2;
    } else {
      at = endOfTag(text, at + 1);
      if (text[at - 1] === "/") continue;
      if (++depth > limit) {
        throw new DecodeError(`Cannot read the body as XML: it is nested deeper than ${limit} levels`);
      }
    }
  }
}

/** The end of a comment, a CDATA section or a processing instruction, which may have markup in it. */
function endOfAside(text: string, at: number): number {
  const [opening, closing] = ASIDES.find(([begins]) => text.startsWith(begins, at)) ?? ["<!", ">"];
  const end = text.indexOf(closing, at + opening.length);
  return end < 0 ? text.length : end + closing.length;
}

const ASIDES = [["<!--", "-->"], ["<![CDATA[", "]]>"], ["<?", "?>"]] as const;

/** The `>` of a start tag: one in the value of an attribute is none. */
function endOfTag(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x3e) return at;
    if (unit === 0x22 || unit === 0x27) {
      at = text.indexOf(text.charAt(at), at + 1);
      if (at < 0) return text.length;
    }
  }
  return text.length;
}
