/**
 * What a caller may say about an outbox in PostgreSQL.
 *
 * @module
 */

import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { assertOutboxOptions, OUTBOX_KINDS, type SqlOutboxOptions } from "../sql/outbox_options.ts";
import { isPgPool, isPostgresJs, isPostgresJsListener, type PgPool, type PostgresJs } from "./drivers.ts";

/** How an outbox in PostgreSQL works. */
export interface PostgresOutboxOptions extends SqlOutboxOptions {
  /**
   * Whether the processes that share the table tell each other of what was added, by `NOTIFY` and `LISTEN`. Without it, polling finds
   * what other processes add.
   *
   * @default {true}
   */
  readonly news?: boolean;
  /**
   * Where a relay listens: a root of `postgres` or a pool of `pg` with more than one client. It has to reach the database itself, where
   * the store's handle goes through a pooler in transaction mode.
   *
   * @default {the store's handle, where it is a root or a pool}
   */
  readonly listenOn?: PostgresJs | PgPool;
}

const KINDS: Readonly<OptionKinds<PostgresOutboxOptions>> = { ...OUTBOX_KINDS, news: "boolean", listenOn: "checked" };

/** Throws for what is no option of an outbox in PostgreSQL, or of the wrong kind. */
export function assertPostgresOutboxOptions(options: PostgresOutboxOptions): void {
  assertOptions("an outbox", options, KINDS);
  const { news: _news, listenOn, ...rest } = options;
  assertOutboxOptions(rest);
  if (listenOn !== undefined && !canListen(listenOn)) {
    throw new TypeError("Cannot use option 'listenOn': a root of 'postgres' or a pool of 'pg' is wanted");
  }
}

function canListen(handle: unknown): boolean {
  if ((typeof handle !== "object" && typeof handle !== "function") || handle === null) return false;
  return isPostgresJs(handle) ? isPostgresJsListener(handle) : isPgPool(handle);
}
