/**
 * RabbitMQ, through the AMQP client `@cloudamqp/amqp-client`: confirmed and correlated publishing, exact header values,
 * consumers and topology that come back after every loss, TLS that verifies.
 *
 * @module
 */

export { amqpBroker } from "./broker.ts";
export type { AmqpOptions, ReconnectOptions } from "./options.ts";
export type { CredentialsSource, Mechanism } from "./credentials.ts";
export type { AmqpCredentials } from "./url.ts";
export type { AmqpTlsOptions } from "./tls.ts";
export type { Pem } from "./pem.ts";
