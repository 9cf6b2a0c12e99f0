/**
 * A PostgreSQL of one test's own, which may be stopped: a cluster in a temporary folder, gone with the process that started it.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import { until } from "./until.ts";

/** Where Debian has the programs that are not for everybody's path. */
const VERSIONS = "/usr/lib/postgresql";

/** `crash`: every connection is reset, and the next start recovers from the log. `fast`: connections are told, and it tidies up. */
export type Stop = "crash" | "fast";

const SIGNALS: Readonly<Record<Stop, string>> = { crash: "QUIT", fast: "INT" };

/** Runs the server until a line names a signal, or until whoever started it is gone. */
const KEEPER = `"$@" & server=$!; read -r how; kill -"\${how:-QUIT}" $server; wait $server`;

/** `false` where one can be started, else why its tests are skipped. */
export function missingOwnPostgres(): string | false {
  return programs() === undefined ? "there is no 'initdb', try 'scripts/services.sh'" : false;
}

/** See the module. */
export class OwnPostgres {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #keeper: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://acemq@127.0.0.1:${port}/postgres`;
  }

  /** Makes a cluster and starts it. */
  static async open(): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), "acemq-postgres-"));
    if (isRoot()) execFileSync("chown", ["postgres", folder]);
    const made = ["initdb", "-D", join(folder, "data"), "-U", "acemq", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
    const [program = "", ...args] = command(made);
    execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"], cwd: folder });
    const postgres = new OwnPostgres(folder, await freePort());
    await postgres.start();
    return postgres;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const settings = {
      port: this.#port,
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      // Nobody takes the machine's power away.
      fsync: "off",
      log_min_messages: "panic",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const [server = "", ...args] = programOf(["postgres", "-D", join(this.#folder, "data"), ...flags]);
    const [program = "", ...rest] = asUser(["sh", "-c", KEEPER, "keeper", server, ...args]);
    this.#keeper = spawn(program, rest, { stdio: ["pipe", "ignore", "ignore"], cwd: this.#folder });
    await until("PostgreSQL to take connections", () => this.ask("SELECT 1").then(() => true, () => false), {
      timeoutMs: 60_000,
    });
  }

  /** Resolves when nothing of it runs. */
  async stop(how: Stop): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === undefined) return;
    this.#keeper = undefined;
    const over = once(keeper, "exit");
    keeper.stdin?.end(`${SIGNALS[how]}\n`);
    await over;
  }

  /** Ends every connection but the one that asks for it. */
  async terminateConnections(): Promise<void> {
    await this.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
    );
  }

  /** Runs SQL on a connection of its own. */
  async ask(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on("error", () => {/* the query rejects */});
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Stops it and removes everything. */
  async close(): Promise<void> {
    await this.stop("crash");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** PostgreSQL does not run as root. */
function asUser(args: readonly string[]): readonly string[] {
  return isRoot() ? ["runuser", "-u", "postgres", "--", ...args] : args;
}

function command(args: readonly string[]): readonly string[] {
  return asUser(programOf(args));
}

function programOf([name = "", ...args]: readonly string[]): readonly string[] {
  return [join(programs() ?? "", name), ...args];
}

/** The folder of the newest version there is. */
function programs(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  return versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(VERSIONS, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
