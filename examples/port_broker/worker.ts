/**
 * A thread that has the broker: whoever sends it a port has a connection.
 *
 * @module
 */
import { parentPort } from "node:worker_threads";
import { memoryBroker } from "@acemq/amqp/memory";
import { serveBroker } from "./serve.ts";

const broker = memoryBroker();
parentPort?.on("message", (port: MessagePort) => serveBroker(broker, port));
