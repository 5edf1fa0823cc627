/**
 * A real cluster of one node: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, containerd, runc,
 * kube-proxy and CoreDNS, in namespaces and cgroups of their own. Nothing joins its network to the machine's but a listener
 * on the loopback that leads to its API server.
 *
 *     await using node = await startNode();
 *     await node.kubectl("get", "pods", "--all-namespaces");
 *
 * On the command line: `bun tests/node/node.ts build | up DIR | load DIR FILE | exec DIR COMMAND… | down [-r] DIR`.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { until } from "../support/until.ts";
import { helmProgram, nodeAssets } from "./assets.ts";
import { makeGroups, removeGroups } from "./cgroups.ts";
import { ADDRESS, dnsObjects, NODE, readAdministrator, writeConfig, writeOuterKubeconfig } from "./config.ts";
import { type Output, outputOf, run } from "./programs.ts";

export interface NodeOptions {
  /** What an earlier start left there is used again. @default a new one, removed by stop() */
  readonly dir?: string | undefined;
  /** The node outlives this process. @default false */
  readonly detached?: boolean | undefined;
  /** Flags of kube-apiserver beside its own, without spaces in them. @default none */
  readonly apiserverFlags?: readonly string[] | undefined;
  /** Files below `/etc/kubernetes`, by their names. @default none */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

const PATH = "/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A node that runs. */
export class KubernetesNode implements AsyncDisposable {
  readonly dir: string;
  readonly kubeconfig: string;
  readonly #assets: string;
  readonly #temporary: boolean;
  #tls: ReturnType<typeof readAdministrator> | undefined;

  /** @param temporary the folder goes with the node. */
  constructor(dir: string, assets: string, temporary: boolean) {
    this.dir = dir;
    this.kubeconfig = join(dir, "kubeconfig");
    this.#assets = assets;
    this.#temporary = temporary;
  }

  /** What kubectl printed. @throws with its words when it fails. */
  async kubectl(...args: string[]): Promise<string> {
    return await run(join(this.#assets, "bin", "kubectl"), [...this.#own(), ...args]);
  }

  /** How kubectl ended. */
  async tryKubectl(args: readonly string[], input?: string): Promise<Output> {
    return await outputOf(join(this.#assets, "bin", "kubectl"), [...this.#own(), ...args], { input });
  }

  /** `kubectl apply -f -`, or what else reads manifests from its input. @throws with kubectl's words when it fails. */
  async apply(manifest: string, args: readonly string[] = ["apply", "-f", "-"]): Promise<string> {
    return await run(join(this.#assets, "bin", "kubectl"), [...this.#own(), ...args], { input: manifest });
  }

  /** A request to the API server with the administrator's certificate. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    this.#tls ??= readAdministrator(this.dir);
    const { server, ...tls } = await this.#tls;
    return await fetch(`${server}${path}`, { ...init, tls });
  }

  /** What Helm printed. @throws with its words when it fails. */
  async helm(...args: string[]): Promise<string> {
    const env = { HELM_CACHE_HOME: join(this.dir, "helm"), HELM_CONFIG_HOME: join(this.dir, "helm") };
    return await run(await helmProgram(), ["--kubeconfig", this.kubeconfig, ...args], { env });
  }

  /** Makes the images of an archive known to the node; their pods need `imagePullPolicy` IfNotPresent or Never. */
  async load(archive: string): Promise<void> {
    const input = await readFile(archive);
    await run("nsenter", [...(await this.#inside()), "ctr", "-n", "k8s.io", "images", "import", "-"], { input });
  }

  /** Runs a command with the files, processes and network of the node. */
  async exec(...command: string[]): Promise<Output> {
    return await outputOf("nsenter", [...(await this.#inside()), ...command]);
  }

  /** Ends every process of the node. What the cluster holds stays in the folder unless that is the node's own. */
  async stop(): Promise<void> {
    await stopPrograms(this.dir);
    if (this.#temporary) await rm(this.dir, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #own(): readonly string[] {
    return ["--kubeconfig", this.kubeconfig, "--cache-dir", join(this.dir, "kubectl-cache")];
  }

  async #inside(): Promise<readonly string[]> {
    const pid = (await readFile(join(this.dir, "var", "init.pid"), "utf8")).trim();
    const namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--root", "--wdns=/"];
    const env = ["env", "-i", `PATH=${PATH}`, "HOME=/root", "KUBECONFIG=/etc/kubernetes/admin.conf"];
    return ["--target", pid, ...namespaces, ...env];
  }
}

/** Starts a node and waits until it is ready: about 10 seconds. @throws with the last words of what failed. */
export async function startNode(options: NodeOptions = {}): Promise<KubernetesNode> {
  const { dir: given, detached = false, apiserverFlags = [], files = {} } = options;
  const assets = await nodeAssets();
  const dir = given === undefined ? await mkdtemp(join(tmpdir(), "node-")) : resolve(given);
  if (existsSync(join(dir, "pids"))) throw new Error(`A node runs in ${dir}: stop it first`);
  for (const path of ["root", "var/log", "var/lib"]) await mkdir(join(dir, path), { recursive: true });
  await writeConfig(join(dir, "etc"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, "etc", "kubernetes", name), text);
  await rm(join(dir, "var", "init.pid"), { force: true });
  const node = new KubernetesNode(dir, assets, given === undefined);
  try {
    await startPrograms(dir, { assets, detached, apiserverFlags });
    await ready(node);
    return node;
  } catch (error) {
    const words = await readFile(join(dir, "init.log"), "utf8").catch(() => "");
    await node.stop();
    throw new Error(`Cannot start a Kubernetes node: ${String(error)}\n${words}`, { cause: error });
  }
}

async function startPrograms(
  dir: string,
  {
    assets,
    detached,
    apiserverFlags,
  }: { readonly assets: string } & Required<Pick<NodeOptions, "detached" | "apiserverFlags">>,
): Promise<void> {
  await writeFile(join(dir, "pids"), "");
  await writeFile(join(dir, "cgroups"), "");
  for await (const group of makeGroups()) await writeFile(join(dir, "cgroups"), `${group}\n`, { flag: "a" });
  const start = async (program: string, args: readonly string[], out: string): Promise<void> => {
    const file = await open(join(dir, out), "w");
    const env = { ...process.env, NODE, ADDRESS, APISERVER_FLAGS: apiserverFlags?.join(" ") };
    const child = spawn(program, args, {
      detached,
      env,
      stdio: ["ignore", file.fd, out === "init.log" ? file.fd : "ignore"],
    });
    child.once("error", () => undefined); // nothing appears then, which is what the caller waits for
    if (detached) child.unref();
    await file.close();
    await writeFile(join(dir, "pids"), `${child.pid}\n`, { flag: "a" });
  };
  await start(join(import.meta.dirname, "launch.sh"), [dir, assets], "init.log");
  const pid = await content(join(dir, "var", "init.pid"), "the namespaces of the node");
  await start(join(assets, "bin", "forward"), [`/proc/${pid}/ns/net`, `${ADDRESS}:6443`], "forward.out");
  const address = await content(join(dir, "forward.out"), "the listener for the API server");
  await writeOuterKubeconfig(dir, `https://${address}`);
}

async function ready(node: KubernetesNode): Promise<void> {
  const answers = (path: string) => async () => (await node.tryKubectl(["get", "--raw", path])).stdout === "ok";
  await until(answers("/readyz"), { within: 120_000, every: 200, what: "kube-apiserver is ready" });
  await node.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: dnsObjects }), [
    "apply",
    "--server-side",
    "-f",
    "-",
  ]);
  await node.kubectl("wait", "--for=create", "--timeout=120s", `node/${NODE}`, "serviceaccount/default");
  // Ready may be left from an earlier start.
  const healthy = answers(`/api/v1/nodes/${NODE}/proxy/healthz`);
  await until(healthy, { within: 120_000, every: 200, what: "kubelet is healthy" });
  await node.kubectl("wait", "--for=condition=Ready", "--timeout=120s", `node/${NODE}`);
}

/** What a program writes into a file once it is so far. */
async function content(file: string, what: string): Promise<string> {
  const read = async () => (await readFile(file, "utf8").catch(() => "")).trim() || undefined;
  return await until(read, { within: 60_000, every: 50, what });
}

async function stopPrograms(dir: string): Promise<void> {
  const lines = async (file: string) =>
    (await readFile(join(dir, file), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  for (const pid of (await lines("pids")).map(Number)) {
    // The number may have gone to another program since.
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (!/init\.sh|launch\.sh|forward/.test(command)) continue;
    process.kill(pid, "SIGKILL");
    const gone = async () =>
      !/init\.sh|launch\.sh|forward/.test(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
    await until(gone, { within: 60_000, every: 50, what: `process ${pid} has ended` });
  }
  await removeGroups(await lines("cgroups"));
  for (const file of ["pids", "cgroups", "var/init.pid"]) await rm(join(dir, file), { force: true });
}

const usage = `usage: bun tests/node/node.ts build                  prints the folder with the programs
                                up DIR                 prints a kubeconfig
                                load DIR FILE          makes the images of an archive known to the node
                                exec DIR COMMAND…      runs a command inside the node
                                down [-r] DIR          -r removes DIR as well`;

/** Does what the arguments say and returns the exit status. */
async function main([command, ...rest]: readonly string[]): Promise<number> {
  const remove = command === "down" && rest[0] === "-r";
  const [dir, ...more] = remove ? rest.slice(1) : rest;
  try {
    if (command === "build" && dir === undefined) console.log(await nodeAssets());
    else if (dir === undefined || dir.startsWith("-")) return wrong();
    else if (command === "up" && more.length === 0) console.log((await startNode({ dir, detached: true })).kubeconfig);
    else if (command === "load" && more.length === 1) await (await running(dir)).load(more[0]!);
    else if (command === "exec" && more.length > 0) return await print(await (await running(dir)).exec(...more));
    else if (command === "down" && more.length === 0) {
      await stopPrograms(resolve(dir));
      if (remove) await rm(resolve(dir), { recursive: true, force: true });
    } else return wrong();
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

async function running(dir: string): Promise<KubernetesNode> {
  return new KubernetesNode(resolve(dir), await nodeAssets(), false);
}

async function print({ stdout, stderr, code }: Output): Promise<number> {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return code;
}

function wrong(): number {
  console.error(usage);
  return 2;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
