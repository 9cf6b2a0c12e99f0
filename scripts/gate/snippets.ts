/**
 * The code in the documentation: every `@example` of `src` and `adapters`, every TypeScript block of the pages.
 *
 * A block is a module. In a page, the words after the language say more: `runnable` executes the block, `continues`
 * puts it behind the block before it. Examples in doc comments are always executed.
 *
 * @module
 */

/** One block, and where a reader finds it. */
export interface Snippet {
  /** Repository path of the file it stands in. */
  readonly path: string;
  /** Line of its first line of code, from 1. */
  readonly line: number;
  readonly code: string;
  readonly isRunnable: boolean;
}

/** The TypeScript blocks of a Markdown page. */
export function snippetsOfPage(path: string, text: string): Snippet[] {
  const snippets: Snippet[] = [];
  for (const { line, info, body } of fences(text.split("\n"))) {
    const [language, ...words] = info.split(/\s+/);
    if (language !== "ts" && language !== "typescript") continue;
    const before = words.includes("continues") ? snippets.at(-1)?.code ?? "" : "";
    snippets.push({ path, line, code: before + body, isRunnable: words.includes("runnable") });
  }
  return snippets;
}

/** The TypeScript blocks of the `@example` tags in a source file. */
export function snippetsOfSource(path: string, text: string): Snippet[] {
  const snippets: Snippet[] = [];
  for (const comment of text.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    const firstLine = text.slice(0, comment.index).split("\n").length;
    const lines = comment[0].split("\n").map((line) => line.replace(/^\s*\/?\*+\/?\s?/, ""));
    const start = lines.findIndex((line) => line.startsWith("@example"));
    if (start < 0) continue;
    for (const { line, info, body } of fences(lines.slice(start))) {
      if (info.split(/\s+/)[0] !== "ts") continue;
      snippets.push({ path, line: firstLine + start + line - 1, code: body, isRunnable: true });
    }
  }
  return snippets;
}

/** A file name that tells where the block stands, so that an error needs no second look. */
export function fileNameOf({ path, line }: Snippet): string {
  return `${path.replaceAll("/", "__")}__line_${line}.ts`;
}

function fences(lines: readonly string[]): { line: number; info: string; body: string }[] {
  const found: { line: number; info: string; body: string }[] = [];
  let open: { line: number; info: string; body: string } | undefined;
  for (const [index, line] of lines.entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (fence === null) {
      if (open !== undefined) open.body += `${line}\n`;
    } else if (open === undefined) {
      open = { line: index + 2, info: (fence[1] ?? "").trim(), body: "" };
    } else {
      found.push(open);
      open = undefined;
    }
  }
  return found;
}
