/**
 * The name of the machine, where the runtime lets us ask.
 *
 * @module
 */

import { hostname } from "node:os";

/** The part of Deno that says what may be asked. */
interface Permissions {
  querySync(descriptor: { readonly name: "sys"; readonly kind: "hostname" }): { readonly state: string };
}

/** What the other AceMQ libraries write when they do not know. */
const UNKNOWN = "unknown";

/** The machine's name, or `unknown`: Deno is never made to ask the user for a permission. */
export function machineName(): string {
  try {
    return isAllowed() ? hostname() || UNKNOWN : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

function isAllowed(): boolean {
  const deno = (globalThis as { readonly Deno?: { readonly permissions: Permissions } }).Deno;
  return deno === undefined || deno.permissions.querySync({ name: "sys", kind: "hostname" }).state === "granted";
}
