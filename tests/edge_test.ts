/** Where a runtime has no TCP, the core works and the AMQP side says at once that it cannot. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import * as withTcp from "../connect.ts";
import { TOOLS } from "../scripts/gate/tools.ts";
import type * as coreProgram from "./support/edge/core_program.ts";

/** What a browser or an edge runtime has of what the library uses: the Web platform, and no module to be imported. */
const WEB = {
  AbortController,
  AbortSignal,
  ArrayBuffer,
  Error,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  crypto,
  performance,
};

/** Bundles a program as a browser would get it, and runs it where nothing but the Web platform is. */
function load(program: string): unknown {
  const path = fileURLToPath(new URL(`support/edge/${program}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(TOOLS.bun, ["build", "--target=browser", "--format=cjs", path], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const module = { exports: {} };
  runInContext(stdout, createContext({ ...WEB, clearTimeout, queueMicrotask, setTimeout, module }));
  return module.exports;
}

describe("in a runtime without TCP", () => {
  it("the core loads and publishes through a broker that is handed in [TS-07]", async () => {
    const { roundTrip } = load("core_program.ts") as typeof coreProgram;
    assert.equal(await roundTrip('{"id":"A-19"}'), 'confirmed: {"id":"A-19"}');
  });

  it("importing the AMQP side fails at once and names the core, before anything is published [TS-07]", () => {
    assert.throws(() => load("tcp_program.ts"), {
      message: "Cannot import 'connect' of @acemq/amqp: there are no TCP sockets here; " +
        "import @acemq/amqp/core and hand a broker to its 'connect'",
    });
  });

  it("what fails has the names of what it stands in for", () => {
    const source = readFileSync(new URL("../no_tcp.ts", import.meta.url), "utf8");
    const names = [...source.matchAll(/^export function (\w+)/gm)].map(([, name]) => name);
    assert.deepEqual(names, Object.keys(withTcp).sort());
  });
});
