/**
 * What does a codec cost on top of the library it is built on: an object of 1 KB to bytes, and bytes to the object?
 *
 * `bare` is the library alone, called as the codec calls it, with the conversion between text and bytes that no message goes without. XML has no bare writer: the
 * library only reads, so JSON's stands for it, and nothing is asked of the ratio.
 *
 * @module
 */
import { parseXml } from "@rgrove/parse-xml";
import avsc from "avsc";
import { dump, load } from "js-yaml";
import { parse, stringify } from "smol-toml";
import { avroCodec } from "../adapters/avro/mod.ts";
import { tomlCodec } from "../adapters/toml/mod.ts";
import { xmlCodec } from "../adapters/xml/mod.ts";
import { yamlCodec } from "../adapters/yaml/mod.ts";
import { jsonCodec } from "../src/codec/json.ts";
import type { Codec, EncodedPayload } from "../src/ports/codec.ts";
import { type Contestant, roundsFromArguments, runRounds, runtimeName, type Sample, Stopwatch } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";

/** Both directions, one way of doing them. */
interface Format extends Contestant {
  readonly write: (payload: unknown) => Uint8Array;
  readonly read: (body: Uint8Array) => unknown;
}

/** A format: the codec, the library alone, and how many messages make a turn. */
interface Pair {
  readonly name: string;
  readonly codec: Codec;
  readonly bare: Omit<Format, "name">;
  readonly messages: number;
  readonly budgets?: Readonly<Partial<Record<Direction, Budget>>>;
}

type Direction = "write" | "read";

/** What every format has to keep, in both directions, unless it says otherwise. */
const BUDGET: Budget = { cpuToBare: 1.1 };

/** JSON is walked before it is written and measured before it is read. On Bun, whose own are four times as fast, a ratio says little. */
const JSON_BUDGET: Budget = runtimeName() === "bun" ? { cpuOverBareUs: 1.2 } : { cpuToBare: 1.4 };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

const field = (name: string, type: unknown): object => ({ name, type });
const text = (name: string): object => field(name, "string");

/** The payloads' schema. */
const ORDER = {
  type: "record",
  name: "Order",
  fields: [
    text("orderId"),
    text("placedAt"),
    field("customer", {
      type: "record",
      name: "Customer",
      fields: [field("id", "int"), text("name"), text("city"), field("tags", { type: "array", items: "string" })],
    }),
    field("lines", {
      type: "array",
      items: {
        type: "record",
        name: "Line",
        fields: [
          text("sku"),
          text("title"),
          field("quantity", "int"),
          field("unitCents", "long"),
          field("taxRate", "double"),
        ],
      },
    }),
    field("gift", "boolean"),
    text("remark"),
    field("totalCents", "long"),
  ],
};
const avscOrder = avsc.Type.forSchema(ORDER as avsc.Schema);

const PAIRS: readonly Pair[] = [
  {
    name: "json",
    codec: jsonCodec(),
    bare: {
      write: (payload) => encoder.encode(JSON.stringify(payload)),
      read: (body) => JSON.parse(decoder.decode(body)),
    },
    messages: 20_000,
    budgets: { write: JSON_BUDGET, read: JSON_BUDGET },
  },
  {
    name: "yaml",
    codec: yamlCodec(),
    bare: { write: (payload) => encoder.encode(dump(payload)), read: (body) => load(decoder.decode(body)) },
    messages: 2_000,
  },
  {
    name: "toml",
    codec: tomlCodec(),
    bare: {
      write: (payload) => encoder.encode(stringify(payload)),
      read: (body) => parse(decoder.decode(body), { integersAsBigInt: "asNeeded", maxDepth: 100 }),
    },
    messages: 4_000,
  },
  {
    name: "xml",
    codec: xmlCodec(),
    bare: {
      write: (payload) => encoder.encode(JSON.stringify(payload)),
      read: (body) => parseXml(decoder.decode(body), { preserveDocumentType: true, preserveXmlDeclaration: true }),
    },
    messages: 3_000,
    budgets: { write: {} },
  },
  {
    name: "avro",
    codec: avroCodec(ORDER),
    bare: {
      write: (payload) => avscOrder.toBuffer(payload),
      // It takes a Buffer and nothing else, so a body off the wire has to become a view of one.
      read: (body) => avscOrder.fromBuffer(Buffer.from(body.buffer, body.byteOffset, body.byteLength)),
    },
    messages: 30_000,
  },
];

/** Different messages, so that no runtime can take one answer for all. */
const PAYLOADS: readonly unknown[] = Array.from({ length: 64 }, (_, index) => payloadOf(index));

/** An order as orders are: names that repeat, texts of several lengths, numbers, a list of records. 1 KB as JSON. */
function payloadOf(index: number): unknown {
  const line = (at: number): unknown => ({
    sku: `SKU-${1_000 + index * 7 + at}`,
    title: "Ceramic mug, 330 ml, glazed",
    quantity: 1 + at % 4,
    unitCents: 1_250 + at * 35,
    taxRate: 0.2,
  });
  return {
    orderId: `A-${100_000 + index}`,
    placedAt: "2026-03-04T05:06:07.890Z",
    customer: { id: 7_000 + index, name: "Nora Lind", city: "Malmö", tags: ["returning", "newsletter"] },
    lines: Array.from({ length: 6 }, (_, at) => line(at)),
    gift: index % 2 === 0,
    remark: "Leave the parcel with the neighbours on the second floor, please.",
    totalCents: 9_360 + index,
  };
}

function ours({ codec }: Pair): Format {
  const { contentType } = codec;
  return {
    name: OURS,
    write: (payload) => (codec.encode(payload) as EncodedPayload).body,
    read: (body) => codec.decode(body, { contentType }),
  };
}

/** The work of a round; what it returns is looked at, so that it has to be done. */
function measure(format: Format, direction: Direction, { bodies, messages }: Round): Sample {
  const stopwatch = new Stopwatch();
  let seen = 0;
  stopwatch.start();
  for (let index = 0; index < messages; index++) {
    const made = direction === "write"
      ? format.write(PAYLOADS[index & 63])
      : format.read(bodies[index & 63] as Uint8Array);
    if (made !== undefined) seen++;
  }
  const sample = stopwatch.stop(messages);
  if (seen < messages) throw new Error(`Cannot count a round of ${format.name}: messages were lost`);
  return sample;
}

interface Round {
  readonly bodies: readonly Uint8Array[];
  readonly messages: number;
}

for (const pair of PAIRS) {
  const contestants = [ours(pair), { name: BARE, ...pair.bare }];
  const round = { bodies: PAYLOADS.map(ours(pair).write), messages: pair.messages };
  for (const direction of ["write", "read"] satisfies Direction[]) {
    const rounds = { rounds: roundsFromArguments(), turns: 4 };
    const samples = await runRounds(contestants, rounds, (format) => measure(format, direction, round));
    const budget = pair.budgets?.[direction] ?? BUDGET;
    const measured = { bench: "codec", case: `${pair.name}, ${direction}`, budget };
    console.log(JSON.stringify(lineOf(measured, "us CPU/message", samples)));
  }
}
