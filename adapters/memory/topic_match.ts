/**
 * How the pattern of a topic binding meets a routing key.
 *
 * @module
 */

/**
 * Whether a key matches a pattern: words between dots, `*` for exactly one word, `#` for any number of them, none included.
 *
 * The empty key is no word at all.
 */
export function matchesTopic(pattern: string, key: string): boolean {
  return matchesFrom(wordsOf(pattern), wordsOf(key), 0);
}

/** Words of a pattern or a key. */
function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(".");
}

/** Row by row over the pattern: which numbers of leading words of the key it can have taken so far. */
function matchesFrom(pattern: readonly string[], key: readonly string[], from: number): boolean {
  let taken = new Set([from]);
  for (const word of pattern) {
    const next = new Set<number>();
    for (const count of taken) {
      if (word === "#") { for (let more = count; more <= key.length; more++) next.add(more); }
      else if (count < key.length && (word === "*" || word === key[count])) next.add(count + 1);
    }
    taken = next;
  }
  return taken.has(key.length);
}
