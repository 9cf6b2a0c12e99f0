/**
 * The header names of the wire contract (contract core 1.1), each in one place.
 *
 * @module
 */

/** Names that begin so are the engine's: read into the envelope, never seen by a handler, never set by hand. */
export const RESERVED_PREFIX = "x-acemq-";

/** Message id, the idempotency key. Text. */
export const HEADER_ID = "x-acemq-id";
/** Logical type. Text. */
export const HEADER_TYPE = "x-acemq-type";
/** Payload schema version, from 1. 32-bit integer. */
export const HEADER_VERSION = "x-acemq-version";
/** Business correlation. Text. */
export const HEADER_CORRELATION = "x-acemq-correlation";
/** Id of the message that caused this one. Text. */
export const HEADER_CAUSATION = "x-acemq-causation";
/** Delivery attempt, from 1. 32-bit integer. */
export const HEADER_ATTEMPT = "x-acemq-attempt";
/** First publish, epoch milliseconds. 64-bit integer. */
export const HEADER_FIRST_SEEN = "x-acemq-first-seen";
/** `service@host`. Text. */
export const HEADER_ORIGIN = "x-acemq-origin";
/** Why the message was set aside. Free text, never parsed. */
export const HEADER_ERROR = "x-acemq-error";
/** Where the payload is, when the application says so. Text. */
export const HEADER_CLAIM = "x-acemq-claim";
/** Step names of a declared route, comma joined. Text. */
export const HEADER_ROUTE = "x-acemq-route";
/** Index of the step the message is for. 32-bit integer. */
export const HEADER_ROUTE_POSITION = "x-acemq-route-position";
/** Run id of a declared route. Text. */
export const HEADER_ROUTE_ID = "x-acemq-route-id";

/** Queue a replayed message was read from. Text; shared with the application. */
export const HEADER_REPLAYED_FROM = "acemq-replayed-from";
/** When a message was replayed, RFC 3339. Text; shared with the application. */
export const HEADER_REPLAYED_AT = "acemq-replayed-at";
/** How often a message was replayed. 32-bit integer; shared with the application. */
export const HEADER_REPLAY_COUNT = "acemq-replay-count";

/** Where old Java and .NET wrote {@linkcode HEADER_REPLAYED_FROM}: read when the new name is unreadable, never written. */
export const LEGACY_REPLAYED_FROM = "x-acemq-replayed-from";
/** Where old Java and .NET wrote {@linkcode HEADER_REPLAYED_AT}. */
export const LEGACY_REPLAYED_AT = "x-acemq-replayed-at";
/** Where old Java and .NET wrote {@linkcode HEADER_REPLAY_COUNT}. */
export const LEGACY_REPLAY_COUNT = "x-acemq-replay-count";

/** Whether a name belongs to the engine: the literal prefix, case-sensitive. */
export function isReserved(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX);
}

/** Whether a name is one of the three that a replay writes anew. */
export function isReplayStamp(name: string): boolean {
  return name === HEADER_REPLAYED_FROM || name === HEADER_REPLAYED_AT || name === HEADER_REPLAY_COUNT;
}
