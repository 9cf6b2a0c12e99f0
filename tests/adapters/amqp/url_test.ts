/** AMQP URLs taken apart. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { formatHost, parseAmqpUrl } from "../../../adapters/amqp/url.ts";
import { SecurityError } from "../../../src/errors.ts";

const PASSWORD = "p@ss#w?rd/$%";

describe("an AMQP URL", () => {
  it("says where to dial and whether to encrypt", () => {
    const parts = (url: string): readonly unknown[] => {
      const { isEncrypted, host, port } = parseAmqpUrl(url);
      return [isEncrypted, host, port];
    };
    assert.deepEqual(parts("amqp://broker"), [false, "broker", 5_672]);
    assert.deepEqual(parts("amqps://broker"), [true, "broker", 5_671]);
    assert.deepEqual(parts("amqp://broker:1234/vhost"), [false, "broker", 1234]);
    assert.deepEqual(parts("amqps://[::1]:5671"), [true, "::1", 5_671]);
    assert.equal(formatHost(parseAmqpUrl("amqps://[::1]:5671")), "[::1]:5671");
    assert.equal(formatHost(parseAmqpUrl("amqp://broker")), "broker:5672");
  });

  it("gives user and password as they are, however they had to be written [CN-28]", () => {
    const written = encodeURIComponent(PASSWORD);
    assert.deepEqual(parseAmqpUrl(`amqp://us%40er:${written}@broker`).credentials, {
      username: "us@er",
      password: PASSWORD,
    });
    assert.deepEqual(parseAmqpUrl("amqp://user@broker").credentials, { username: "user", password: "" });
    assert.equal(parseAmqpUrl("amqp://broker").credentials, undefined);
  });

  it("names the virtual host, which is / when it names none [CN-28]", () => {
    const hosts: readonly (readonly [string, string])[] = [
      ["", "/"],
      ["/", "/"],
      ["/%2F", "/"],
      ["/%2f", "/"],
      ["/shop", "shop"],
      ["/a%2Fb", "a/b"],
      ["/a/b", "a/b"],
      ["/%252F", "%2F"],
      ["/sch%C3%B6n", "sch\u00f6n"],
    ];
    for (const [path, name] of hosts) assert.equal(parseAmqpUrl(`amqp://broker${path}`).virtualHost, name, path);
  });

  const unusable: readonly (readonly [string, string, RegExp])[] = [
    ["another scheme", `http://u:${encodeURIComponent(PASSWORD)}@broker`, /its scheme must be amqp or amqps/],
    ["no scheme", "localhost", /its scheme is missing: it begins with amqps:\/\/ or amqp:\/\//],
    ["no scheme but a port", "127.0.0.1:5672", /its scheme is missing/],
    ["no scheme but a name and a port", "broker:5672", /its scheme is missing/],
    ["no scheme but a user", "u:pw@broker", /its scheme is missing/],
    ["half a scheme", "amqp:broker", /its scheme is missing/],
    ["no host", "amqp://", /it names no host/],
    ["an unescaped #", "amqp://u:p@ss#w@broker", /a '#' in a user name or password is written %23/],
    ["an unescaped ?", "amqp://u:p@ss?w@broker", /a '\?' in a user name or password is written %3F/],
    ["an unescaped /", "amqp://u:p/w@broker", /it is no URL/],
    ["an unescaped %", "amqp://u:p%w@broker", /a '%' in it is written %25/],
    ["a setting", "amqp://u:pw@broker?heartbeat=5", /settings are options, not query parameters/],
    ["a virtual host of 256 bytes", `amqp://u:pw@broker/${"v".repeat(256)}`, /must fit 255 bytes/],
  ];
  for (const [what, url, problem] of unusable) {
    it(`is refused with ${what}, and the error shows nothing of it [SEC-03]`, () => {
      assert.throws(() => parseAmqpUrl(url), (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, problem);
        const shown = inspect(error, { depth: 10, showHidden: true });
        return !shown.includes(url) && !shown.includes("u:p");
      });
    });
  }

  it("cannot switch verification off [SEC-05]", () => {
    assert.throws(() => parseAmqpUrl("amqps://broker?insecure"), SecurityError);
  });
});
