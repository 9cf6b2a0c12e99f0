/**
 * Why a link could not be made, or broke: facts, from the broker's numbers and the socket's codes, never from words.
 *
 * @module
 */

import { ConnectionError, SecurityError } from "../../src/errors.ts";
import type { CloseReason } from "./wire/method_frames.ts";

/** How far the opening of a link had come. */
export type LinkPhase = "dialling" | "securing" | "greeting" | "authenticating" | "opening" | "open";

/** What ended a link, or the attempt to make one. */
export type LinkFailure =
  /** The operating system or the TLS library. */
  | { readonly kind: "socket"; readonly text: string }
  /** The broker, in its own words. */
  | { readonly kind: "broker"; readonly reason: CloseReason }
  /** The other end hung up without a word. */
  | { readonly kind: "hung_up" }
  /** The other end has sent nothing for two heartbeats. */
  | { readonly kind: "silent" }
  | { readonly kind: "timeout"; readonly timeoutMs: number }
  /** Something is there, but it does not speak AMQP 0-9-1, or has stopped to. */
  | { readonly kind: "protocol"; readonly text: string }
  /** A plain connection was answered in TLS. */
  | { readonly kind: "speaks_tls" }
  /** No mechanism in common, or the broker wants another round. */
  | { readonly kind: "mechanism"; readonly text: string }
  /** A certificate nobody should trust. */
  | { readonly kind: "untrusted"; readonly text: string };

/** A failure in one sentence without a credential. */
export function describeFailure(failure: LinkFailure): string {
  switch (failure.kind) {
    case "broker":
      return describeClose(failure.reason);
    case "hung_up":
      return "the other end closed the connection";
    case "silent":
      return "nothing was heard for two heartbeats";
    case "timeout":
      return `no answer within ${failure.timeoutMs} ms`;
    case "speaks_tls":
      return "the port speaks TLS, so the URL must begin with amqps";
    default:
      return failure.text;
  }
}

/** `{code} {text}`, as the broker said it. */
export function describeClose({ code, text }: CloseReason): string {
  return `${code} ${text}`;
}

/** The error of a link that could not be made to `where`. */
export function connectError(
  failure: LinkFailure,
  phase: LinkPhase,
  where: string,
): ConnectionError | SecurityError {
  const hint = failure.kind === "hung_up" && phase === "greeting" ? " before it said anything: it may speak TLS" : "";
  const text = `Cannot connect to ${where}: ${describeFailure(failure)}${hint}`;
  return failure.kind === "untrusted" ? new SecurityError(text) : new ConnectionError(codeOf(failure, phase), text);
}

type ConnectCode = "ACEMQ_CONNECT_REFUSED" | "ACEMQ_CONNECT_AUTH" | "ACEMQ_CONNECT_VHOST" | "ACEMQ_CONNECT_TLS";

const ACCESS_REFUSED = 403;

function codeOf(failure: LinkFailure, phase: LinkPhase): ConnectCode {
  if (failure.kind === "speaks_tls" || phase === "securing") return "ACEMQ_CONNECT_TLS";
  if (failure.kind === "mechanism") return "ACEMQ_CONNECT_AUTH";
  if (phase === "authenticating") return codeWhileAuthenticating(failure);
  // After the credentials have passed, all that is asked for is the virtual host.
  return phase === "opening" && failure.kind === "broker" ? "ACEMQ_CONNECT_VHOST" : "ACEMQ_CONNECT_REFUSED";
}

/** A broker that cannot say why hangs up on wrong credentials (AMQP 0-9-1 section 2.2.4). */
function codeWhileAuthenticating(failure: LinkFailure): ConnectCode {
  const isRefusal = failure.kind === "hung_up" || (failure.kind === "broker" && failure.reason.code === ACCESS_REFUSED);
  return isRefusal ? "ACEMQ_CONNECT_AUTH" : "ACEMQ_CONNECT_REFUSED";
}
