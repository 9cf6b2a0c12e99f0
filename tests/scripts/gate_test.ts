/** The gate counts what the runners report, and lets nothing pass that was not run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJunit } from "../../scripts/gate/junit.ts";
import { NONE, skipped, skipsByReason, sum, withServicesRequired } from "../../scripts/gate/outcome.ts";
import { judgeRun } from "../../scripts/gate/runners.ts";
import { fileNameOf, snippetsOfPage, snippetsOfSource } from "../../scripts/gate/snippets.ts";

describe("the gate's counting", () => {
  it("reads Node's report, where suites enclose their tests", () => {
    const outcome = readJunit(`<testsuites>
      <testsuite name="outer" tests="3" failures="1">
        <testcase name="holds" file="/home/a/tests/src/b_test.ts"/>
        <testsuite name="inner"><testcase name="breaks" file="/home/a/tests/src/b_test.ts" failure="1 !== 2">
          <failure type="testCodeFailure" message="1 !== 2&#10;&#10;at x">Error</failure></testcase></testsuite>
        <testcase name="waits" file="/home/a/tests/src/b_test.ts"><skipped type="skipped" message="no broker"/></testcase>
      </testsuite>
      <testcase name="a -> b &amp; c" file="/home/a/tests/src/b_test.ts"/>
    </testsuites>`);
    assert.deepEqual(outcome, {
      passed: 2,
      failures: [{ name: "tests/src/b_test.ts: outer > inner > breaks", reason: "1 !== 2" }],
      skips: [{ name: "tests/src/b_test.ts: outer > waits", reason: "no broker" }],
    });
  });

  it("reads Deno's report, where suites stand beside their tests", () => {
    const outcome = readJunit(`<testsuites name="deno test" tests="5">
      <testsuite name="./b_test.ts">
        <testcase name="outer" classname="./b_test.ts"><failure message="1 test step failed">x</failure></testcase>
        <testcase name="set up" classname="./b_test.ts"><failure message="Error: before">x</failure></testcase>
      </testsuite>
      <testsuite name="./tests/contract/a.ts">
        <testcase name="from elsewhere"></testcase>
      </testsuite>
      <testsuite name="ext:deno_node/testing.ts">
        <testcase name="from elsewhere &gt; holds as well"></testcase>
        <testcase name="outer &gt; inner"></testcase>
        <testcase name="outer &gt; inner &gt; holds"></testcase>
        <testcase name="outer &gt; breaks"><failure message="no">x</failure></testcase>
        <testcase name="outer &gt; waits"><skipped/></testcase>
      </testsuite></testsuites>`);
    assert.equal(outcome.passed, 2);
    assert.deepEqual(outcome.failures.map(({ name }) => name), ["set up", "outer > breaks"]);
    assert.deepEqual(outcome.skips.map(({ name }) => name), ["outer > waits"]);
  });

  it("blames a Deno suite that failed though each of its tests passed", () => {
    const outcome = readJunit(`<testsuites>
      <testcase name="outer"><failure message="Error: after">x</failure></testcase>
      <testcase name="outer &gt; holds"></testcase></testsuites>`);
    assert.equal(outcome.passed, 1);
    assert.deepEqual(outcome.failures, [{ name: "outer", reason: "Error: after" }]);
  });

  it("reads Bun's report, where each file is a suite", () => {
    const outcome = readJunit(`<testsuites name="bun test">
      <testsuite name="tests/b_test.ts" file="tests/b_test.ts"><testsuite name="outer" file="tests/b_test.ts">
        <testcase name="holds" file="tests/b_test.ts" line="4" />
        <testcase name="waits" file="tests/b_test.ts" line="5"><skipped /></testcase>
      </testsuite></testsuite></testsuites>`);
    assert.deepEqual(outcome, {
      passed: 1,
      failures: [],
      skips: [{ name: "tests/b_test.ts: outer > waits", reason: "" }],
    });
  });

  it("adds up", () => {
    const one = { passed: 2, failures: [{ name: "a", reason: "b" }], skips: [] };
    assert.deepEqual(sum([one, NONE, skipped("c", "d")]), { ...one, skips: [{ name: "c", reason: "d" }] });
  });

  it("says for each reason how many tests were skipped, on the runners too that report none", () => {
    const skips = [
      { name: "tests/a_test.ts: outer > waits", reason: "no RabbitMQ" },
      { name: "outer > waits", reason: "" },
      { name: "tests/a_test.ts: outer > waits", reason: "" },
      { name: "outer > sleeps", reason: "" },
    ];
    assert.deepEqual([...skipsByReason(skips)], [["no RabbitMQ", 3], ["the runner reports no reason", 1]]);
  });

  it("fails a runner that fails without saying why, and one that ran no test although it says that all is well", () => {
    const one = '<testsuites><testcase name="holds"/></testsuites>';
    assert.deepEqual(judgeRun("node24", 0, one), { passed: 1, failures: [], skips: [] });
    assert.deepEqual(judgeRun("node24", 7, one).failures, [
      { name: "node24", reason: "The runner ended with 7, see its output" },
    ]);
    for (const nothing of ["", "<testsuites></testsuites>"]) {
      assert.deepEqual(judgeRun("bun", 0, nothing).failures, [
        { name: "bun", reason: "The runner ended with 0 and ran no test" },
      ]);
    }
  });

  it("takes a skipped broker test for a failure where services are required [DOC-04]", () => {
    const skips = [
      { name: "tests/adapters/amqp/broker_test.ts: outer > waits", reason: "no RabbitMQ" },
      { name: "tests/adapters/amqp/rabbitmq4_test.ts: header L", reason: "no debootstrap" },
      { name: "on RabbitMQ 4 > a header of type L", reason: "" },
    ];
    const outcome = withServicesRequired({ passed: 1, failures: [], skips });
    assert.deepEqual(outcome.failures.map(({ name }) => name), ["tests/adapters/amqp/broker_test.ts: outer > waits"]);
    assert.deepEqual(outcome.skips, skips.slice(1));
    assert.equal(outcome.passed, 1);
  });
});

describe("the code in the documentation [DOC-06]", () => {
  const fence = "```";

  it("is every TypeScript block of a page, run where it says so, together with what it continues", () => {
    const page = `# A\n\n${fence}ts runnable\nconst a = 1;\n${fence}\n\n${fence}sh\nnpm test\n${fence}\n` +
      `${fence}ts continues\na + 1;\n${fence}\n`;
    assert.deepEqual(snippetsOfPage("docs/a.md", page), [
      { path: "docs/a.md", line: 4, code: "const a = 1;\n", isRunnable: true },
      { path: "docs/a.md", line: 11, code: "const a = 1;\na + 1;\n", isRunnable: false },
    ]);
  });

  it("is every block of an @example, always run", () => {
    const source = `/** One.\n *\n * ${fence}ts\n * prose();\n * ${fence}\n */\n` +
      `/**\n * Two.\n *\n * @example Sending\n * ${fence}ts\n * if (a) {\n *   b();\n * }\n * ${fence}\n */\nfunction c() {}\n`;
    const [only, ...rest] = snippetsOfSource("src/a.ts", source);
    assert.deepEqual(only, { path: "src/a.ts", line: 12, code: "if (a) {\n  b();\n}\n", isRunnable: true });
    assert.deepEqual(rest, []);
    assert.equal(only === undefined ? "" : fileNameOf(only), "src__a.ts__line_12.ts");
  });
});
