/**
 * Payloads beside the broker in a directory, which every AceMQ library on the machine, or on the share, can use.
 *
 * @module
 */

export { type FileClaimCheckOptions, FileClaimCheckStore, fileClaimCheckStore } from "./claim_check_store.ts";
export type { ClaimCheckGetOptions, ClaimCheckStore, KeptPayload } from "../../src/ports/claim_check_store.ts";
export type { StoreCallOptions } from "../../src/ports/idempotency_store.ts";
