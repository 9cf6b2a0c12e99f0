/** A format whose package is not there says so when it is imported, and what to do about it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { TOOLS } from "../../scripts/gate/tools.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The sources where no package is near. */
const folder = mkdtempSync(join(tmpdir(), "acemq-alone-"));
for (const part of ["src", "adapters"]) cpSync(ROOT + part, join(folder, part), { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');

/** What an import of the adapter ends with. */
function importing(format: string): unknown {
  const program = `import("./adapters/${format}/mod.ts").then(() => "imported", ({ name, code, message, cause }) =>
    ({ name, code, message, cause: cause?.code })).then((end) => console.log(JSON.stringify(end)))`;
  const { stdout } = spawnSync(TOOLS.node24, ["--input-type=module", "--eval", program], {
    cwd: folder,
    encoding: "utf8",
  });
  return JSON.parse(stdout);
}

describe("a format whose package is not installed", () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  const packages: readonly (readonly [format: string, name: string, command: string])[] = [
    ["yaml", "js-yaml", "npm install js-yaml@5"],
    ["toml", "smol-toml", "npm install smol-toml@1"],
    ["xml", "@rgrove/parse-xml", "npm install @rgrove/parse-xml@5"],
  ];
  for (const [format, name, command] of packages) {
    it(`names ${name} and the command that installs it, when ${format} is imported [COD-17]`, () => {
      assert.deepEqual(importing(format), {
        name: "CodecMissingError",
        code: "ACEMQ_CODEC_MISSING",
        message:
          `Cannot load the ${format.toUpperCase()} codec: the package "${name}" is not installed. Install it with: ${command}`,
        cause: "ERR_MODULE_NOT_FOUND",
      });
    });
  }
});
