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
  const words = wordsOf(key);
  /** After each word of the pattern: how many leading words of the key it can have taken. */
  let taken: ReadonlySet<number> = new Set([0]);
  for (const word of wordsOf(pattern)) {
    const next = new Set<number>();
    for (const count of taken) {
      if (word === "#") addRange(next, count, words.length);
      else if (count < words.length && (word === "*" || word === words[count])) next.add(count + 1);
    }
    taken = next;
  }
  return taken.has(words.length);
}

function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(".");
}

function addRange(numbers: Set<number>, from: number, to: number): void {
  for (let number = from; number <= to; number++) numbers.add(number);
}
