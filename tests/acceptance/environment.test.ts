/** Tests variables that would make the runtime below the binary do something else: they have no effect on its commands. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { connect as tlsConnect } from "node:tls";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";

let bench: Bench;
beforeEach(async () => void (bench = await Bench.create()));
afterEach(() => bench?.[Symbol.asyncDispose]());

function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  return Bun.spawn([join(bench.dir, "binnacle"), ...args], {
    cwd: bench.dir,
    env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = start(args, env);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { text: out + err, code: await child.exited };
}

/** Starts an API server of the binary's own, with its administrator's kubeconfig. */
async function apiserver(env: Readonly<Record<string, string>> = {}): Promise<AsyncDisposable> {
  const child = start(["apiserver", "--write-kubeconfig", "kubeconfig"], env);
  const reader = child.stdout.getReader();
  let output = "";
  while (!output.includes("KUBECONFIG")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(await new Response(child.stderr).text());
    output += new TextDecoder().decode(value);
  }
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await child.exited;
    },
  };
}

/** Runs controllers until they log something. @returns the log. */
async function logUntil(line: string, kubeconfig: string, env: Readonly<Record<string, string>>): Promise<string> {
  const off = ["--health-probe-bind-address", "0", "--metrics-bind-address", "0"];
  const child = start(["run", "--kubeconfig", kubeconfig, ...off], env);
  let log = "";
  void (async () => {
    for await (const chunk of child.stderr) log += new TextDecoder().decode(chunk);
  })();
  await until(() => log.includes(line), { what: () => log });
  child.kill();
  expect(await child.exited).toBe(0);
  return log;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

const MODULE = `import { defineController } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const configs = defineController({ for: ConfigMap, async reconcile() {} });
`;

describe("variables of the runtime", () => {
  test("options for it are not taken", async () => {
    // A CPU profile stops threads by signals, and one of them ends a process that restarts itself at that moment.
    const options = "--heap-prof --heap-prof-dir=profiles --define process.env.HOME:1";
    expect((await run(["version"], { BUN_OPTIONS: options })).text).toStartWith("binnacle ");
    await bench.write("controllers/configs.ts", MODULE);
    expect(await run(["check"], { BUN_OPTIONS: options, NODE_OPTIONS: "--require ./evil.js" })).toMatchObject({
      code: 0,
    });
    expect(existsSync(join(bench.dir, "profiles"))).toBe(false);
  }, 180_000);

  test("no debugger listens", async () => {
    const port = await freePort();
    await using _ = await apiserver({ BUN_INSPECT: `127.0.0.1:${port}` });
    expect(await listens(port)).toBe(false);
  }, 180_000);

  test("requests and their tokens are not printed, by run either", async () => {
    await using _ = await apiserver();
    await bench.write("controllers/configs.ts", MODULE);
    const token = /token: "?([^\s"]+)/.exec(await readFile(join(bench.dir, "kubeconfig"), "utf8"))![1]!;
    const env = { BUN_CONFIG_VERBOSE_FETCH: "curl" };
    const { text } = await run(["check", "--cluster", "--no-types", "--kubeconfig", "kubeconfig"], env);
    expect(text).toContain("controller configmap");
    const output = await logUntil("Controller runs", "kubeconfig", env);
    expect(text + output).not.toContain(token);
    expect(text + output).not.toContain("Authorization");
  }, 180_000);

  test("certificates are checked whatever they say", async () => {
    await using _ = await apiserver();
    await using other = await Bench.create();
    await bench.write("controllers/configs.ts", MODULE);
    const good = await readFile(join(bench.dir, "kubeconfig"), "utf8");
    const child = Bun.spawn([join(other.dir, "binnacle"), "apiserver", "--write-kubeconfig", join(other.dir, "k")], {
      env: { HOME: other.dir },
      stdout: "pipe",
    });
    await until(() => existsSync(join(other.dir, "k")), { what: "another kubeconfig" });
    child.kill();
    await child.exited;
    const authority = /certificate-authority-data: (\S+)/;
    const [, foreign = ""] = authority.exec(await readFile(join(other.dir, "k"), "utf8"))!;
    await bench.write("wrong", good.replace(authority, `certificate-authority-data: ${foreign}`));
    await bench.write("right.crt", Buffer.from(authority.exec(good)![1]!.replaceAll('"', ""), "base64").toString());
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_EXTRA_CA_CERTS: join(bench.dir, "right.crt") };
    const { text, code } = await run(["check", "--cluster", "--no-types", "--kubeconfig", "wrong"], env);
    expect(text).toContain("its certificate is not signed by the kubeconfig's certificate-authority");
    expect(code).toBe(1);
    const log = await logUntil("trying again until it answers", "wrong", env);
    expect(log).toMatch(
      /trying again until it answers.*x509: certificate signed by unknown authority: its certificate/,
    );
  }, 180_000);

  test("a kubeconfig may hold the server's own certificate, as kubectl allows", async () => {
    await using _ = await apiserver();
    await bench.write("controllers/configs.ts", MODULE);
    const good = await readFile(join(bench.dir, "kubeconfig"), "utf8");
    const { hostname, port } = new URL(/server: "?([^\s"]+)/.exec(good)![1]!);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = tlsConnect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.once("secureConnect", () => resolve(socket.getPeerX509Certificate()!.toString())).once("error", reject);
    const own = Buffer.from(await promise).toString("base64");
    socket.destroy();
    await bench.write("own", good.replace(/certificate-authority-data: \S+/, `certificate-authority-data: ${own}`));
    await logUntil("Controller runs", "own", {});
    expect(await run(["check", "--cluster", "--no-types", "--kubeconfig", "own"], {})).toMatchObject({ code: 0 });
  }, 180_000);
});
