import assert from "node:assert/strict";
import { createServer } from "node:net";
import { it } from "node:test";
import { answers } from "./services.ts";

it("a service that takes connections answers, and one that has gone does not", async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  assert.equal(await answers("127.0.0.1", address.port), true);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(await answers("127.0.0.1", address.port), false);
});
