/**
 * How a file looks: its size, the size of its functions, what it exports and how, its characters.
 *
 * @module
 */
import ts from "typescript";
import type { Source } from "./source.ts";
import { violation, walk } from "./source.ts";

const MAX_CODE_LINES = 250;
const MAX_LINES = 400;
const MAX_FUNCTION_LINES = 50;
const MAX_PARAMETERS = 3;

/** A file has at most 250 lines of code and 400 lines in all. */
export function fileSize(source: Source): string[] {
  const lines = lineCount(source.text);
  const code = codeLines(source);
  if (code > MAX_CODE_LINES) return [`${source.path}: ${code} lines of code, the limit is ${MAX_CODE_LINES}`];
  return lines > MAX_LINES ? [`${source.path}: ${lines} lines, the limit is ${MAX_LINES}`] : [];
}

/** A function has at most 50 lines of code. */
export function functionSize(source: Source): string[] {
  const faults: string[] = [];
  walk(source.tree, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const lines = codeLines(source, node);
    if (lines > MAX_FUNCTION_LINES) {
      faults.push(violation(source, node, `A function of ${lines} lines, the limit is ${MAX_FUNCTION_LINES}`));
    }
  });
  return faults;
}

/** Exports are named and listed, functions are declarations with at most three parameters, privacy is `#`. */
export function exportStyle(source: Source): string[] {
  const faults: string[] = [];
  walk(source.tree, (node) => {
    const fault = exportFault(node);
    if (fault !== undefined) faults.push(violation(source, node, fault));
  });
  return faults;
}

/** No character that makes a tool take the file for binary, or text read in another order than it is stored. */
export function controlCharacters(path: string, text: string): string[] {
  const faults: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    for (const character of line) {
      if (!isControl(character.codePointAt(0) ?? 0)) continue;
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      faults.push(`${path}:${index + 1}: Control character U+${code}`);
    }
  }
  return faults;
}

function isControl(code: number): boolean {
  if (code === 0x09) return false;
  const isBidirectional = code === 0x200E || code === 0x200F || (code >= 0x202A && code <= 0x202E) ||
    (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code === 0xFEFF || isBidirectional;
}

function exportFault(node: ts.Node): string | undefined {
  if (ts.isExportAssignment(node)) return "Exports are named, never default";
  if (ts.isExportDeclaration(node)) {
    const isStar = node.exportClause === undefined || ts.isNamespaceExport(node.exportClause);
    return isStar ? "Exports are listed, never 'export *'" : undefined;
  }
  const isPrivate = node.kind === ts.SyntaxKind.PrivateKeyword && !ts.isConstructorDeclaration(node.parent);
  if (isPrivate) return "Private members are '#names'";
  if (node.kind === ts.SyntaxKind.DefaultKeyword && ts.canHaveModifiers(node.parent)) {
    return "Exports are named, never default";
  }
  if (ts.isFunctionDeclaration(node) && isExported(node) && node.parameters.length > MAX_PARAMETERS) {
    return `An exported function takes at most ${MAX_PARAMETERS} parameters`;
  }
  return undefined;
}

function isExported(node: ts.FunctionDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

/** Lines on which a token starts or ends, so neither blank lines nor comments count. */
function codeLines(source: Source, within: ts.Node = source.tree): number {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source.tree);
    for (const child of children) visit(child);
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken) return;
    const first = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line;
    const last = source.tree.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line++) lines.add(line);
  };
  visit(within);
  return lines.size;
}

function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
