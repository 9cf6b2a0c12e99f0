/**
 * Knowing that one is inside a handler, by the platform's `AsyncLocalStorage`.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { CallScope } from "../../src/ports/call_scope.ts";

/**
 * A scope that follows a handler through everything it awaits. `connect` of `@acemq/amqp` brings one; a program on the core brings
 * it itself where its platform has `node:async_hooks`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { asyncScope } from "@acemq/amqp/async-hooks";
 *
 * const scope = asyncScope();
 * const marker = {};
 * await scope.run(marker, async () => {
 *   await Promise.resolve();
 *   assert.equal(scope.current(), marker);
 * });
 * assert.equal(scope.current(), undefined);
 * ```
 */
export function asyncScope(): CallScope {
  const storage = new AsyncLocalStorage<object>();
  return {
    run: (value, fn) => storage.run(value, fn),
    current: () => storage.getStore(),
  };
}
