/**
 * Apache's Avro library for Python, as Debian has it: a peer that shares no code with ours.
 *
 * @module
 */
import { spawnSync } from "node:child_process";

/** Debian's interpreter, which sees Debian's packages. */
const PYTHON = "/usr/bin/python3";
const PEER = new URL("../interop/peers/avro_peer.py", import.meta.url).pathname;

/** A body, the schema it was written with, and the one it is to be read and written again with. */
export interface PeerRequest {
  readonly writer: string;
  readonly reader: string;
  readonly hex: string;
}

/** The body as the peer wrote it, or that it could not. */
export interface PeerAnswer {
  readonly hex?: string;
  readonly error?: string;
}

/** `false` where the peer is installed, else why its tests are skipped. */
export function missingPythonAvro(): string | false {
  const { status } = spawnSync(PYTHON, ["-c", "import avro.io"], { stdio: "ignore" });
  return status === 0 ? false : "Debian's python3-avro is not installed, try 'scripts/services.sh python-avro'";
}

/** Has the peer read and write bodies. */
export function askPythonAvro(requests: readonly PeerRequest[]): readonly PeerAnswer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join("");
  const { status, stdout, stderr } = spawnSync(PYTHON, [PEER], {
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`The peer ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line) as PeerAnswer);
}
