import assert from "node:assert/strict";
import { describe, it } from "node:test";

type Packages = Readonly<
  Record<string, { readonly version?: string; readonly integrity?: string; readonly optional?: boolean }>
>;

const { covers } = await import(new URL("../../scripts/ensure_installed.mjs", import.meta.url).href) as {
  covers(installed: Packages, lock: Packages): boolean;
};

describe("what is installed", () => {
  const lock: Packages = {
    "": {},
    "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/b-other-platform": { version: "1.0.0", integrity: "sha512-b", optional: true },
  };

  it("covers the lock without the packages for other platforms", () => {
    assert.equal(covers({ "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } }, lock), true);
  });

  it("does not cover the lock when a package is missing, of another version or of another content", () => {
    assert.equal(covers({}, lock), false);
    assert.equal(covers({ "node_modules/a": { version: "1.0.1", integrity: "sha512-a" } }, lock), false);
    assert.equal(covers({ "node_modules/a": { version: "1.0.0", integrity: "sha512-c" } }, lock), false);
  });
});
