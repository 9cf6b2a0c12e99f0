/**
 * The RabbitMQ node that tests may stop, block and restart, for one test file at a time.
 *
 * What is asked of the node is evaluated inside it, by `erl_call`, which comes with every Erlang: a call takes 10 ms where
 * `rabbitmqctl` takes a second. A fault is brought about by the same functions `rabbitmqctl` calls.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { randomUuid } from "../../src/clock.ts";
import { FAULT_AMQP_URL, FAULT_NODE } from "./services.ts";
import { until } from "./until.ts";

/** One consumer, as the broker has it. */
export interface ConsumerOnBroker {
  readonly tag: string;
  readonly prefetch: number;
}

/** What there is of a connection when it stands. */
export interface Standing {
  readonly channels: number;
  /** What it consumes from. */
  readonly queue: string;
}

/** A resource whose shortage makes RabbitMQ block every connection that publishes. */
export type Alarm = "memory" | "disk";

const LOCK = "/tmp/acemq-fault.lock";
const SERVICES = fileURLToPath(new URL("../../scripts/services.sh", import.meta.url));

/** The node as `scripts/services.sh` configures it. */
const DEFAULTS =
  "application:set_env(rabbit, heartbeat, 60), application:set_env(rabbit, consumer_timeout, 1800000), " +
  "application:set_env(rabbit, channel_tick_interval, 60000), " +
  "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 180000), vm_memory_monitor:set_vm_memory_high_watermark(0.4), " +
  "rabbit_disk_monitor:set_disk_free_limit(50000000)";

const ALARMS: Readonly<Record<Alarm, string>> = {
  memory: "vm_memory_monitor:set_vm_memory_high_watermark(0.0000001)",
  disk: "rabbit_disk_monitor:set_disk_free_limit(1000000000000000)",
};

/** The node, held exclusively. */
export class FaultNode {
  readonly url: string = FAULT_AMQP_URL;
  readonly #lock: ChildProcess;
  #logPath = "";

  private constructor(lock: ChildProcess) {
    this.#lock = lock;
  }

  /** Waits until nobody else has the node, and takes it. The lock is gone with the process, however that ends. */
  static async take(): Promise<FaultNode> {
    const lock = spawn("flock", [LOCK, "sh", "-c", "echo taken; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
    await once(lock.stdout, "data");
    const node = new FaultNode(lock);
    await node.reset();
    node.#logPath = await node.ask<string>("list_to_binary(hd(rabbit:log_locations()))");
    return node;
  }

  /** Puts every setting back and ends every alarm. */
  async reset(): Promise<void> {
    await this.evaluate(DEFAULTS);
  }

  /** Has the node as it should be, whatever a test has left undone. */
  async revive(): Promise<void> {
    await this.startApplication().catch(() => this.start());
    await this.reset();
  }

  /** Lets others have the node. */
  async giveBack(): Promise<void> {
    await this.reset();
    const released = once(this.#lock, "exit");
    this.#lock.stdin?.end();
    await released;
  }

  /** Evaluates an Erlang expression whose value can be written as JSON. */
  async ask<T>(expression: string): Promise<T> {
    const printed = await this.evaluate(`binary_to_list(rabbit_json:encode(begin ${expression} end))`);
    const text = /^\{ok, "(.*)"\}$/s.exec(printed)?.[1];
    if (text === undefined) throw new Error(`Cannot read the answer of the node to '${expression}': ${printed}`);
    return JSON.parse(text) as T;
  }

  /** Evaluates Erlang expressions and gives the last value as Erlang prints it. */
  async evaluate(expressions: string): Promise<string> {
    // The node now and then has the caller's random name still in use; then nothing was evaluated.
    return await until(`an answer of ${FAULT_NODE}`, async () => {
      const { printed, complaint } = await erlCall(expressions);
      if (printed.startsWith("{ok,")) return printed;
      if (complaint.includes("failed to connect")) return undefined;
      throw new Error(`Cannot evaluate '${expressions}' on ${FAULT_NODE}: ${printed}${complaint}`);
    });
  }

  /** Sets what new connections and channels go by: the names are those of RabbitMQ's own settings, times in milliseconds. */
  async configure(settings: { readonly [name: string]: number }): Promise<void> {
    const calls = Object.entries(settings).map(([name, value]) => `application:set_env(rabbit, ${name}, ${value})`);
    await this.evaluate(calls.join(", "));
  }

  /** How many channels each connection of this name has. */
  channels(connection: string): Promise<number[]> {
    return this.ask(
      `${named(connection)}, [proplists:get_value(channels, rabbit_reader:info(P, [channels])) || P <- Named]`,
    );
  }

  /** What each connection of this name is doing, in the broker's words: `running`, `blocking`, `blocked`. */
  states(connection: string): Promise<string[]> {
    return this.ask(`${named(connection)}, [proplists:get_value(state, rabbit_reader:info(P, [state])) || P <- Named]`);
  }

  /** Whether every connection has heard that the node is short of something. */
  isBlocking(): Promise<boolean> {
    return this.ask(
      "lists:all(fun(P) -> case catch rabbit_reader:info(P, [state]) of [{_, S}] -> S =/= running; _ -> true end end, " +
        "rabbit_networking:local_connections())",
    );
  }

  /** Closes every connection of this name with CONNECTION_FORCED, and says how many there were. */
  forceClose(connection: string): Promise<number> {
    return this.ask(
      `${named(connection)}, [rabbit_networking:close_connection(P, <<"a test">>) || P <- Named], length(Named)`,
    );
  }

  /** Runs short of something, until {@linkcode FaultNode.reset}. */
  async raiseAlarm(alarm: Alarm): Promise<void> {
    await this.evaluate(ALARMS[alarm]);
  }

  /** The consumers of a queue. */
  consumers(queue: string): Promise<ConsumerOnBroker[]> {
    return this.ask(
      `{ok, Q} = ${
        lookup(queue)
      }, [#{tag => element(2, C), prefetch => element(4, C)} || C <- rabbit_amqqueue:consumers(Q)]`,
    );
  }

  /** Messages of a classic queue, those in consumers' hands included. */
  messages(queue: string): Promise<number> {
    return this.ask(`{ok, Q} = ${lookup(queue)}, proplists:get_value(messages, rabbit_amqqueue:info(Q, [messages]))`);
  }

  /** Messages of a classic queue that no consumer has in hand. */
  waiting(queue: string): Promise<number> {
    return this.ask(
      `{ok, Q} = ${lookup(queue)}, proplists:get_value(messages_ready, rabbit_amqqueue:info(Q, [messages_ready]))`,
    );
  }

  /**
   * Closes the connection of this name with CONNECTION_FORCED as soon as it has so many channels and the queue a consumer; says who
   * that was. One question, where {@linkcode FaultNode.channels}, {@linkcode FaultNode.consumers} and
   * {@linkcode FaultNode.forceClose} are three.
   */
  forceCloseStanding(connection: string, { channels, queue }: Standing): Promise<ConsumerOnBroker[]> {
    return this.ask(
      `${named(connection)}, {ok, Q} = ${lookup(queue)}, ` +
        `Channels = fun() -> [proplists:get_value(channels, rabbit_reader:info(P, [channels])) || P <- Named] end, ` +
        `Close = fun Wait(Tries) -> case {catch Channels(), rabbit_amqqueue:consumers(Q)} of ` +
        `{[${channels}], [C]} -> [rabbit_networking:close_connection(P, <<"a test">>) || P <- Named], ` +
        `[#{tag => element(2, C), prefetch => element(4, C)}]; ` +
        `Found when Tries =:= 0 -> exit(Found); _ -> timer:sleep(5), Wait(Tries - 1) end end, Close(3000)`,
    );
  }

  /**
   * Has the broker close the channels of a connection that are in confirm mode, or those that are not, with a 406: to the broker
   * the client has acknowledged what was never delivered. Says how many there were.
   */
  failChannels(connection: string, { confirming }: { readonly confirming: boolean }): Promise<number> {
    return this.ask(
      `${named(connection)}, Of = fun(C) -> case catch rabbit_channel:info(C, [connection, confirm]) of ` +
        `[{_, P}, {_, ${confirming}}] -> lists:member(P, Named); _ -> false end end, ` +
        `Cs = lists:filter(Of, rabbit_channel:list_local()), ` +
        `[rabbit_channel:do(C, {'basic.ack', 4294967295, false}) || C <- Cs], length(Cs)`,
    );
  }

  /** Removes an exchange behind everybody's back. */
  async deleteExchange(exchange: string): Promise<void> {
    await this.evaluate(
      `ok = rabbit_exchange:delete(rabbit_misc:r(<<"/">>, exchange, <<"${exchange}">>), false, <<"a test">>)`,
    );
  }

  /** Makes a user who may do everything. */
  async addUser(user: string, password: string): Promise<void> {
    const all = `<<".*">>`;
    await this.evaluate(
      `ok = rabbit_auth_backend_internal:add_user(<<"${user}">>, <<"${password}">>, <<"a test">>), ` +
        `ok = rabbit_auth_backend_internal:set_permissions(<<"${user}">>, <<"/">>, ${all}, ${all}, ${all}, <<"a test">>)`,
    );
  }

  /** Gives a user another password; who is connected stays so. */
  async changePassword(user: string, password: string): Promise<void> {
    await this.evaluate(
      `ok = rabbit_auth_backend_internal:change_password(<<"${user}">>, <<"${password}">>, <<"a test">>)`,
    );
  }

  /** Removes a user. */
  async deleteUser(user: string): Promise<void> {
    await this.evaluate(`rabbit_auth_backend_internal:delete_user(<<"${user}">>, <<"a test">>)`);
  }

  /** Stops the process of a classic queue: it takes messages and confirms none. */
  async suspend(queue: string): Promise<void> {
    await this.evaluate(`{ok, Q} = ${lookup(queue)}, sys:suspend(amqqueue:get_pid(Q))`);
  }

  /** Lets a suspended queue go on. */
  async resume(queue: string): Promise<void> {
    await this.evaluate(`{ok, Q} = ${lookup(queue)}, sys:resume(amqqueue:get_pid(Q))`);
  }

  /** Ends the process of a quorum queue: RabbitMQ closes every connection that would consume from it. */
  async stopQuorumQueue(queue: string): Promise<void> {
    await this.evaluate(`{ok, Q} = ${lookup(queue)}, ra:stop_server(quorum_queues, amqqueue:get_pid(Q))`);
  }

  /** Begins it again. */
  async restartQuorumQueue(queue: string): Promise<void> {
    await this.evaluate(`{ok, Q} = ${lookup(queue)}, ra:restart_server(quorum_queues, amqqueue:get_pid(Q))`);
  }

  /** Removes a queue behind everybody's back. */
  async deleteQueue(queue: string): Promise<void> {
    await this.evaluate(`{ok, Q} = ${lookup(queue)}, rabbit_amqqueue:delete(Q, false, false, <<"a test">>)`);
  }

  /** Stops the broker, as `rabbitmqctl stop_app`. */
  async stopApplication(): Promise<void> {
    await this.evaluate("rabbit:stop()");
  }

  /** Starts it again; resolves when it takes connections. */
  async startApplication(): Promise<void> {
    await this.evaluate("rabbit:start()");
  }

  /** Kills the node: no goodbye, no shutdown. */
  async kill(): Promise<void> {
    await services("kill");
  }

  /** Starts a node that was killed; resolves when it takes connections. */
  async start(): Promise<void> {
    await services("start");
  }

  /** What the broker has logged since `mark`, or since ever; give the mark of an earlier call. */
  async log(mark: string = ""): Promise<{ readonly text: string; readonly mark: string }> {
    const next = `mark ${randomUuid()}`;
    await this.evaluate(`rabbit_log:warning("${next}")`);
    const read = (): string => readFileSync(this.#logPath, "utf8");
    // Lines reach the file a little later, and in order.
    const all = await until("the mark in the log", () => read().includes(next) && read());
    return { text: all.slice(Math.max(all.lastIndexOf(mark), 0), all.lastIndexOf(next)), mark: next };
  }
}

/** What a log says of the connections of a name and their channels: others come and go on the same node. */
export function logOf(connection: string, log: string): string {
  const lines = log.split("\n").map((text) => ({ text, writer: /^\S+ \S+ \[\w+\] (<[\d.]+>)/.exec(text)?.[1] ?? "" }));
  const writersOf = (words: readonly string[]): string[] =>
    lines.filter(({ text }) => words.some((word) => text.includes(word))).map(({ writer }) => writer);
  const connections = writersOf([connection]);
  const channels = writersOf(connections.map((writer) => `on connection ${writer} `));
  const writers = new Set([...connections, ...channels]);
  return lines.filter(({ writer }) => writers.has(writer)).map(({ text }) => text).join("\n");
}

/** Binds `Named` to the connections of a name. */
function named(connection: string): string {
  return `Is = fun(P) -> case catch rabbit_reader:info(P, [client_properties]) of [{_, [_ | _] = Ps}] -> ` +
    `lists:member({<<"connection_name">>, longstr, <<"${connection}">>}, Ps); _ -> false end end, ` +
    `Named = lists:filter(Is, rabbit_networking:local_connections())`;
}

/** The result of looking a queue up. */
function lookup(queue: string): string {
  return `rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"${queue}">>))`;
}

async function erlCall(expressions: string): Promise<{ readonly printed: string; readonly complaint: string }> {
  const child = spawn("erl_call", ["-r", "-sname", FAULT_NODE, "-e"], {
    // Where Debian keeps the cookie.
    env: { ...process.env, HOME: "/var/lib/rabbitmq" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {/* it found no node, and did not read on */});
  child.stdin.end(`${expressions}.\n`);
  const [printed, complaint] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, "close")]);
  return { printed, complaint };
}

/** The node outlives the test, so it must not inherit anything the test's runner waits for. */
async function services(command: "kill" | "start"): Promise<void> {
  const child = spawn(SERVICES, ["fault-node", command], { stdio: "ignore" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`Cannot ${command} the fault node: services.sh ended with ${code}`);
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}
