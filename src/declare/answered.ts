/**
 * Asking a broker one thing after the other, for as long as somebody wants to know.
 *
 * @module
 */

import { orAborted } from "../internal/abort.ts";

/** Options of whatever asks a broker about a topology. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What a question is answered; not asked once the signal has aborted, and its answer not waited for. Rejects with the signal's reason. */
export async function answered<Answer>(question: () => Promise<Answer>, { signal }: AskOptions): Promise<Answer> {
  signal?.throwIfAborted();
  return await orAborted(question(), signal);
}
