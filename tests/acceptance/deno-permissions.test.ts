/** Runs the program on Deno with the permissions that docs/deno.md names, and modules that want more. */
import { afterAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/binary.ts";
import { denoProgram } from "../support/deno.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "../..");
const deno = denoProgram();
const leaving = new AsyncDisposableStack();
afterAll(() => leaving.disposeAsync());

/** A command of the program on Deno, with what it has logged. */
class Started {
  err = "";
  readonly child: Bun.Subprocess<"ignore", "ignore", "pipe">;

  constructor(flags: readonly string[], { args, cwd }: { readonly args: readonly string[]; readonly cwd: string }) {
    const own = ["run", "--no-prompt", `--config=${join(root, "deno.json")}`, ...flags];
    this.child = Bun.spawn([deno!, ...own, join(root, "src/main.deno.ts"), ...args], {
      cwd,
      env: { HOME: cwd, DENO_DIR: join(root, "dist/deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    void this.#read();
    leaving.defer(async () => {
      this.child.kill("SIGKILL");
      await this.child.exited;
    });
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.child.stderr) this.err += decoder.decode(chunk, { stream: true });
  }

  /** Waits for a line of the log. */
  logs(fields: object) {
    const lines = () => this.err.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    const matching = () => lines().findLast((line) => Bun.deepMatch(fields, JSON.parse(line) as object));
    return until(matching, { within: 60_000, what: () => `${JSON.stringify(fields)}:\n${this.err}` });
  }
}

const every = (name: string, body: string) => `
import { readFileSync } from "node:fs";
import { allow, defineKeyController, source } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const controller = defineKeyController({
  name: "${name}", watches: [source.every("1s")], uses: [allow(ConfigMap, "patch", "create", "update", "get")],
  async reconcile(_key, { client, log }) { ${body} },
});`;

test.skipIf(deno === undefined)(
  "a module that wants more than it is permitted is refused by name, and the others go on",
  async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "binnacle-permitted-")));
    leaving.defer(() => rm(folder, { recursive: true, force: true }));
    const callers: unknown[] = [];
    const outside = createServer((socket) => {
      callers.push(socket.remotePort);
      socket.destroy();
    });
    await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
    leaving.defer(() => void outside.close());
    const { port } = outside.address() as AddressInfo;
    const [server, health, metrics] = [await freePort(), await freePort(), await freePort()];
    const kubeconfig = join(folder, "kubeconfig");
    const controllers = join(folder, "controllers");
    await mkdir(controllers);
    await writeFile(join(controllers, "reads.ts"), every("reads", 'readFileSync("/etc/passwd");'));
    await writeFile(join(controllers, "calls.ts"), every("calls", `await fetch("http://127.0.0.1:${port}/");`));
    await writeFile(join(controllers, "starts.ts"), every("starts", 'new Deno.Command("/bin/true").spawn();'));
    // Deno lets every program import from some hosts, unless it is told otherwise.
    await writeFile(join(controllers, "imports.ts"), every("imports", 'await import("https://esm.sh/x?told=secret");'));
    const write =
      'await client.apply(ConfigMap, { metadata: { namespace: "default", name: "fine" } }); log.info("wrote");';
    await writeFile(join(controllers, "fine.ts"), every("fine", write));

    const serving = ["apiserver", "--bind-address", `127.0.0.1:${server}`, "--write-kubeconfig", kubeconfig];
    const api = new Started(["--allow-all"], { args: serving, cwd: folder });
    await until(async () => (await readFile(kubeconfig, "utf8").catch(() => "")) !== "", {
      within: 60_000,
      what: () => `the API server: ${api.err}`,
    });

    const permitted = [
      "--no-remote",
      `--allow-net=127.0.0.1:${server},127.0.0.1:${health},127.0.0.1:${metrics}`,
      `--allow-read=${controllers},${kubeconfig},${join(root, "src/manager/stall-thread.ts")},${join(root, "src/platform")}`,
      "--allow-env=BINNACLE_*",
      "--allow-sys=hostname",
    ];
    const addresses = {
      "health-probe-bind-address": `127.0.0.1:${health}`,
      "metrics-bind-address": `127.0.0.1:${metrics}`,
      "webhook-bind-address": "0",
      "log-format": "json",
    };
    const flags = Object.entries(addresses).map(([name, value]) => `--${name}=${value}`);
    const args = ["run", "--controllers", controllers, "--kubeconfig", kubeconfig, ...flags];
    const program = new Started(permitted, { args, cwd: folder });

    const refused = (module: string, message: RegExp) =>
      program
        .logs({ module, msg: "Reconcile failed", error: { name: "NotCapable" } })
        .then((line) => expect(line).toMatch(message));
    await refused("reads.ts", /Requires read access to .{0,2}\/etc\/passwd/);
    await refused("calls.ts", new RegExp(`Requires net access to .{0,2}127\\.0\\.0\\.1:${port}`));
    await refused("starts.ts", /Requires run access to .{0,2}\/bin\/true/);
    await program
      .logs({ module: "imports.ts", msg: "Reconcile failed" })
      .then((line) => expect(line).toContain("--no-remote is specified"));
    program.err = "";
    await program.logs({ module: "fine.ts", msg: "wrote" });
    expect(callers).toEqual([]);
    expect(program.err).not.toContain("not watched");
    program.child.kill("SIGTERM");
    expect(await program.child.exited).toBe(0);
  },
  180_000,
);
