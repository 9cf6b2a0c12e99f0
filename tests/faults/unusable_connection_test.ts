import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { type AmqpConnectOptions, connect, ConnectionError, SecurityError } from "../../mod.ts";
import { FAULT_AMQP_URL, missing, TLS_DIR, TLS_URL } from "../support/services.ts";

const skip = await missing("fault_node");

const PASSWORD = "pa55-w0rd";
/** As a buffer is printed. */
const PASSWORD_AS_BYTES = "70 61 35 35 2d 77 30 72 64";
const pem = (name: string): string => readFileSync(`${TLS_DIR}/${name}.pem`, "utf8");

/** The URL with another user, password, scheme, port or path. */
function changed(url: string, change: Partial<Pick<URL, "username" | "password" | "port" | "pathname">>): string {
  return Object.assign(new URL(url), change).href;
}

/** The error of an attempt to connect; nothing that can be printed of it holds the password. */
async function failure(url: string, options: AmqpConnectOptions = {}): Promise<Error> {
  const error = await connect(url, { connectTimeoutMs: 5_000, ...options }).then(
    async (mq) => {
      await mq.close();
      assert.fail(`Connected to ${new URL(url).host}`);
    },
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error);
  const shown = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error) + error.stack;
  for (const secret of [PASSWORD, PASSWORD_AS_BYTES]) assert.ok(!shown.includes(secret), "The password is shown");
  return error;
}

/** The code of a connection that was refused. */
async function codeOf(url: string, options?: AmqpConnectOptions): Promise<string> {
  const error = await failure(url, options);
  assert.ok(error instanceof ConnectionError, inspect(error));
  assert.match(error.message, /^Cannot connect to [^ ]+: ./);
  return error.code;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

describe("a connection that cannot be", () => {
  it("to something that is no AMQP URL is a fault of the call, and its password is not shown", async () => {
    for (
      const url of [
        `http://guest:${PASSWORD}@127.0.0.1:5673`,
        `guest:${PASSWORD}@127.0.0.1`,
        `amqp://guest:${PASSWORD}@`,
        `amqp://guest:${PASSWORD}@127.0.0.1:5673/?heartbeat=5`,
        `amqp://guest:${PASSWORD}@127.0.0.1:99999`,
      ]
    ) assert.ok(await failure(url) instanceof TypeError, url);
  });

  it("to a port nobody listens on says so", async () => {
    const url = `amqp://guest:${PASSWORD}@127.0.0.1:${await closedPort()}`;
    assert.equal(await codeOf(url), "ACEMQ_CONNECT_REFUSED");
  });

  it("with a wrong password says that it is the credentials, not which", { skip }, async () => {
    const url = changed(FAULT_AMQP_URL, { password: PASSWORD });
    assert.equal(await codeOf(url), "ACEMQ_CONNECT_AUTH");
    const credentials = { username: "guest", password: PASSWORD };
    assert.equal(await codeOf(FAULT_AMQP_URL, { credentials }), "ACEMQ_CONNECT_AUTH");
  });

  it("to an unknown virtual host names the virtual host", { skip }, async () => {
    const url = changed(FAULT_AMQP_URL, { pathname: "/no-such-host" });
    assert.equal(await codeOf(url), "ACEMQ_CONNECT_VHOST");
    assert.match((await failure(url)).message, /no-such-host/);
  });

  it("by TLS to a plain port, and plainly to a TLS port, is about TLS", { skip }, async () => {
    const plainPort = new URL(FAULT_AMQP_URL).port;
    const tls = { ca: pem("ca") };
    assert.equal(await codeOf(changed(TLS_URL, { port: plainPort }), { tls }), "ACEMQ_CONNECT_TLS");
    const toTls = `amqp://guest:${PASSWORD}@127.0.0.1:${new URL(TLS_URL).port}`;
    assert.equal(await codeOf(toTls), "ACEMQ_CONNECT_TLS");
    assert.match((await failure(toTls)).message, /amqps/);
  });

  it("with TLS settings and an amqp URL is refused before it is dialled", async () => {
    const url = `amqp://guest:${PASSWORD}@127.0.0.1:${await closedPort()}`;
    assert.ok(await failure(url, { tls: { serverName: "broker.internal" } }) instanceof SecurityError);
  });
});

describe("amqps verifies chain and host [SEC-01]", () => {
  it("refuses a broker of a private CA when no CA is given [SEC-01]", { skip }, async () => {
    assert.equal(await codeOf(TLS_URL), "ACEMQ_CONNECT_TLS");
  });

  it("refuses a broker whose certificate another CA has signed [SEC-01]", { skip }, async () => {
    assert.equal(await codeOf(TLS_URL, { tls: { ca: pem("stranger_ca") } }), "ACEMQ_CONNECT_TLS");
  });

  it("refuses a broker whose certificate is for another host [SEC-01]", { skip }, async () => {
    assert.equal(await codeOf(TLS_URL, { tls: { ca: pem("ca"), serverName: "other.internal" } }), "ACEMQ_CONNECT_TLS");
  });

  it("lets a broker in that the given CA vouches for, by name and by address [SEC-01]", { skip }, async () => {
    for (const host of ["localhost", "127.0.0.1"]) {
      const url = Object.assign(new URL(TLS_URL), { hostname: host }).href;
      const mq = await connect(url, { tls: { ca: pem("ca") } });
      assert.equal((await mq.health()).status, "up");
      await mq.close();
    }
  });
});
