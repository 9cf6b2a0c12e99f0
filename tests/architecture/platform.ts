/**
 * What `src` may touch: Web platform only, time and chance only through `src/clock.ts`, nothing a runtime lacks.
 *
 * @module
 */
import ts from "typescript";
import type { Source } from "./source.ts";
import { violation, walk } from "./source.ts";

const RUNTIME_GLOBALS: ReadonlySet<string> = new Set([
  "Deno",
  "Bun",
  "process",
  "Buffer",
  "console",
  "global",
  "globalThis",
  "window",
  "self",
  "require",
  "module",
  "__dirname",
  "__filename",
]);

const TIMERS: ReadonlySet<string> = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "requestAnimationFrame",
  "performance",
]);

const TIME_AND_CHANCE: ReadonlySet<string> = new Set([
  "Date.now",
  "Math.random",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "AbortSignal.timeout",
]);

/** Not on every supported runtime. */
const MISSING_GLOBALS: ReadonlySet<string> = new Set(["Temporal", "DisposableStack", "AsyncDisposableStack"]);
const MISSING_MEMBERS: ReadonlySet<string> = new Set(["toBase64", "fromBase64", "withResolvers", "rawJSON"]);

/** `src` names no global that belongs to a runtime. */
export function runtimeGlobals(source: Source): string[] {
  return freeNames(source)
    .filter(({ text }) => RUNTIME_GLOBALS.has(text))
    .map((name) => violation(source, name, `'${name.text}' belongs to a runtime, not to the Web platform`));
}

/** Only `src/clock.ts` reads the time, the random generator or a timer. */
export function timeAndChance(source: Source): string[] {
  if (source.path === "src/clock.ts") return [];
  const faults = freeNames(source).filter(({ text }) => TIMERS.has(text)).map((name): ts.Node => name);
  walk(source.tree, (node) => {
    if (ts.isPropertyAccessExpression(node) && TIME_AND_CHANCE.has(node.getText(source.tree))) faults.push(node);
    if (readsWallClock(node)) faults.push(node);
  });
  return faults.map((node) => violation(source, node, `'${node.getText(source.tree)}' belongs in 'src/clock.ts'`));
}

/** No API that one of the supported runtimes lacks; no `using` where Node 22 runs the file. */
export function portableApis(source: Source): string[] {
  const faults = freeNames(source).filter(({ text }) => MISSING_GLOBALS.has(text)).map((name): ts.Node => name);
  walk(source.tree, (node) => {
    if (ts.isPropertyAccessExpression(node)) {
      const isMissing = MISSING_MEMBERS.has(node.name.text) || node.getText(source.tree) === "Promise.try";
      if (isMissing) faults.push(node);
    }
    const isUsing = ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) >= ts.NodeFlags.Using;
    if (isUsing) faults.push(node);
  });
  return faults.map((node) => violation(source, node, `Not on every supported runtime: ${node.getText(source.tree)}`));
}

/** No `any`, and no comment that switches a check off. */
export function uncheckedTypes(source: Source): string[] {
  const faults: string[] = [];
  walk(source.tree, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) faults.push(violation(source, node, "'any' is used"));
  });
  const isSwitchedOff = /@ts-(ignore|expect-error|nocheck)|deno-lint-ignore/.exec(source.text);
  if (isSwitchedOff !== null) faults.push(`${source.path}: A check is switched off: ${isSwitchedOff[0]}`);
  return faults;
}

function readsWallClock(node: ts.Node): boolean {
  const isDate = (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "Date";
  return isDate && (ts.isCallExpression(node) || (node.arguments ?? []).length === 0);
}

/** Identifiers that stand for a value, are no member's name, and are declared nowhere in the file. */
function freeNames(source: Source): ts.Identifier[] {
  const declared = new Set<string>();
  const used: ts.Identifier[] = [];
  walk(source.tree, (node) => {
    if (!ts.isIdentifier(node)) return;
    if (isDeclarationName(node)) declared.add(node.text);
    else if (!isMemberName(node)) used.push(node);
  });
  return used.filter(({ text }) => !declared.has(text));
}

function isDeclarationName(node: ts.Identifier): boolean {
  const { parent } = node;
  const declares = ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isFunctionDeclaration(parent) ||
    ts.isImportSpecifier(parent) || ts.isClassDeclaration(parent) || ts.isBindingElement(parent);
  return declares && parent.name === node;
}

function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  const isMember = ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) ||
    ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent) || ts.isGetAccessor(parent) ||
    ts.isBindingElement(parent) || ts.isNamedTupleMember(parent);
  if (!isMember) return false;
  return (ts.isBindingElement(parent) ? parent.propertyName : parent.name) === node;
}
