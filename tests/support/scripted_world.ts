/**
 * A scripted broker and a connection to it, closed together.
 *
 * @module
 */
import { type Observed, openAmqp, type OpenOptions } from "./amqp_connection.ts";
import { type Script, ScriptedBroker, type ScriptedClient } from "./scripted_broker.ts";

/** Both ends of one connection. */
export interface ScriptedWorld extends Observed {
  readonly broker: ScriptedBroker;
  /** The broker's end of the link as it was when the connection opened. */
  readonly client: ScriptedClient;
}

/** Runs a test with a connection to a scripted broker. */
export async function withScript(
  script: Script,
  run: (world: ScriptedWorld) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const broker = await ScriptedBroker.open(script);
  try {
    const observed = await openAmqp(broker.url, options);
    try {
      await run({ ...observed, broker, client: await broker.client() });
    } finally {
      await observed.mq.close();
    }
  } finally {
    await broker.close();
  }
}
