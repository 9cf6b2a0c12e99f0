/**
 * Other people's projects, in small: ESM, CommonJS and a bundle, on every runtime, and under every compiler setting.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Outcome } from "./outcome.ts";
import { failed, passed, skipped, sum } from "./outcome.ts";
import { run, TOOLS } from "./tools.ts";

/** A command that uses the package, in a project of its own. */
interface Use {
  readonly name: string;
  readonly tool: keyof typeof TOOLS;
  readonly args: readonly string[];
}

const CHECK_NAMES = `
function checkNames(specifier, exported) {
  const names = Object.entries(exported).filter(([name]) => name !== "__esModule");
  const hollow = names.filter(([, value]) => value === undefined || value?.[Symbol.toStringTag] === "Module");
  if (names.length === 0) throw new Error("Nothing is exported by " + specifier);
  if (hollow.length > 0) throw new Error(specifier + " exports no value under " + hollow.map(([name]) => name));
}
`;

const ROUND_TRIP = `
async function roundTrip({ connect, topology }, { memoryBroker }) {
  const mq = await connect(memoryBroker());
  await mq.declare(topology().queue("orders.new"));
  const { outcome } = await mq.publisher("", "orders.new").send({ id: "A-19" });
  await mq.close();
  if (outcome !== "confirmed") throw new Error("The publish ended as " + outcome);
}
`;

/** The sources of the projects; SPECIFIERS stands for every entry point, LOADING for those that load a library of their own. */
const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module", "private": true }\n',
  "use.mjs": `${CHECK_NAMES}${ROUND_TRIP}
for (const specifier of SPECIFIERS) checkNames(specifier, await import(specifier));
await roundTrip(await import("@acemq/amqp"), await import("@acemq/amqp/memory"));
`,
  "use.cjs": `${CHECK_NAMES}${ROUND_TRIP}
for (const specifier of SPECIFIERS) if (!LOADING.includes(specifier)) checkNames(specifier, require(specifier));
for (const specifier of LOADING) import(specifier).then((exported) => checkNames(specifier, exported));
roundTrip(require("@acemq/amqp"), require("@acemq/amqp/memory"));
`,
  "alone.mjs": `${ROUND_TRIP}
const missing = [];
const usedLate = { "@acemq/amqp/protobuf": ({ protobufCodec }) => protobufCodec({ kind: "message", typeName: "a.B", fields: [] }) };
for (const specifier of SPECIFIERS) {
  await import(specifier).then(usedLate[specifier]).catch((error) => missing.push([specifier, error]));
}
if (missing.map(([specifier]) => specifier).join() !== LOADING.join()) throw new Error("Missing: " + missing);
for (const [specifier, { name, code, message }] of missing) {
  const says = PEERS.some((peer) => message.includes('"' + peer + '" is not installed') && message.includes("npm install " + peer));
  if (name !== "CodecMissingError" || code !== "ACEMQ_CODEC_MISSING" || !says) throw new Error(specifier + ": " + message);
}
await roundTrip(await import("@acemq/amqp"), await import("@acemq/amqp/memory"));
`,
  "contract_test.mjs": `
import { brokerContract } from "@acemq/amqp/contracts";
import { memoryBroker, virtualClock } from "@acemq/amqp/memory";
brokerContract("somebody's broker", async () => {
  const clock = virtualClock();
  return { broker: memoryBroker({ clock }), clock, pass: (ms) => clock.advance(ms) };
});
`,
  "edge.mjs": `${ROUND_TRIP}
import { connect, topology } from "@acemq/amqp/core";
import { memoryBroker } from "@acemq/amqp/memory";
await roundTrip({ connect, topology }, { memoryBroker });
`,
  "no_tcp.mjs": `
import { connect } from "@acemq/amqp";
await connect("amqp://127.0.0.1");
`,
  "expect_refusal.mjs": `
await import("./no_tcp.bundle.mjs").then(
  () => { throw new Error("The import went through"); },
  (error) => { if (!/there are no TCP sockets here/.test(error.message)) throw error; },
);
`,
};

const STRICT = ["--strict", "--noEmit", "--skipLibCheck", "false", "--target", "es2023", "--types", "node"] as const;
const LIB = ["--lib", "es2023,esnext.disposable,dom"] as const;
const NODENEXT = [...STRICT, ...LIB, "--module", "nodenext"] as const;
const BUNDLER = [...STRICT, ...LIB, "--module", "esnext", "--moduleResolution", "bundler"] as const;
const DENO = ["run", "--allow-read", "--allow-env"] as const;

const USES: readonly Use[] = [
  { name: "ESM on Node 20", tool: "node20", args: ["use.mjs"] },
  { name: "ESM on Node 24", tool: "node24", args: ["use.mjs"] },
  { name: "ESM on Bun", tool: "bun", args: ["use.mjs"] },
  { name: "ESM on Deno", tool: "deno", args: [...DENO, "use.mjs"] },
  { name: "CommonJS on Node 22", tool: "node22", args: ["use.cjs"] },
  { name: "CommonJS on Node 24", tool: "node24", args: ["use.cjs"] },
  { name: "CommonJS on Bun", tool: "bun", args: ["use.cjs"] },
  { name: "a broker contract on Node 24", tool: "node24", args: ["--test", "contract_test.mjs"] },
  { name: "a broker contract on Bun", tool: "bun", args: ["test", "--timeout=20000", "./contract_test.mjs"] },
  { name: "a broker contract on Deno", tool: "deno", args: ["test", "--no-check", "-A", "contract_test.mjs"] },
  { name: "types of ESM", tool: "tsc", args: [...NODENEXT, "use.mts"] },
  { name: "types of CommonJS", tool: "tsc", args: [...NODENEXT, "use.cts"] },
  { name: "types in a bundle", tool: "tsc", args: [...BUNDLER, "use.mts"] },
  { name: "types on Deno", tool: "deno", args: ["check", "use.mts"] },
  {
    name: "bundling the core",
    tool: "bun",
    args: ["build", "--target=browser", "--outfile=edge.bundle.mjs", "edge.mjs"],
  },
  { name: "the core in a bundle", tool: "deno", args: ["run", "--no-prompt", "edge.bundle.mjs"] },
  { name: "bundling", tool: "bun", args: ["build", "--target=browser", "--outfile=no_tcp.bundle.mjs", "no_tcp.mjs"] },
  { name: "a bundle without TCP", tool: "node24", args: ["expect_refusal.mjs"] },
];

/** Without the libraries of the formats: those say so when they are imported, and everything else works. */
const USES_ALONE: readonly Use[] = [
  { name: "ESM without optional packages on Node 24", tool: "node24", args: ["alone.mjs"] },
  { name: "ESM without optional packages on Bun", tool: "bun", args: ["alone.mjs"] },
  { name: "ESM without optional packages on Deno", tool: "deno", args: [...DENO, "alone.mjs"] },
];

/** Uses the package that is in `node_modules` of the folder, and that is alone there. */
export async function usePackageAlone(folder: string): Promise<Outcome> {
  writeFiles(folder);
  return await tryUses(USES_ALONE, folder);
}

/** Uses the package that is in `node_modules` of the folder, with what it may be used with. */
export async function usePackage(folder: string): Promise<Outcome> {
  writeFiles(folder);
  return await tryUses(USES, folder);
}

async function tryUses(uses: readonly Use[], folder: string): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const use of uses) outcomes.push(await tryUse(use, folder));
  return sum(outcomes);
}

interface Published {
  readonly name: string;
  readonly exports: Readonly<Record<string, { readonly default: string }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

function writeFiles(folder: string): void {
  const root = `${folder}/node_modules/@acemq/amqp/`;
  const { name, exports, peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as Published;
  const specifierOf = (subpath: string): string => name + subpath.slice(1);
  const specifiers = Object.keys(exports).map(specifierOf);
  const loading = Object.entries(exports)
    .filter(([, { default: path }]) => /\bawait import\(/.test(readFileSync(root + path, "utf8")))
    .map(([subpath]) => specifierOf(subpath));
  const words = { SPECIFIERS: specifiers, LOADING: loading, PEERS: Object.keys(peerDependencies) };
  for (const [path, text] of Object.entries(FILES)) {
    writeFileSync(
      `${folder}/${path}`,
      Object.entries(words).reduce((made, [word, value]) => made.replaceAll(word, JSON.stringify(value)), text),
    );
  }
  const imports = (statement: (name: string, specifier: string) => string): string =>
    specifiers.map((specifier, index) => `${statement(`m${index}`, specifier)}\nvoid m${index};\n`).join("");
  writeFileSync(`${folder}/use.mts`, imports((name, specifier) => `import * as ${name} from "${specifier}";`));
  writeFileSync(`${folder}/use.cts`, imports((name, specifier) => `import ${name} = require("${specifier}");`));
}

async function tryUse({ name, tool, args }: Use, folder: string): Promise<Outcome> {
  const check = `the package as ${name}`;
  console.log(`-- ${check}`);
  if (!existsSync(TOOLS[tool])) return skipped(check, "no binary of this runtime for this platform");
  const code = await run(TOOLS[tool], args, { cwd: folder });
  return code === 0 ? passed(1) : failed(check, `Ended with ${code}`);
}
