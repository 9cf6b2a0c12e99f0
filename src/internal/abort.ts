/**
 * Waiting that a signal can end.
 *
 * @module
 */

/** Resolves when the signal aborts, never rejects. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Ends a wait whose outcome nobody looks at. Without a reason the platform would make an error, with its stack, for each. */
export function endWait(wait: AbortController): void {
  wait.abort(null);
}

/** Waits for a promise, or for the signal if that comes first; whatever the promise becomes later is ignored. */
export async function settledOrAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    promise.catch(() => {});
    return;
  }
  const done = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  try {
    await Promise.race([promise.then(() => {}, () => {}), aborted]);
  } finally {
    endWait(done);
  }
}

/** What a promise becomes, or undefined when the signal aborts first; whatever the promise becomes later is ignored. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (signal === undefined) return await promise;
  await settledOrAborted(promise, signal);
  return signal.aborted ? undefined : await promise;
}

/** What a promise becomes; rejects with the signal's reason when that aborts first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
