/**
 * What the command line says.
 *
 * @module
 */
import { parseArgs } from "node:util";
import type { DatabaseChoice } from "./database.ts";

/** The choices of one run. */
export interface DemoArguments extends DatabaseChoice {
  /** Undefined for the in-memory broker. */
  readonly amqpUrl: URL | undefined;
  readonly json: boolean;
}

/** How to call it. */
export const USAGE: string = "Usage: npm run demo -- [--amqp amqp://[USER:PASSWORD@]HOST[:PORT][/VHOST]] " +
  "[--sqlite PATH | --postgres postgres://[USER:PASSWORD@]HOST[:PORT]/DATABASE] [--json]";

/** Reads the command line; throws a `TypeError` that says what is wrong with it. */
export function parseArguments(args: readonly string[]): DemoArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      amqp: { type: "string" },
      sqlite: { type: "string" },
      postgres: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const { amqp, sqlite, postgres, json } = values;
  if (sqlite !== undefined && postgres !== undefined) {
    throw new TypeError("Cannot use both '--sqlite' and '--postgres': the orders are remembered in one place");
  }
  return {
    // The recordings are replayed over a plain socket, so the demonstration does not speak TLS; the library does.
    amqpUrl: urlOf("amqp", amqp),
    postgresUrl: urlOf("postgres", postgres),
    sqlitePath: sqlite,
    json,
  };
}

function urlOf(scheme: "amqp" | "postgres", text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || url.protocol !== `${scheme}:` || url.hostname === "") {
    throw new TypeError(`Cannot use the value of '--${scheme}': it must be a URL that begins with ${scheme}://`);
  }
  return url;
}
