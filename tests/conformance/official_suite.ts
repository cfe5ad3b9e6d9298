import assert from "node:assert/strict";
import { startSuiteServer } from "./server.ts";

const OLD = "0.1.16";
const NEW = "0.2.0-alpha.12";

interface Outcome {
  code: number;
  output: string;
  /** Scenario → checks passed and failed. */
  scenarios: Map<string, { passed: number; failed: number }>;
  /** Scenarios that the suite itself does not count. */
  unscored: Set<string>;
}

/** Runs the official suite of this version, under Deno, in a process of its own. */
async function runSuite(version: string, url: string, ...args: string[]): Promise<Outcome> {
  const folder = await Deno.makeTempDir();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--no-lock",
      "--no-config",
      `npm:@modelcontextprotocol/conformance@${version}`,
      "server",
      "--url",
      url,
      ...args,
    ],
    cwd: folder,
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.remove(folder, { recursive: true });
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const [, summary = ""] = output.split("=== SUMMARY ===");
  const scenarios = new Map(
    [...summary.matchAll(/^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed/gm)].map((m) => [
      m[1] ?? "",
      { passed: Number(m[2]), failed: Number(m[3]) },
    ]),
  );
  const [, rest = ""] = summary.split(/^Not scored for/m);
  return {
    code,
    output,
    scenarios,
    unscored: new Set([...rest.matchAll(/^ +[✓✗] ([a-z0-9-]+) \(/gm)].map((m) => m[1] ?? "")),
  };
}

/** Scenarios that failed a check, without those that do not count. */
const failing = (o: Outcome): string[] =>
  [...o.scenarios].filter(([name, s]) => s.failed > 0 && !o.unscored.has(name)).map(([name]) => name).sort();

Deno.test("the official suite 0.1.16: every scenario passes", async () => {
  await using server = await startSuiteServer({ fixtures: true });
  const outcome = await runSuite(OLD, server.url, "--suite", "all");
  assert.deepEqual(failing(outcome), [], outcome.output);
  assert.equal(outcome.code, 0);
  assert.ok(outcome.scenarios.size >= 30, outcome.output);
});

for (const revision of ["2025-11-25", "2026-07-28"]) {
  Deno.test(`the official suite 0.2: everything that ${revision} requires passes`, async () => {
    await using server = await startSuiteServer({ fixtures: true });
    const outcome = await runSuite(NEW, server.url, "--requirements", revision);
    assert.equal(outcome.code, 0, outcome.output);
    assert.deepEqual(failing(outcome), [], outcome.output);
    assert.ok(outcome.scenarios.size >= 30, outcome.output);
  });
}

/** What cannot apply to the real tools, and why. Everything else has to pass. */
const CANNOT: Readonly<Record<string, readonly string[]>> = {
  "calls tools that only the suite's example server has": [
    "json-schema-2020-12",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-call-with-logging",
  ],
  "asks for test:// resources": [
    "resources-read-binary",
    "resources-read-text",
    "resources-subscribe",
    "resources-templates-read",
    "resources-unsubscribe",
  ],
  "asks for prompts that only the example server has": [
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
  ],
  "needs the logging capability, which is not offered: log channels are resources and tools": ["logging-set-level"],
  "needs a tool that asks the client for input or for a model's answer; none of ours does": [
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "tools-call-elicitation",
    "tools-call-sampling",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-list-roots",
    "input-required-result-basic-sampling",
    "input-required-result-capability-check",
    "input-required-result-multi-round",
    "input-required-result-multiple-input-requests",
    "input-required-result-non-tool-request",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
  ],
  "four of its 28 checks call such tools": ["server-stateless"],
};

Deno.test("the real tools pass the official suite but for what cannot apply to them", async () => {
  await using server = await startSuiteServer({ fixtures: false });
  const failed = new Set<string>();
  const passed = new Set<string>();
  for (
    const [version, ...args] of [
      [OLD, "--suite", "all"],
      [NEW, "--requirements", "2025-11-25"],
      [NEW, "--requirements", "2026-07-28"],
    ] as const
  ) {
    const outcome = await runSuite(version, server.url, ...args);
    for (const name of failing(outcome)) failed.add(name);
    for (const [name, { failed: n }] of outcome.scenarios) if (n === 0) passed.add(name);
    const stateless = outcome.scenarios.get("server-stateless");
    if (stateless) assert.deepEqual(stateless, { passed: 24, failed: 4 });
  }
  assert.deepEqual([...failed].sort(), Object.values(CANNOT).flat().sort());
  for (
    const name of [
      "server-initialize",
      "ping",
      "tools-list",
      "resources-list",
      "prompts-list",
      "completion-complete",
      "dns-rebinding-protection",
      "caching",
      "sep-2164-resource-not-found",
      "server-sse-multiple-streams",
    ]
  ) {
    assert.ok(passed.has(name), name);
  }
});
