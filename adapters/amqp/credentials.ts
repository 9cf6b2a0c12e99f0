/**
 * Who we are to the broker, as SASL wants it.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { ConnectionError } from "../../src/errors.ts";
import type { AmqpCredentials } from "./url.ts";

/** Credentials, or a function that fetches them: it is asked before every attempt to connect, reconnects included. */
export type CredentialsSource = AmqpCredentials | (() => AmqpCredentials | Promise<AmqpCredentials>);

/** The SASL mechanisms supported. */
export type Mechanism = "PLAIN" | "EXTERNAL";

/** What a broker knows before anybody has told it otherwise, from the same machine only. */
const DEFAULT_CREDENTIALS: AmqpCredentials = { username: "guest", password: "guest" };

/** One attempt to authenticate. */
export interface SaslAnswer {
  readonly mechanism: Mechanism;
  /** Bytes for the broker alone. */
  readonly response: Uint8Array;
}

/** Asks for credentials once and gives what the broker is told. */
export async function saslAnswer(
  mechanism: Mechanism,
  source: CredentialsSource | undefined,
): Promise<SaslAnswer> {
  if (mechanism === "EXTERNAL") return { mechanism, response: new Uint8Array(0) };
  const { username, password } = checked(await ask(source ?? DEFAULT_CREDENTIALS));
  return { mechanism, response: Buffer.from(`\0${username}\0${password}`) };
}

async function ask(source: CredentialsSource): Promise<AmqpCredentials> {
  if (typeof source !== "function") return source;
  try {
    return await source();
  } catch (cause) {
    throw new ConnectionError("ACEMQ_CONNECT_AUTH", "Cannot ask for credentials: the provider failed", { cause });
  }
}

/** Names neither value: one of them is a secret, and which one was mixed up is not known. */
function checked(credentials: AmqpCredentials): AmqpCredentials {
  const { username, password } = credentials ?? {};
  const isUsable = typeof username === "string" && typeof password === "string" &&
    !username.includes("\0") && !password.includes("\0");
  if (isUsable) return credentials;
  throw new ConnectionError(
    "ACEMQ_CONNECT_AUTH",
    "Cannot use the credentials: user name and password must be text without NUL characters",
  );
}
