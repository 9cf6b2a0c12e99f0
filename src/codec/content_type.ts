/**
 * Content types as the contract matches them (contract codecs 1.2): the essence exactly, a `+suffix` only at its end.
 *
 * @module
 */

/** A content type taken apart. */
export interface ContentType {
  /** `type/subtype`, trimmed and in lower case. */
  readonly essence: string;
  /** The `charset` parameter in lower case, where there is one. */
  readonly charset: string | undefined;
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** Takes a content type apart; undefined for an absent or empty one, which the contract treats alike. */
export function parseContentType(text: string | undefined): ContentType | undefined {
  if (text === undefined) return undefined;
  const end = text.indexOf(";");
  const essence = (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
  if (essence === "") return undefined;
  return { essence, charset: end < 0 ? undefined : CHARSET.exec(text)?.[1]?.toLowerCase() };
}

/** Whether an essence is one of `names`, or ends with `+suffix`. */
export function matchesFormat(essence: string, names: readonly string[], suffix: string): boolean {
  return names.includes(essence) || essence.endsWith(`+${suffix}`);
}
