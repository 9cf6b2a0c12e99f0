/**
 * A program that wants TCP where there is none. `edge_test.ts` bundles it.
 *
 * @module
 */
import { connect } from "../../../mod.ts";

/** Never gets so far. */
export async function dial(): Promise<void> {
  await connect("amqp://127.0.0.1");
}
