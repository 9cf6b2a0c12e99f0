/**
 * Who may import whom: the layers of `src`, what an adapter may use, what the entry points may join, no cycles.
 *
 * @module
 */
import type { Source } from "./source.ts";
import { targetOf } from "./source.ts";

const LAYERS: Readonly<Record<string, number>> = {
  "internal": 0,
  "errors.ts": 0,
  "clock.ts": 0,
  "message": 1,
  "naming": 1,
  "slip": 1,
  "retry": 1,
  "schema": 1,
  "topology": 1,
  "telemetry": 1,
  "ports": 2,
  "codec": 3,
  "publish": 4,
  "declare": 4,
  "consume": 5,
  "patterns": 6,
  "health": 6,
  "connect_options.ts": 6,
  "connection_parts.ts": 7,
  "connection.ts": 8,
};

/**
 * Inside layer 1 the topology stands on what the others say: the names, the rungs and the header values. Health looks at what runs by
 * itself, as it does at consumers.
 */
const MAY_USE_BESIDE: Readonly<Record<string, readonly string[]>> = {
  retry: ["naming"],
  topology: ["message", "naming", "retry"],
  health: ["patterns/outbox"],
};

/** The libraries an adapter may import, by folder. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  amqp: ["@cloudamqp/amqp-client"],
  postgres: ["postgres", "pg"],
  s3: ["aws4fetch"],
  protobuf: ["@bufbuild/protobuf"],
  yaml: ["js-yaml", "yaml"],
  toml: ["smol-toml"],
  xml: ["@rgrove/parse-xml"],
  cron: ["croner"],
  opentelemetry: ["@opentelemetry/api"],
};

const ADAPTER_LAYER_LIMIT = 2;
const ADAPTERS_MAY_ALSO_USE: readonly string[] = [
  "src/codec/content_type.ts",
  "src/codec/json_reader.ts",
  "src/codec/read_back.ts",
  "src/codec/text_format.ts",
];
const ADAPTERS_OVER_SQL: readonly string[] = ["sqlite", "postgres"];

/** The layer of a file in `src`, or `undefined` when its folder is in no layer. */
export function layerOf(path: string): number | undefined {
  return LAYERS[path.split("/")[1] ?? ""];
}

/** In `src`, a file imports its own folder, lower layers and what is listed beside it, by relative paths with their extension. */
export function srcImports(source: Source): string[] {
  const layer = layerOf(source.path);
  if (layer === undefined) return [`${source.path}: The folder is in no layer`];
  return source.imports.flatMap(({ specifier }) => {
    const target = targetOf(source, specifier);
    if (target === undefined) return [`${source.path}: 'src' imports nothing from outside: ${specifier}`];
    if (!target.endsWith(".ts")) return [`${source.path}: The import does not name its '.ts' file: ${specifier}`];
    if (!target.startsWith("src/")) return [`${source.path}: 'src' imports only 'src': ${target}`];
    const targetLayer = layerOf(target) ?? Infinity;
    const [from, to] = [folderOf(source.path), folderOf(target)];
    if (targetLayer < layer || from === to || MAY_USE_BESIDE[from]?.includes(to)) return [];
    return [`${source.path} (layer ${layer}) imports ${target} (layer ${targetLayer})`];
  });
}

/** An adapter imports its own folder, the lower half of `src`, `node:` and its own library. */
export function adapterImports(source: Source): string[] {
  const adapter = source.path.split("/")[1] ?? "";
  const libraries = LIBRARIES[adapter] ?? [];
  return source.imports.flatMap(({ specifier }) => {
    const target = targetOf(source, specifier);
    const allowed = target === undefined
      ? specifier.startsWith("node:") ||
        libraries.some((name) => specifier === name || specifier.startsWith(`${name}/`))
      : adapterMayUse(adapter, target);
    return allowed ? [] : [`${source.path}: The adapter '${adapter}' may not import ${target ?? specifier}`];
  });
}

function adapterMayUse(adapter: string, target: string): boolean {
  if (target.startsWith(`adapters/${adapter}/`)) return true;
  if (target.startsWith("adapters/sql/")) return ADAPTERS_OVER_SQL.includes(adapter);
  if (!target.startsWith("src/")) return false;
  return (layerOf(target) ?? Infinity) <= ADAPTER_LAYER_LIMIT || ADAPTERS_MAY_ALSO_USE.includes(target);
}

/** What `connect.ts` brings to the library: the AMQP client, and the platform's way to follow a handler. */
const BROUGHT = ["adapters/amqp/", "adapters/async_hooks/"] as const;

/** Of the files at the root only `connect.ts` joins `src` with adapters, and with those two. */
export function entryImports(source: Source): string[] {
  return source.imports.flatMap(({ specifier, reexports }) => {
    const target = targetOf(source, specifier);
    if (target === undefined) return [`${source.path}: An entry point imports nothing from outside: ${specifier}`];
    if (target.startsWith("src/internal/") && reexports) return [`${source.path}: '${target}' is never exported`];
    if (target.startsWith("src/") || !target.includes("/")) return [];
    if (source.path === "connect.ts" && BROUGHT.some((folder) => target.startsWith(folder))) return [];
    return [`${source.path}: Only 'connect.ts' imports an adapter: ${target}`];
  });
}

/** What ships for other people's tests stands on `src` and `node:` alone. */
export function contractImports(source: Source): string[] {
  return source.imports.flatMap(({ specifier }) => {
    const target = targetOf(source, specifier);
    const allowed = target === undefined
      ? specifier.startsWith("node:")
      : target.startsWith("src/") || target.startsWith("tests/contract/");
    return allowed ? [] : [`${source.path}: A contract may not import ${target ?? specifier}`];
  });
}

/** Import cycles, type imports included; each is named once, by its files in order. */
export function importCycles(sources: readonly Source[]): string[] {
  const graph = graphOf(sources);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}

/** Every file that `entry` imports, directly or through others, `entry` included. */
export function reachableFrom(entry: string, sources: readonly Source[]): Set<string> {
  const graph = graphOf(sources);
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const target of graph.get(path) ?? []) visit(target);
  };
  visit(entry);
  return seen;
}

function graphOf(sources: readonly Source[]): Map<string, string[]> {
  return new Map(
    sources.map((source) => [
      source.path,
      source.imports.map(({ specifier }) => targetOf(source, specifier)).filter((path) => path !== undefined),
    ]),
  );
}

/** Layer 0 is one folder; a pattern is a folder of its own, since no pattern imports another. */
function folderOf(path: string): string {
  if (layerOf(path) === 0) return "0";
  const [, folder = "", pattern = ""] = path.split("/");
  return folder === "patterns" ? `${folder}/${pattern}` : folder;
}
