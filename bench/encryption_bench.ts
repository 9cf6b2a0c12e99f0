/**
 * What does sealing a body cost on top of the runtime's own AES-GCM, and opening one?
 *
 * `bare` is WebCrypto alone with a key that is imported once: a fresh nonce, with the ciphertext and its tag behind it, which is the
 * least that a message has to carry. Bodies are sealed one after another, as a publisher in a loop does it.
 *
 * @module
 */
import { encryptedCodec } from "../src/codec/encrypted.ts";
import { keyring } from "../src/codec/keyring.ts";
import type { Codec } from "../src/ports/codec.ts";
import { type Contestant, roundsFromArguments, runRounds, type Sample, Stopwatch } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";

/** Both directions, one way of doing them. */
interface Sealer extends Contestant {
  readonly seal: (plaintext: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;
  readonly open: (body: Uint8Array) => Promise<Uint8Array>;
}

const BUDGET: Budget = { rateToBare: 0.9 };

const SIZES: readonly { readonly title: string; readonly bytes: number; readonly messages: number }[] = [
  { title: "1 KB", bytes: 1_024, messages: 4_000 },
  { title: "64 KB", bytes: 65_536, messages: 1_000 },
  { title: "1 MB", bytes: 1_048_576, messages: 80 },
];

const NONCE_BYTES = 12;

const secret = crypto.getRandomValues(new Uint8Array(32));

/** Bytes as they are, without a copy: what is measured is the sealing. */
const asTheyAre: Codec<Uint8Array> = {
  contentType: "application/octet-stream",
  canDecode: () => true,
  encode: (payload) => ({ body: payload }),
  decode: (body) => body,
};

function ours(): Sealer {
  const codec = encryptedCodec(asTheyAre, keyring({ current: "2026-01", keys: { "2026-01": secret } }));
  return {
    name: OURS,
    seal: async (plaintext) => (await codec.encode(plaintext)).body,
    open: async (body) => await codec.decode(body, {}),
  };
}

async function bare(): Promise<Sealer> {
  const key = await crypto.subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt", "decrypt"]);
  return {
    name: BARE,
    seal: async (plaintext) => {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, plaintext);
      const body = new Uint8Array(NONCE_BYTES + sealed.byteLength);
      body.set(iv);
      body.set(new Uint8Array(sealed), NONCE_BYTES);
      return body;
    },
    open: async (body) => {
      const whole = body as Uint8Array<ArrayBuffer>;
      const iv = whole.subarray(0, NONCE_BYTES);
      return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, whole.subarray(NONCE_BYTES)));
    },
  };
}

async function timed(messages: number, work: () => Promise<Uint8Array>): Promise<Sample> {
  const stopwatch = new Stopwatch();
  let bytes = 0;
  stopwatch.start();
  for (let index = 0; index < messages; index++) bytes += (await work()).byteLength;
  const sample = stopwatch.stop(messages);
  if (bytes === 0) throw new Error("Cannot count a turn: nothing came out of it");
  return sample;
}

const contestants = [ours(), await bare()];
for (const { title, bytes, messages } of SIZES) {
  const plaintext = new Uint8Array(bytes).map((_, index) => index & 0xff);
  const bodies = new Map<Sealer, Uint8Array>();
  for (const sealer of contestants) bodies.set(sealer, await sealer.seal(plaintext));
  const works = {
    seal: (sealer: Sealer) => sealer.seal(plaintext),
    open: (sealer: Sealer) => sealer.open(bodies.get(sealer) as Uint8Array),
  };
  for (const [direction, work] of Object.entries(works)) {
    const rounds = { rounds: roundsFromArguments(), turns: 4 };
    const samples = await runRounds(contestants, rounds, (sealer) => timed(messages, () => work(sealer)));
    const measured = { bench: "encryption", case: `${direction}, ${title}`, budget: BUDGET };
    console.log(JSON.stringify(lineOf(measured, "messages/s", samples)));
  }
}
