/** Tests `binnacle test` with the binary alone: a folder with one module and its test, and an empty PATH. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { Bench } from "../support/binary.ts";

const module = `import { conditions, defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";

export const Greeting = defineResource({
  group: "demo.example.com",
  version: "v1",
  kind: "Greeting",
  spec: z.object({ to: z.string().min(1) }),
  status: z.object({ conditions: conditions("Ready") }),
});

export const greeting = defineController({
  for: Greeting,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children, status }) {
    await children.sync({ card: of(ConfigMap, { metadata: { name }, data: { text: \`Hello, \${spec.to}!\` } }) });
    status.condition({ type: "Ready", status: true, reason: "Written" });
  },
});
`;
const usersTest = (text: string): string => `import { expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { eventually, matchers, runModule, startCluster } from "binnacle/testing";
import { Greeting, greeting } from "./greeting.ts";
expect.extend(matchers);

test("greets", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(greeting, cluster);
  const key = { namespace: "default", name: "first" };
  await cluster.client.create(Greeting, { metadata: key, spec: { to: "world" } });
  await eventually(async () => expect(await cluster.client.get(Greeting, key)).toHaveCondition("Ready"));
  const text = async () => (await cluster.client.get(ConfigMap, key)).data?.["text"];
  await eventually(async () => expect(await text()).toBe("${text}"), { within: "500ms" });
});
`;

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
  await bench.write("controllers/greeting.ts", module);
});
afterAll(() => bench?.[Symbol.asyncDispose]());

test("binnacle test runs a test, and check does not take it for a module", async () => {
  await bench.write("controllers/greeting.test.ts", usersTest("Hello, world!"));
  await bench.exec("test"); // unpacks what the next run finds
  const began = performance.now();
  const { code, stderr } = await bench.exec("test");
  console.log(`binnacle test: one test in ${Math.round(performance.now() - began)} ms`);
  expect(stderr).toMatch(/\(pass\) greets[^]* 1 pass\n 0 fail/);
  expect(code).toBe(0);
  expect(await bench.exec("check")).toMatchObject({ code: 0, stderr: "" });
  await bench.write("controllers/greeting.test.ts", usersTest("Hello, world!").replace("to: ", "too: "));
  expect((await bench.exec("check")).stderr).toContain("controllers/greeting.test.ts(11,");
}, 180_000);

test("binnacle test shows the objects and events of the last second with a failure", async () => {
  await bench.write("controllers/greeting.test.ts", usersTest("Good bye"));
  const { code, stderr } = await bench.exec("test", "controllers", "greeting");
  expect(code).toBe(1);
  expect(stderr).toContain('Expected: "Good bye"');
  expect(stderr).toMatch(/\(fail\) greets[^]*Requests and events of the last second:/);
  expect(stderr).toMatch(/ms {2}POST \/apis\/demo\.example\.com\/v1\/namespaces\/default\/greetings by test: 201/);
  expect(stderr).toMatch(/ms {2}ADDED {4}ConfigMap default\/first @\d+/);
  expect(stderr).toMatch(/Objects that changed in it:[^]*kind: ConfigMap[^]*text: Hello, world!/);
}, 180_000);

test("binnacle test shows where a test's request was refused, and none of the SDK's source", async () => {
  const text = usersTest("").replace('to: "world"', 'to: ""');
  await bench.write("controllers/greeting.test.ts", text);
  const { stderr } = await bench.exec("test", "controllers", "greeting");
  expect(stderr).toMatch(/ApiError: .*spec\.to in body should be at least 1 chars long/);
  const line = text.split("\n").findIndex((one) => one.includes("client.create")) + 1;
  expect(stderr).toMatch(new RegExp(`^ +at .*/greeting\\.test\\.ts:${line}:`, "m"));
  expect(stderr).toMatch(/Requests and events of the last second:\n.*\n +-\d+ ms {2}POST .* by test: 422/);
  expect(stderr).not.toContain("Objects that changed in it");
  expect(Math.max(...stderr.split("\n").map(({ length }) => length))).toBeLessThan(400);
}, 180_000);

test("binnacle test says what is missing", async () => {
  const { code, stderr } = await bench.exec("test", "controllers", "nothing");
  expect(stderr).toBe(
    "binnacle: Cannot find a test in 'controllers' whose path contains 'nothing': tests are in files called *.test.ts\n",
  );
  expect(code).toBe(1);
});

test("binnacle test takes nothing from around it but what is in the tested folder, or is named", async () => {
  const says = (text: string): string => `console.error(${JSON.stringify(text)});\n`;
  const isPackage = (text: string): string => `module.exports = ${JSON.stringify(text)};\n`;
  // The working directory belongs to somebody else.
  await bench.write("around/bunfig.toml", 'preload = ["./evil.ts"]\n[test]\npreload = ["./evil.ts"]\n');
  await bench.write("around/evil.ts", says("EVIL preload"));
  await bench.write("around/.env", "EVIL=yes\n");
  await bench.write("around/.env.test", "EVIL=yes\n");
  await bench.write("around/tsconfig.json", '{ "compilerOptions": { "paths": { "stuff": ["./evil.ts"] } } }');
  await bench.write("around/node_modules/evil/index.js", says("EVIL package"));
  await bench.write("around/node_modules/binnacle/index.js", says("EVIL binnacle"));
  await bench.write(".bunfig.toml", '[test]\npreload = ["./around/evil.ts"]\n');
  await bench.write(
    "around/mine/a.test.ts",
    `import { expect, test } from "bun:test";
import own from "own";
import { eventually } from "binnacle/testing";
test("takes", async () => {
  expect([own, typeof eventually, process.env["EVIL"], process.env["MINE"]]).toEqual(["own", "function", undefined, process.env["WANTED"]]);
  await expect(import("stuff" + "")).rejects.toThrow("stuff");
});
`,
  );
  await bench.write("around/mine/node_modules/own/index.js", isPackage("own"));
  const cwd = join(bench.dir, "around");
  const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const env = { HOME: bench.dir, PATH: "/usr/bin:/bin", ...more };
    const child = Bun.spawn([join(bench.dir, "binnacle"), "test", ...args], {
      cwd,
      env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { text: out + err, code: await child.exited };
  };
  const fine = await run(["mine"]);
  expect(fine.text).not.toContain("EVIL");
  expect(fine).toMatchObject({ code: 0, text: expect.stringContaining("1 pass") });
  expect((await run(["mine/a.test.ts"])).code).toBe(0);
  expect((await run(["mine"], { BUN_OPTIONS: "--define x=1", NODE_PATH: "node_modules" })).code).toBe(0);
  // The file is named.
  expect((await run(["mine", "--env-file", "mine.env"])).text).toContain(
    "Cannot find the file 'mine.env' (--env-file)",
  );
  await bench.write("around/mine.env", "MINE=1\n");
  expect((await run(["mine", "--env-file", "mine.env"], { WANTED: "1" })).code).toBe(0);
  // The file is in the folder itself.
  await bench.write("around/mine/.env", "MINE=2\n");
  await bench.write("around/mine/bunfig.toml", '[test]\npreload = ["./mine/hello.ts"]\n');
  await bench.write("around/mine/hello.ts", says("hello"));
  const own = await run(["mine"], { WANTED: "2" });
  expect(own).toMatchObject({ code: 0, text: expect.stringContaining("hello") });
  // A package of the working directory is reported and not used.
  await bench.write(
    "around/mine/b.test.ts",
    'import { test } from "bun:test";\nimport "evil";\ntest("b", () => {});\n',
  );
  const refused = await run(["mine"], { WANTED: "2" });
  expect(refused.code).toBe(1);
  expect(refused.text).toBe(
    "binnacle: Cannot run mine/b.test.ts: it imports 'evil', which is not in mine but in node_modules, where there is no package.json; " +
      "install it in mine, or pass --node-modules node_modules\n",
  );
  const named = await run(["mine", "--node-modules", "node_modules"], { WANTED: "2" });
  expect(named).toMatchObject({ code: 0, text: expect.stringContaining("EVIL package") });
}, 180_000);

test("packages of the project around the folder are there in tests as in check and build", async () => {
  await bench.write("project/package.json", '{ "name": "project" }');
  await bench.write("project/node_modules/shouting/index.js", "module.exports = (text) => text.toUpperCase();\n");
  await bench.write(
    "project/controllers/m.ts",
    module.replace("Hello,", "${shout('hello')},").replace("import", 'import shout from "shouting";\nimport'),
  );
  await bench.write(
    "project/controllers/m.test.ts",
    'import { expect, test } from "bun:test";\nimport shout from "shouting";\nimport "./m.ts";\ntest("a", () => expect(shout("a")).toBe("A"));\n',
  );
  const { code, stderr } = await bench.exec("test", "project/controllers");
  expect([code, stderr]).toEqual([0, expect.stringContaining("1 pass")]);
  expect(await bench.exec("check", "--no-types", "--controllers", "project/controllers")).toMatchObject({ code: 0 });
}, 180_000);

test("an executable that a test starts is itself, and not the runtime that it carries", async () => {
  const start = 'Bun.spawn([process.execPath, "version"], { stdout: "pipe" })';
  await bench.write(
    "spawning/a.test.ts",
    `import { expect, test } from "bun:test";
test("starts", async () => expect(await new Response(${start}.stdout).text()).toContain("binnacle"));
`,
  );
  const { code, stderr } = await bench.exec("test", "spawning");
  expect([code, stderr]).toEqual([0, expect.stringContaining("1 pass")]);
}, 180_000);

test("a run without a test is no success", async () => {
  await bench.write("none/a.test.ts", "export {};\n");
  const { code, stderr } = await bench.exec("test", "none");
  expect(code).toBe(1);
  expect(stderr).toEndWith("binnacle: No test ran: none of the files in 'none' has one\n");
}, 180_000);

const usersClock = `import { expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { FakeClock, startCluster } from "binnacle/testing";

test("a clock", async () => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  await using cluster = await startCluster({ clock, pods: false });
  const { metadata } = await cluster.client.create(ConfigMap, { metadata: { namespace: "default", name: "first" } });
  console.error("created " + metadata.creationTimestamp);
});
`;

test("--server real says which times a clock of the test cannot move", async () => {
  const folder = await assets();
  if (folder === undefined) return;
  await bench.write("clock/clock.test.ts", usersClock);
  const env = { HOME: bench.dir, PATH: "/usr/bin:/bin", KUBEBUILDER_ASSETS: folder };
  const run = async (...args: string[]): Promise<string> => {
    const command = [join(bench.dir, "binnacle"), "test", "clock", ...args];
    const child = Bun.spawn(command, { cwd: bench.dir, env, stdout: "ignore", stderr: "pipe" });
    const text = await new Response(child.stderr).text();
    expect(await child.exited).toBe(0);
    return text;
  };
  expect(await run("--server", "real")).toMatch(
    /WARN +The clock of this test cannot move kube-apiserver .*unmoved="creation and deletion times,/,
  );
  const embedded = await run();
  expect(embedded).toContain("created 2030-01-01");
  expect(embedded).not.toContain("WARN");
}, 180_000);

/** This is one test, because a real server takes seconds and each test starts its own. */
const chosen = "becomes a Deployment and a Service";

test("the tests of the examples pass, and one does on a real API server", async () => {
  await cp(join(import.meta.dirname, "../../controllers"), join(bench.dir, "examples"), { recursive: true });
  const examples = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> => {
    // The tests of the examples wait as long as those of the project do.
    const { BINNACLE_TEST_EVENTUALLY = "60s" } = process.env;
    const child = Bun.spawn([join(bench.dir, "binnacle"), "test", "examples", "--timeout", "2m", ...args], {
      cwd: bench.dir,
      env: { HOME: bench.dir, PATH: "/usr/bin:/bin", BINNACLE_TEST_EVENTUALLY, ...env },
      stdout: "ignore",
      stderr: "pipe",
    });
    const output = await new Response(child.stderr).text();
    expect(output).toMatch(/ 0 fail\n/);
    expect(await child.exited).toBe(0);
    return output;
  };
  expect(Number(/ (\d+) pass\n/.exec(await examples({}))?.[1])).toBeGreaterThan(20);
  const folder = await assets();
  if (folder === undefined) return;
  const onReal = await examples({ KUBEBUILDER_ASSETS: folder }, "--server", "real", "--test-name-pattern", chosen);
  expect(onReal).toContain(" 1 pass\n");
}, 240_000);
