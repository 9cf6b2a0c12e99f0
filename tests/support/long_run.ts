/**
 * Which runtime does a test at full length whose subject is a database's or a broker's: the others would only repeat it.
 *
 * @module
 */
import process from "node:process";

/** Whether this is the one: Node 24. */
export const IS_LONG_RUN: boolean = !("Deno" in globalThis || "Bun" in globalThis) &&
  !process.version.startsWith("v22.");
