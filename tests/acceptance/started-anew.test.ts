/**
 * Tests the restart with settings of the runtime: it happens with any flags before `run`, and children of the process do
 * not inherit it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";

const SETTING = "BUN_JSC_useFTLJIT";

/** Records the environment of a child process while it loads. */
const MODULE = `
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineKeyController } from "binnacle";
const { stdout } = Bun.spawnSync(["/usr/bin/env"]);
writeFileSync(join(import.meta.dir, "child.txt"), stdout);
export const idle = defineKeyController({ name: "idle", watches: [], async reconcile() {} });`;

const KUBECONFIG = `
apiVersion: v1
kind: Config
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "http://127.0.0.1:9" } }]
users: [{ name: a, user: {} }]`;

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.create();
  await bench.write("kubeconfig", KUBECONFIG);
});

afterAll(async () => await bench?.[Symbol.asyncDispose]());

/** Returns the environment with which the process began, as the system knows it, and that of its child. */
async function environments(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await bench.write(`${folder}/module.ts`, MODULE);
  const addresses = ["--health-probe-bind-address", "0", "--metrics-bind-address", "0"];
  const child = Bun.spawn(
    [join(bench.dir, "binnacle"), ...args, "--controllers", folder, "--kubeconfig", "kubeconfig", ...addresses],
    { cwd: bench.dir, env: { PATH: "/nothing", HOME: bench.dir, ...env }, stdout: "ignore", stderr: "ignore" },
  );
  try {
    const file = join(bench.dir, folder, "child.txt");
    await until(() => existsSync(file), { what: "the module to load", every: 10 });
    const own = (await readFile(`/proc/${child.pid}/environ`, "utf8")).split("\0");
    return { own, ofChild: (await readFile(file, "utf8")).split("\n") };
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

test.skipIf(process.platform !== "linux")("a flag before the command changes nothing", async () => {
  const { own, ofChild } = await environments("flags", ["--log-format", "json", "run"]);
  expect(own).toContain(`${SETTING}=0`);
  expect(own).toContain("BUN_JSC_forceRAMSize=134217728");
  expect(ofChild.filter((line) => /JSC|ANEW/.test(line))).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "the setting of whoever starts the process counts, also for children",
  async () => {
    const { own, ofChild } = await environments("given", ["run"], { [SETTING]: "1" });
    expect(own).toContain(`${SETTING}=1`);
    expect(own).toContain("BUN_JSC_forceRAMSize=134217728");
    expect(ofChild.filter((line) => /JSC|ANEW/.test(line))).toEqual([`${SETTING}=1`]);
  },
);

test.skipIf(process.platform !== "linux")(
  "the heap follows a limit of the memory that is lower than usual",
  async () => {
    const { own } = await environments("limited", ["run", "--memory-limit", "96Mi"]);
    expect(own).toContain("BUN_JSC_forceRAMSize=50331648");
  },
);
