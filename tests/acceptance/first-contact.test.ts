/** Tests the first minutes of a new user with the binary and an empty folder. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench } from "../support/binary.ts";
import { isOnDeno } from "../support/program.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "../..");

let bench: Bench;
let demo: string;
beforeEach(async () => {
  bench = await Bench.create();
  demo = join(bench.dir, "demo");
});
afterEach(() => bench?.[Symbol.asyncDispose]());

/** Runs a command in the folder that `init` made, or below it. */
async function inDemo(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return output(start(args));
}

function start(args: readonly string[]) {
  return Bun.spawn([join(bench.dir, "binnacle"), ...args], {
    cwd: demo,
    env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir },
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function output(child: ReturnType<typeof start>): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

describe("the first minutes", () => {
  test("init, dev, an edit, a reconcile, test, check, manifests", async () => {
    const began = performance.now();
    const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
    const times: string[] = [];
    const made = await bench.exec("init", "demo");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toContain("binnacle dev");
    expect(await readFile(join(demo, ".gitignore"), "utf8")).toBe(".binnacle/\ndist/\nnode_modules/\n");
    times.push(`init ${seconds()} s`);

    const dev = start(["dev", "--health-probe-bind-address", "127.0.0.1:0", "--metrics-bind-address", "0"]);
    let said = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of dev.stderr) said += decoder.decode(chunk, { stream: true });
    })();
    const says = (what: string) => until(() => said.includes(what), { within: 90_000, what: () => `${what}: ${said}` });
    await says("Controller runs");
    times.push(`dev ${seconds()} s`);
    await apply(await readFile(join(demo, "controllers/greeting.yaml"), "utf8"));
    await says("Reconciled");
    times.push(`first reconcile ${seconds()} s`);
    const module = join(demo, "controllers/greeting.ts");
    const text = await readFile(module, "utf8");
    await writeFile(module, text.replace("`${spec.message}\\n`", "`${spec.message}!\\n`"));
    await says("Module reloaded");
    await until(async () => (await configMap()).includes("hello!"), { within: 90_000, what: () => said });
    times.push(`edit in force ${seconds()} s`);
    await writeFile(module, text);
    dev.kill("SIGTERM");
    expect(await dev.exited).toBe(0);
    await reading;
    expect(said).not.toContain("ERROR");

    expect(await inDemo("test")).toMatchObject({ code: 0 });
    times.push(`test ${seconds()} s`);
    expect(await inDemo("check")).toMatchObject({ code: 0, stderr: "" });
    times.push(`check ${seconds()} s`);
    expect((await inDemo("manifests", "crds")).stdout).toContain("name: greetings.demo.example.com");
    times.push(`manifests ${seconds()} s`);
    console.log(`first minutes: ${times.join(", ")}`);
  }, 240_000);

  // On Deno the SDK's types are those of the sources, which the compiler of npm does not know.
  test.skipIf(isOnDeno)(
    "the compiler of npm finds a planted type error, and nothing else",
    async () => {
      await bench.exec("init", "demo");
      for (const [what, name] of [
        ["controller", "Backup"],
        ["key-controller", "pod-count"],
        ["resource", "Plan"],
        ["webhook", "team-label"],
        ["plugin", "shop"],
      ] as const) {
        expect(await inDemo("new", what, name)).toMatchObject({ code: 0, stderr: "" });
      }
      await inDemo("new", "controller", "looker", "--for", "Deployment");
      await inDemo("new", "webhook", "pod-rule", "--for", "Pod");
      expect(await compile()).toBe("");
      expect(await inDemo("check")).toMatchObject({ code: 0, stderr: "" });
      expect(await inDemo("test")).toMatchObject({ code: 0 });
      const module = join(demo, "controllers/backup.ts");
      await writeFile(module, (await readFile(module, "utf8")).replace("spec.message", "spec.massage"));
      expect(await compile()).toContain(
        "controllers/backup.ts(18,26): error TS2551: Property 'massage' does not exist",
      );
    },
    120_000,
  );

  test("nothing is overwritten, and wrong names are told", async () => {
    await bench.exec("init", "demo");
    expect(await bench.exec("init", "demo")).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "binnacle: Cannot create 'demo': it has controllers already. `binnacle new` adds one, `binnacle types --sdk` writes the types\n",
    });
    await writeFile(join(demo, "controllers/backup.test.ts"), "mine");
    expect((await inDemo("new", "controller", "Backup")).stderr).toBe(
      "binnacle: Cannot write 'controllers/backup.test.ts': it exists already\n",
    );
    expect(existsSync(join(demo, "controllers/backup.ts"))).toBe(false);
    const usage = async (...args: string[]) => {
      const { code, stderr } = await inDemo("new", ...args);
      expect(code).toBe(2);
      return stderr.split("\n")[0];
    };
    expect(await usage("controller", "../x")).toContain("Cannot call a module '../x'");
    expect(await usage("controller", "X", "--for", "deployment")).toContain("did you mean Deployment?");
    expect(await usage("plugin", "X", "--for", "Pod")).toContain("it is for controllers and webhooks");
    expect(await usage("resource", "X", "--group", "demo")).toContain("use a domain of yours");
    expect(await usage("thing", "X")).toContain("thing");
  }, 180_000);
});

async function compile(): Promise<string> {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const child = Bun.spawn([process.execPath, compiler, "--noEmit"], { cwd: demo, stdout: "pipe", stderr: "pipe" });
  return `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`.trim();
}

interface Access {
  readonly server: string;
  readonly token: string;
  readonly ca: string;
}

async function access(): Promise<Access> {
  const text = await readFile(join(demo, ".binnacle/kubeconfig"), "utf8");
  const { clusters, users } = Bun.YAML.parse(text) as {
    clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
    users: [{ user: { token: string } }];
  };
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  return { server, token: users[0].user.token, ca: atob(ca) };
}

async function ask(path: string, init: RequestInit = {}): Promise<string> {
  const { server, token, ca } = await access();
  const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
  return (await fetch(`${server}${path}`, { ...init, headers, tls: { ca } })).text();
}

async function apply(yaml: string): Promise<void> {
  const path = "/apis/demo.example.com/v1/namespaces/default/greetings";
  await ask(path, { method: "POST", body: yaml, headers: { "content-type": "application/yaml" } });
}

function configMap(): Promise<string> {
  return ask("/api/v1/namespaces/default/configmaps/first");
}
