/** The names of contract core 1.1, 1.3 and 1.8, letter by letter. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as names from "../../../src/message/header_names.ts";

describe("the header names", () => {
  it("are the contract's", () => {
    const { isReserved: _isReserved, isReplayStamp: _isReplayStamp, ...constants } = names;
    assert.deepEqual({ ...constants }, {
      RESERVED_PREFIX: "x-acemq-",
      HEADER_ID: "x-acemq-id",
      HEADER_TYPE: "x-acemq-type",
      HEADER_VERSION: "x-acemq-version",
      HEADER_CORRELATION: "x-acemq-correlation",
      HEADER_CAUSATION: "x-acemq-causation",
      HEADER_ATTEMPT: "x-acemq-attempt",
      HEADER_FIRST_SEEN: "x-acemq-first-seen",
      HEADER_ORIGIN: "x-acemq-origin",
      HEADER_ERROR: "x-acemq-error",
      HEADER_CLAIM: "x-acemq-claim",
      HEADER_ROUTE: "x-acemq-route",
      HEADER_ROUTE_POSITION: "x-acemq-route-position",
      HEADER_ROUTE_ID: "x-acemq-route-id",
      HEADER_REPLAYED_FROM: "acemq-replayed-from",
      HEADER_REPLAYED_AT: "acemq-replayed-at",
      HEADER_REPLAY_COUNT: "acemq-replay-count",
      LEGACY_REPLAYED_FROM: "x-acemq-replayed-from",
      LEGACY_REPLAYED_AT: "x-acemq-replayed-at",
      LEGACY_REPLAY_COUNT: "x-acemq-replay-count",
    });
  });

  it("are reserved by their literal prefix, case and all", () => {
    for (const name of ["x-acemq-", "x-acemq-id", "x-acemq-anything"]) assert.equal(names.isReserved(name), true, name);
    for (const name of ["acemq-replayed-at", "X-ACEMQ-id", "x-acemq", "x-AceMQ-id", " x-acemq-id", ""]) {
      assert.equal(names.isReserved(name), false, name);
    }
  });
});
