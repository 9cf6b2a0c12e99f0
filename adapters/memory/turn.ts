/**
 * Waiting until nothing is left to do that waits for nothing but promises.
 *
 * @module
 */

/** Ends when every promise that can go on has gone on: a task runs only when no microtask is left. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    // Not `onmessage`: on Deno, once anything has loaded node:worker_threads, that is called between two microtasks.
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
