/**
 * How large an image is, and how long it takes from a registry to a controller that is ready, beside images of others:
 * `bun tests/node/cold-start.ts [--runs 5] [--cpu-limit 200m] [NAME=ARCHIVE…]`.
 *
 * An archive is what `docker save` makes. Its process serves `/readyz` at `$PORT` of 127.0.0.1 once its caches have synced, and finds
 * the kind `widgets.bench.example.com`, ConfigMaps and a ServiceAccount that may do everything.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { until } from "../support/until.ts";
import { binary, build as buildBinary, isBuilt } from "../../scripts/build.ts";
import { layersOf, registryProgram, type StoredLayer } from "../registry/registry.ts";
import { nodeAssets } from "./assets.ts";
import { type KubernetesNode, startNode } from "./node.ts";
import { run } from "./programs.ts";

const PORT = 8086;
const NAMESPACE = "cold-start";
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;

const MODULE = `import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Widget = defineResource({
  group: "bench.example.com", version: "v1", kind: "Widget",
  spec: z.object({ size: z.int(), payload: z.string() }),
  status: z.object({ observedGeneration: z.int().optional(), ready: z.boolean().optional(), child: z.string().optional() }),
});
export const widget = defineController({
  for: Widget,
  owns: [ConfigMap],
  async reconcile({ metadata: { name, generation }, spec }, { children, status }) {
    const child = \`w-\${name}\`;
    await children.sync({ child: of(ConfigMap, { metadata: { name: child }, data: { size: String(spec.size), payload: spec.payload } }) });
    status.set({ observedGeneration: generation!, ready: true, child });
  },
});
`;

/** Milliseconds. */
interface Start {
  /** From the first byte to the last file, as kubelet says. */
  readonly pulled: number;
  /** From the creation of the pod until `/readyz` says so. */
  readonly answered: number;
  /** The same until the pod's condition says so, which kubelet looks for once a second. */
  readonly ready: number;
}

interface Candidate {
  readonly name: string;
  readonly args: readonly string[];
  readonly layers: readonly StoredLayer[];
  readonly starts: Start[];
}

interface Options {
  readonly runs: number;
  readonly cpuLimit: string | undefined;
  /** Archives by name. */
  readonly peers: ReadonlyMap<string, string>;
}

/** A registry on the loopback of the node, to which a listener on this machine's loopback leads. */
class NodeRegistry implements AsyncDisposable {
  readonly #program: string;
  readonly #forward: ChildProcess;
  /** For this machine, and for the node. */
  readonly outside: string;
  readonly inside: string;

  private constructor(parts: { program: string; forward: ChildProcess; outside: string; inside: string }) {
    this.#program = parts.program;
    this.#forward = parts.forward;
    this.outside = parts.outside;
    this.inside = parts.inside;
  }

  static async start(node: KubernetesNode, program: string): Promise<NodeRegistry> {
    await copyFile(program, join(node.dir, "var", "registry"));
    await node.exec("sh", "-c", "/var/registry serve > /var/registry.address 2> /var/log/registry.log &");
    const read = async () => (await readFile(join(node.dir, "var", "registry.address"), "utf8").catch(() => "")).trim();
    const inside = await until(async () => (await read()) || undefined, { what: "the registry listens" });
    const pid = (await readFile(join(node.dir, "var", "init.pid"), "utf8")).trim();
    const forward = spawn(join(await nodeAssets(), "bin", "forward"), [`/proc/${pid}/ns/net`, inside], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [outside] = (await once(createInterface({ input: forward.stdout }), "line")) as [string];
    return new NodeRegistry({ program, forward, outside, inside });
  }

  async push(archive: string, name: string): Promise<void> {
    await run(this.#program, ["push", resolve(archive), `${this.outside}/${name}`]);
  }

  async layers(name: string): Promise<readonly StoredLayer[]> {
    return await layersOf(this.#program, `${this.outside}/${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#forward, "exit");
    this.#forward.kill();
    await ended;
  }
}

async function compare({ runs, cpuLimit, peers }: Options): Promise<void> {
  const program = await registryProgram();
  if (program === undefined) throw new Error("Cannot build a registry: there is no Go on PATH");
  if (!isBuilt()) await buildBinary();
  const dir = await mkdtemp(join(tmpdir(), "cold-start-"));
  try {
    await using node = await startNode();
    await using registry = await NodeRegistry.start(node, program);
    const build = async (name: string, module: string, ...more: readonly string[]): Promise<readonly StoredLayer[]> => {
      await Bun.write(join(dir, "controllers", "widget.ts"), module);
      await run(binary, ["build", "--image", `${registry.outside}/${name}`, ...more], { cwd: dir });
      return await registry.layers(name);
    };
    const before = await build("binnacle:gzip", MODULE);
    tellChanged(before, await build("binnacle:other", MODULE.replaceAll("w-", "widget-")));
    const args = ["run", "--controllers=/controllers", `--health-probe-bind-address=:${PORT}`];
    const ours = [...args, "--metrics-bind-address=0", "--install-crds"];
    const candidates: Candidate[] = [
      { name: "binnacle:gzip", args: ours, layers: before, starts: [] },
      {
        name: "binnacle:zstd",
        args: ours,
        layers: await build("binnacle:zstd", MODULE, "--compression", "zstd"),
        starts: [],
      },
    ];
    for (const [name, archive] of peers) {
      await registry.push(archive, `${name}:1`);
      candidates.push({ name: `${name}:1`, args: [], layers: await registry.layers(`${name}:1`), starts: [] });
    }
    await node.apply(await run(binary, ["manifests", "crds"], { cwd: dir }));
    await prepare(node);
    const there = new Set(await imagesOf(node));
    for (let round = 0; round < runs; round++) {
      for (const { name, args, starts } of candidates) {
        starts.push(await start(node, { image: `${registry.inside}/${name}`, args, cpuLimit }));
        const pulled = (await imagesOf(node)).filter((image) => !there.has(image));
        await node.exec("ctr", "-n", "k8s.io", "images", "rm", "--sync", ...pulled);
      }
    }
    tellAll(candidates);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function prepare(node: KubernetesNode): Promise<void> {
  await node.kubectl("create", "namespace", NAMESPACE);
  await node.kubectl("create", "serviceaccount", "cold", "--namespace", NAMESPACE);
  const binding = ["create", "clusterrolebinding", "cold", "--clusterrole=cluster-admin"];
  await node.kubectl(...binding, `--serviceaccount=${NAMESPACE}:cold`);
}

async function imagesOf(node: KubernetesNode): Promise<readonly string[]> {
  const { stdout } = await node.exec("ctr", "-n", "k8s.io", "images", "ls", "-q");
  return stdout.split("\n").filter((line) => line !== "");
}

interface Wanted {
  readonly image: string;
  readonly args: readonly string[];
  readonly cpuLimit: string | undefined;
}

/** Runs a pod until it is ready, and removes it. It has the network of the node, so that its address is known beforehand. */
async function start(node: KubernetesNode, { image, args, cpuLimit }: Wanted): Promise<Start> {
  const asking = `until curl -sf -o /dev/null http://127.0.0.1:${PORT}/readyz; do sleep 0.02; done; date +%s%3N`;
  const answering = node.exec("timeout", "120", "sh", "-c", asking);
  const container = {
    name: "main",
    image,
    args,
    imagePullPolicy: "Always",
    env: [{ name: "PORT", value: String(PORT) }],
    readinessProbe: { httpGet: { host: "127.0.0.1", path: "/readyz", port: PORT }, periodSeconds: 1 },
    resources: { limits: { memory: "256Mi", ...(cpuLimit === undefined ? {} : { cpu: cpuLimit }) } },
  };
  const spec = {
    hostNetwork: true,
    serviceAccountName: "cold",
    terminationGracePeriodSeconds: 1,
    containers: [container],
  };
  const began = Date.now();
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "cold", namespace: NAMESPACE }, spec };
  const headers = { "content-type": "application/json" };
  const created = await node.request(PODS, { method: "POST", headers, body: JSON.stringify(pod) });
  if (!created.ok) throw new Error(`Cannot create a pod: ${await created.text()}`);
  const { metadata } = (await created.json()) as { readonly metadata: { readonly uid: string } };
  const conditions = async () => {
    const seen = (await (await node.request(`${PODS}/cold`)).json()) as {
      readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    };
    return seen.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  };
  await until(conditions, { within: 120_000, every: 20, what: `${image} is ready` });
  const ready = Date.now() - began;
  const { stdout, code } = await answering;
  if (code !== 0) throw new Error(`${image} has not answered within 120 s`);
  const pulled = await until(() => pullOf(node, metadata.uid), {
    within: 30_000,
    every: 50,
    what: "the event of a pull",
  });
  await node.kubectl("delete", "pod", "cold", "--namespace", NAMESPACE, "--now");
  return { pulled, answered: Number(stdout) - began, ready };
}

/** What kubelet says in an Event: `Successfully pulled image "…" in 1.234s (1.234s including waiting)`. */
async function pullOf(node: KubernetesNode, uid: string): Promise<number | undefined> {
  const path = `/api/v1/namespaces/${NAMESPACE}/events?fieldSelector=involvedObject.uid%3D${uid},reason%3DPulled`;
  const { items } = (await (await node.request(path)).json()) as { readonly items: readonly { message: string }[] };
  const duration = /" in (?:(\d+)m)?([\d.]+)(ms|s) /.exec(items[0]?.message ?? "");
  if (duration === null) return undefined;
  const [, minutes = "0", amount, unit] = duration;
  return Number(minutes) * 60_000 + Number(amount) * (unit === "s" ? 1_000 : 1);
}

function tellChanged(before: readonly StoredLayer[], after: readonly StoredLayer[]): void {
  console.log(`A change of one module, in an image of ${after.length} layers:`);
  for (const [index, { digest, compressed, uncompressed }] of after.entries()) {
    const isSame = before[index]?.digest === digest;
    const sizes = `${(compressed / 1024).toFixed(1)} KiB, unpacked ${(uncompressed / 1024).toFixed(1)} KiB`;
    console.log(`  ${digest.slice(0, 19)}… ${isSame ? "stays  " : "changes"} ${sizes}`);
  }
}

function tellAll(candidates: readonly Candidate[]): void {
  console.log("\n| Image | Compressed | Unpacked | Pull | Create to `/readyz` | Create to Ready |");
  console.log("| --- | --: | --: | --: | --: | --: |");
  for (const { name, layers, starts } of candidates) {
    const sizes = (["compressed", "uncompressed"] as const).map(
      (key) => `${(layers.reduce((sum, layer) => sum + layer[key], 0) / 2 ** 20).toFixed(1)} MiB`,
    );
    const times = (["pulled", "answered", "ready"] as const).map((key) => {
      const sorted = starts.map((one) => one[key]).sort((a, b) => a - b);
      return `${(sorted[sorted.length >> 1]! / 1_000).toFixed(2)} s`;
    });
    console.log(`| ${[name, ...sizes, ...times].join(" | ")} |`);
  }
}

const usage = "usage: bun tests/node/cold-start.ts [--runs 5] [--cpu-limit 200m] [NAME=ARCHIVE…]";

function optionsOf(args: string[]): Options | undefined {
  try {
    const options = { runs: { type: "string", default: "5" }, "cpu-limit": { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const peers = new Map(positionals.map((one) => one.split("=", 2) as [string, string]));
    const isRight = Number(values.runs) > 0 && [...peers].every(([name, file]) => /^[a-z0-9-]+$/.test(name) && file);
    return isRight ? { runs: Number(values.runs), cpuLimit: values["cpu-limit"], peers } : undefined;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const options = optionsOf(process.argv.slice(2));
  if (options === undefined) {
    console.error(usage);
    process.exit(2);
  }
  try {
    await compare(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
