/**
 * Small programs as a user would write them, compiled against our sources: what the compiler refuses, and what it infers.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A type by its name, not by where it is from. */
const NAMES_ALONE = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

/** What the compiler makes of one program. */
export interface Compiled {
  /** The text each error points at, with the compiler's number for it, in order. */
  readonly errors: readonly string[];
  /** The type of the first expression that reads so. */
  typeOf(expression: string): string;
}

/** Compiles programs together, since reading the library is most of the work; each stands behind the same `head`. */
export function compile<Name extends string>(
  head: string,
  programs: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Compiled>> {
  const texts = new Map(Object.entries<string>(programs).map(([name, text]) => [pathOf(name), `${head}\n${text}`]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile;
  const getSourceFile = host.getSourceFile;
  host.fileExists = (path) => texts.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, rest[0], true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const compiled = Object.keys(programs).map((name) => [name, judge(program, pathOf(name))] as const);
  return Object.fromEntries(compiled) as Record<Name, Compiled>;
}

/** Programs lie in the repository, where our own name means the sources. */
function pathOf(name: string): string {
  return `${ROOT}${name.replaceAll(/\W+/g, "_")}.program.ts`;
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile("tsconfig.json", () => readFileSync(`${ROOT}tsconfig.json`, "utf8"));
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  return {
    ...options,
    isolatedDeclarations: false,
    declaration: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
}

function judge(program: ts.Program, path: string): Compiled {
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`Cannot compile ${path}: it was not read`);
  const errors = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return {
    errors: errors.map(({ start = 0, length = 0, code }) => `${source.text.slice(start, start + length)} (${code})`),
    typeOf: (expression) => {
      const found = findExpression(source, expression);
      if (found === undefined) throw new Error(`Cannot find '${expression}' in the program`);
      const checker = program.getTypeChecker();
      return checker.typeToString(checker.getTypeAtLocation(found), undefined, NAMES_ALONE);
    },
  };
}

function findExpression(node: ts.Node, text: string): ts.Node | undefined {
  if (ts.isExpression(node) && node.getText() === text) return node;
  return ts.forEachChild(node, (child) => findExpression(child, text));
}
