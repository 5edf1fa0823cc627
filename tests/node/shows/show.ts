/** What the tests of a deployment share: a node, a folder, the binary, and a line with the seconds for each step. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../support/until.ts";
import { binary } from "../../../scripts/build.ts";
import { nodeAssets } from "../assets.ts";
import { audited } from "../chaos-audit.ts";
import { KubernetesNode, startNode } from "../node.ts";
import { outputOf, run } from "../programs.ts";
import { whyNoNode } from "../requirements.ts";
import { RUNNING_NODE } from "../step.ts";

/** Whether there is a node to run on: the step of the tests starts one, and a test file alone starts its own. */
export const available: boolean = whyNoNode() === undefined;

/** As far as a test looks at an object. */
export interface Seen {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: object;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: any; // oxlint-disable-line typescript/no-explicit-any -- of any kind
  readonly status?: any; // oxlint-disable-line typescript/no-explicit-any -- of any kind
  readonly items?: readonly Seen[];
}

export class Show implements AsyncDisposable {
  readonly node: KubernetesNode;
  readonly dir: string;
  readonly #title: string;
  readonly #isOwn: boolean;

  private constructor(title: string, node: KubernetesNode, { dir, isOwn }: { dir: string; isOwn: boolean }) {
    this.#title = title;
    this.node = node;
    this.dir = dir;
    this.#isOwn = isOwn;
  }

  static async open(title: string): Promise<Show> {
    const running = process.env[RUNNING_NODE];
    const node =
      running === undefined ? await startNode(audited) : new KubernetesNode(running, await nodeAssets(), false);
    const dir = await mkdtemp(join(tmpdir(), "show-"));
    return new Show(title, node, { dir, isOwn: running === undefined });
  }

  /** Says how many seconds it took. */
  async step<T>(what: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    console.log(`${this.#title}: ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${what}`);
    return result;
  }

  /** Writes a file below the folder. */
  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.dir, path)), { recursive: true });
    await writeFile(join(this.dir, path), text);
  }

  /** Copies one of the examples, changed where a test wants it so. */
  async example(name: string, to: string, change?: (text: string) => string): Promise<void> {
    const text = await readFile(join(import.meta.dirname, "../../../controllers", name), "utf8");
    const changed = change?.(text) ?? text;
    if (change !== undefined && changed === text)
      throw new Error(`Cannot change ${name}: what is to be replaced is not there`);
    await this.write(`${to}/${name}`, changed);
  }

  /** What the binary printed, with the folder as its working directory. @throws with its words when it fails. */
  async binnacle(...args: string[]): Promise<string> {
    return await run(binary, args, { cwd: this.dir });
  }

  /** What the binary said on standard error. */
  async said(...args: string[]): Promise<string> {
    return (await outputOf(binary, args, { cwd: this.dir })).stderr;
  }

  /** Builds an image with the modules of a folder, or with the binary alone, and loads it into the node. */
  async image(name: string, folder?: string): Promise<void> {
    const archive = `${name.replaceAll(/[^a-z0-9]/g, "-")}.tar`;
    const what = folder === undefined ? ["--external"] : ["--controllers", folder];
    await this.step(`binnacle build --image ${name}`, async () => {
      await this.binnacle("build", ...what, "--image", name, "--output", archive);
    });
    await this.step(`${name} is loaded into the node`, async () => await this.node.load(join(this.dir, archive)));
  }

  /** The object at a path of the API; `undefined` when there is none. */
  async get(path: string): Promise<Seen | undefined> {
    const response = await this.node.request(path);
    if (response.status === 404) return void (await response.text());
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Seen;
  }

  /** Waits for what an object says. */
  async see(path: string, what: string, holds: (seen: Seen) => boolean): Promise<Seen> {
    let last: Seen | undefined;
    const look = async () => {
      last = await this.get(path);
      return last !== undefined && holds(last) ? last : undefined;
    };
    return await until(look, { within: 90_000, every: 100, what: () => `${what}: ${path} is ${JSON.stringify(last)}` });
  }

  /** Waits until a Deployment has rolled out; what its pods logged is told when it does not. */
  async rolledOut(namespace: string, name: string): Promise<void> {
    const args = ["rollout", "status", `deployment/${name}`, `--namespace=${namespace}`, "--timeout=120s"];
    const { code, stdout, stderr } = await this.node.tryKubectl(args);
    if (code === 0) return;
    const about = ["describe", "pods", `--namespace=${namespace}`];
    const logs = ["logs", `deployment/${name}`, `--namespace=${namespace}`, "--tail=30"];
    const more = await Promise.all([about, logs].map((words) => this.node.tryKubectl(words)));
    throw new Error([stdout, stderr, ...more.map((one) => one.stdout)].join("\n"));
  }

  /** Every object of the cluster as `KIND NAMESPACE NAME`, without what the cluster itself writes all the time. */
  async objects(): Promise<ReadonlySet<string>> {
    const kinds = (await this.node.kubectl("api-resources", "--verbs=list", "--output=name")).trim().split("\n");
    const lasting = kinds.filter((kind) => !/^(events|leases|componentstatuses)\b/.test(kind)).join(",");
    const columns = "--output=custom-columns=:kind,:metadata.namespace,:metadata.name";
    const lines = await this.node.kubectl("get", lasting, "--all-namespaces", "--no-headers", columns);
    return new Set(lines.split("\n").map((line) => line.trim().replaceAll(/ +/g, " ")));
  }

  /** How often containers of a namespace were started anew. */
  async restarts(namespace: string): Promise<number> {
    const { items = [] } = (await this.get(`/api/v1/namespaces/${namespace}/pods`)) ?? {};
    const statuses = items.flatMap(({ status }) => (status.containerStatuses ?? []) as { restartCount: number }[]);
    return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  }

  /** The most memory that a pod of a namespace works with, in MiB: what it uses, less the pages of files that it has not touched lately. */
  async memory(namespace: string): Promise<number> {
    const { items = [] } = (await this.get(`/api/v1/namespaces/${namespace}/pods`)) ?? {};
    const sizes = items.map(async ({ metadata }) => {
      const files = ["memory.usage_in_bytes", "memory.stat"].map(
        (file) => `/sys/fs/cgroup/memory/kubepods/*/pod${metadata.uid}/${file}`,
      );
      const { stdout } = await this.node.exec("sh", "-c", `cat ${files.join(" ")}`);
      const [used] = stdout.split("\n");
      return (Number(used) - Number(/^total_inactive_file (\d+)$/m.exec(stdout)?.[1] ?? 0)) / 2 ** 20;
    });
    return Math.max(0, ...(await Promise.all(sizes)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
    if (this.#isOwn) await this.node.stop();
  }
}

/** Whether the condition of this type is True. */
export function isTrue(seen: Seen, type: string): boolean {
  return conditionsOf(seen).some((one) => one.type === type && one.status === "True");
}

export function conditionsOf(seen: Seen): readonly { type: string; status: string; message?: string }[] {
  return (seen.status?.conditions ?? []) as readonly { type: string; status: string; message?: string }[];
}
