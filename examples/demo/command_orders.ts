/**
 * An order from the command line: `amqp-publish` of the C client.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { type FlowNames, ORDER_PLACED } from "./flow.ts";
import type { Source } from "./source.ts";

/** Sent again, when a run was killed before it knew, it is the same order. */
const ID = "C-1";

const NAME = "amqp-publish";

/** Places one order by `amqp-publish` where it is installed. */
export function amqpPublish(url: URL, { exchange }: FlowNames): Source {
  const body = JSON.stringify({ orderId: ID, totalCents: 990 });
  const target = [`--url=${url.href}`, `--exchange=${exchange}`, `--routing-key=${ORDER_PLACED}`];
  return {
    outages: new Map(),
    async place({ account, isPlaced, count }) {
      if (isPlaced(NAME)) return "1 by amqp-publish";
      const content = ["--content-type=application/json", `--header=x-acemq-id: ${ID}`, `--body=${body}`];
      const ended = await run("amqp-publish", [...target, ...content]);
      if (ended === "absent") return "none by amqp-publish, which is not installed";
      if (ended !== 0) throw new Error(`Cannot place an order by amqp-publish: it ended with ${ended}`);
      await account.place([NAME]);
      count(1);
      return "1 by amqp-publish";
    },
  };
}

function run(command: string, args: readonly string[]): Promise<number | "absent"> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] });
    child.once("close", (code) => resolve(code ?? 1));
    child.once("error", (error: Error & { readonly code?: string }) => {
      if (error.code === "ENOENT") resolve("absent");
      else reject(error);
    });
  });
}
