/**
 * What the command line says.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** The choices of one run. */
export interface DemoArguments {
  /** Undefined for the in-memory broker. */
  readonly amqpUrl: URL | undefined;
  readonly json: boolean;
}

/** How to call it. */
export const USAGE = "Usage: npm run demo -- [--amqp amqp://[USER:PASSWORD@]HOST[:PORT][/VHOST]] [--json]";

/** Reads the command line; throws a `TypeError` that says what is wrong with it. */
export function parseArguments(args: readonly string[]): DemoArguments {
  const { values } = parseArgs({
    args: [...args],
    options: { amqp: { type: "string" }, json: { type: "boolean", default: false } },
  });
  return { amqpUrl: values.amqp === undefined ? undefined : amqpUrlOf(values.amqp), json: values.json };
}

/** The recordings are replayed over a plain socket, so the demonstration does not speak TLS; the library does. */
function amqpUrlOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "amqp:" || url.hostname === "") {
    throw new TypeError("Cannot use the value of '--amqp': it must be a URL that begins with amqp://");
  }
  return url;
}
