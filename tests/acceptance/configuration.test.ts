/** The configuration of modules in the compiled binary: faults at the start, each place that values come from, and mounts that change. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Bench, freePort, Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";

const SHOP = `
import { config, defineKeyController, source, z } from "binnacle";
export const settings = config(z.object({
  mode: z.string().max(9),
  replicas: z.coerce.number().int().default(2),
  region: z.string().default("eu"),
  apiToken: z.string(),
}));
export const shop = defineKeyController({ name: "shop", watches: [source.every("1s")],
  async reconcile(_key, { log }) {
    log.info("configured", { settings, said: "The token is " + settings.apiToken, length: settings.apiToken.length });
  } });`;

const OTHER = `
import { defineKeyController, source } from "binnacle";
import { settings } from "./shop.ts";
export default defineKeyController({ name: "other", watches: [source.every("1s")],
  async reconcile(_key, { log }) { log.info("beside", { mode: settings.mode }); } });`;

const TOKEN = "a-token-that-nobody-may-see";

let bench: Bench;
let kubeconfig: string;
let server: Bun.Subprocess;

beforeAll(async () => {
  bench = await Bench.create();
  await bench.write("controllers/shop.ts", SHOP);
  await bench.write("controllers/other.ts", OTHER);
  kubeconfig = join(bench.dir, "kubeconfig");
  server = Bun.spawn([join(bench.dir, "binnacle"), "apiserver", "--write-kubeconfig", kubeconfig], {
    cwd: bench.dir,
    env: { HOME: bench.dir },
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(() => Bun.file(kubeconfig).exists(), { what: "kubeconfig", within: 60_000 });
}, 240_000);

afterAll(async () => {
  server?.kill();
  await server?.exited;
  await bench?.[Symbol.asyncDispose]();
});

async function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [health, metrics] = [await freePort(), await freePort()];
  const child = Bun.spawn(
    [
      join(bench.dir, program),
      "run",
      `--kubeconfig=${kubeconfig}`,
      "--log-format=json",
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      ...args,
    ],
    { cwd: bench.dir, env: { HOME: bench.dir, ...env }, stdout: "pipe", stderr: "pipe" },
  );
  return new Operator(child, { health, metrics });
}

/** Makes what the kubelet makes of a ConfigMap or Secret: another folder each time, to which `..data` leads from then on. */
async function mount(path: string, texts: Readonly<Record<string, string>>, version: string): Promise<void> {
  for (const [name, text] of Object.entries(texts)) await bench.write(`${path}/..${version}/${name}`, text);
  const folder = join(bench.dir, path);
  await symlink(`..${version}`, join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  for (const name of Object.keys(texts)) {
    const link = join(folder, name);
    await rm(link, { force: true });
    await mkdir(dirname(link), { recursive: true });
    await symlink(join("..data", name), link);
  }
}

function settingsOf(operator: Operator): unknown {
  return operator.log.findLast(({ msg }) => msg === "configured")?.["settings"];
}

test("all faults are one message, and the process ends before anything runs", async () => {
  await bench.write("wrong.yaml", "shop: { mode: far-too-long, regoin: us }\nshpo: {}\n");
  await using operator = await start("binnacle", ["--module-config=wrong.yaml"], { SHOP_REPLICAS: "three" });
  expect(await operator.child.exited).toBe(2);
  await until(() => operator.text.includes("unknown 'shpo'"), { what: () => operator.text });
  const said = operator.text.slice(operator.text.indexOf("binnacle: "));
  expect(said).toBe(`binnacle: The configuration of the modules has 5 faults:
  shop.ts: mode is "far-too-long" in wrong.yaml: Too big: expected string to have <=9 characters
  shop.ts: replicas is "three" in SHOP_REPLICAS: expected whole number
  shop.ts: apiToken is missing: set SHOP_API_TOKEN, or write 'shop.apiToken' into wrong.yaml
  unknown 'shop.regoin' in wrong.yaml, did you mean 'region'?
  unknown 'shpo' in wrong.yaml, did you mean 'shop'?
`);
  expect(operator.text).not.toContain("Module started");
}, 180_000);

test("values come from the environment, a file and a mount; check shows from where, and none of them", async () => {
  await bench.write("values.yaml", "shop: { mode: of-file, region: us, replicas: 3 }");
  await mount("secret", { "shop.apiToken": `${TOKEN}\n`, "shop.replicas": "4", unrelated: "x" }, "1");
  const args = ["--module-config=values.yaml", "--module-config=secret"];
  await using operator = await start("binnacle", args, { SHOP_REGION: "of-env" });
  await until(() => settingsOf(operator), { what: () => operator.text, within: 60_000 });
  expect(settingsOf(operator)).toEqual({ mode: "of-file", replicas: 4, region: "of-env", apiToken: "[redacted]" });
  await until(() => operator.log.some(({ msg, mode }) => msg === "beside" && mode === "of-file"), {
    what: () => operator.text,
  });
  expect(operator.log.find(({ msg }) => msg === "configured")).toMatchObject({
    said: "The token is [redacted]",
    length: TOKEN.length,
  });
  await until(() => operator.log.some(({ msg }) => msg.startsWith("No module takes the values of some files")), {
    what: () => operator.text,
  });
  expect(await operator.stop()).toBe(0);
  const { stdout, stderr, code } = await bench.exec("check", "--no-types", ...args);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toContain(`  config shop
    mode        string; required; from values.yaml (or SHOP_MODE)
    replicas    whole number; default 2; from secret/shop.replicas (or SHOP_REPLICAS)
    region      string; default "eu"; from values.yaml (or SHOP_REGION)
    apiToken    string, secret; required; from secret/shop.apiToken (or SHOP_API_TOKEN)
`);
  expect(stdout + operator.text).not.toContain(TOKEN);
}, 240_000);

test("a mount that is swapped reloads modules inside an executable, and a bad value leaves the one before running", async () => {
  const built = await bench.exec("build", "--output", "dist/shop");
  expect(built).toMatchObject({ code: 0 });
  await mount("mount", { "shop.mode": "first", "shop.apiToken": TOKEN }, "1");
  await using operator = await start("dist/shop", ["--module-config=mount"]);
  const shows = (mode: string) =>
    until(() => (settingsOf(operator) as { mode?: string } | undefined)?.mode === mode, {
      what: () => `${mode}: ${operator.text}`,
      within: 60_000,
    });
  await shows("first");
  await mount("mount", { "shop.mode": "second", "shop.apiToken": TOKEN }, "2");
  await shows("second");
  const reloaded = () => operator.log.find(({ msg }) => msg === "Module reloaded");
  expect(await until(reloaded, { what: () => operator.text })).toMatchObject({
    reason: "its configuration has changed",
  });

  await mount("mount", { "shop.mode": "far-too-long", "shop.apiToken": TOKEN }, "3");
  const refused = () => operator.log.find(({ msg }) => msg.includes("the previous version keeps running"));
  await until(refused, { what: () => operator.text, within: 60_000 });
  expect(String(refused()!["reason"])).toMatch(/mode is "far-too-long" in mount\/shop\.mode: /);
  const before = operator.log.filter(({ msg }) => msg === "configured").length;
  await until(() => operator.log.filter(({ msg }) => msg === "configured").length > before, {
    what: () => operator.text,
    within: 60_000,
  });
  await shows("second");
  expect((await operator.health("/readyz")).status).toBe(200);

  await mount("mount", { "shop.mode": "fourth", "shop.apiToken": TOKEN }, "4");
  await shows("fourth");
  expect(operator.text).not.toContain(TOKEN);
  expect(await operator.stop()).toBe(0);
}, 180_000);
