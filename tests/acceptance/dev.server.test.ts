/** Tests `binnacle dev` as a newcomer uses it: the binary, a folder with one module and its sample, and kubectl. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";

const examples = join(import.meta.dirname, "../../controllers");
const folder = await assets();
const program = folder !== undefined && existsSync(join(folder, "kubectl")) ? join(folder, "kubectl") : "kubectl";

/** A running `binnacle dev`. */
class Dev implements AsyncDisposable {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly began: number = performance.now();
  readonly #dir: string;
  out = "";
  err = "";

  constructor(dir: string, ...args: string[]) {
    this.#dir = dir;
    this.child = Bun.spawn([join(dir, "binnacle"), "dev", ...args], {
      cwd: dir,
      env: { PATH: join(dir, "nothing"), HOME: dir },
      stdout: "pipe",
      stderr: "pipe",
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    const errors = async (): Promise<void> => {
      for await (const chunk of this.child.stderr) this.err += decoder.decode(chunk);
    };
    void errors();
    for await (const chunk of this.child.stdout) this.out += decoder.decode(chunk);
  }

  /** Waits for the lines that say how to continue. */
  async ready(): Promise<this> {
    await until(() => this.out.includes("  try "), { what: () => `the three lines: ${this.out}${this.err}`, every: 5 });
    return this;
  }

  get url(): string {
    return /addresses {2}(\S+)/.exec(this.out)![1]!;
  }

  async kubectl(...args: string[]): Promise<string> {
    const env = { HOME: this.#dir, KUBECONFIG: join(this.#dir, ".binnacle/kubeconfig"), PATH: process.env["PATH"] };
    const child = Bun.spawn([program, ...args], { cwd: this.#dir, env, stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(`kubectl ${args.join(" ")}: ${err}`);
    return out.trim();
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.child.kill(signal);
    await this.child.exited;
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end();
  }
}

describe("binnacle dev", () => {
  let bench: Bench;
  let dev: Dev;
  beforeAll(async () => {
    bench = await Bench.create();
    await bench.example("guestbook");
    await copyFile(join(examples, "guestbook.yaml"), join(bench.dir, "controllers/guestbook.yaml"));
    dev = new Dev(bench.dir, "--data");
    await dev.ready();
  });
  afterAll(async () => {
    await dev?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
  });

  test("says how to go on, and the sample becomes pods that run, a Service, endpoints and a condition", async () => {
    const started = performance.now() - dev.began;
    expect(dev.out).toContain("export KUBECONFIG=$PWD/.binnacle/kubeconfig");
    expect(dev.out).toContain("kubectl apply -f controllers/guestbook.yaml");
    await dev.kubectl("apply", "-f", "controllers/guestbook.yaml");
    await until(() => dev.err.includes("Reconciled"), { what: () => dev.err, every: 5 });
    console.log(
      `binnacle dev: ready after ${Math.round(started)} ms, first reconcile after ${Math.round(performance.now() - dev.began)} ms`,
    );
    await dev.kubectl("wait", "--for=condition=Ready", "guestbook/hello", "--timeout=20s");
    expect(await dev.kubectl("get", "deployment,replicaset", "--no-headers")).toMatch(
      /deployment\.apps\/hello +2\/2 +2 +2 .*\n+replicaset\.apps\/hello-\S+ +2 +2 +2 /,
    );
    const pods = (await dev.kubectl("get", "pods", "--no-headers")).split("\n");
    expect(pods.filter((line) => / 1\/1 +Running /.test(line))).toHaveLength(2);
    const addresses = "jsonpath={.subsets[0].addresses[*].targetRef.kind}";
    await until(async () => (await dev.kubectl("get", "endpoints", "hello", "-o", addresses)) === "Pod Pod", {
      what: "two endpoints",
    });
    expect(dev.err).toMatch(/Reconciled .*key=default\/hello because="for Guestbook create default\/hello/);
    expect(dev.err).toMatch(/because="owns Deployment update default\/hello/);
  }, 180_000);

  test("rollout status, set image, rollout undo, scale and delete behave", async () => {
    const image = async (): Promise<string> =>
      dev.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}");
    await dev.kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=2");
    expect(await dev.kubectl("rollout", "status", "deployment/web", "--timeout=20s")).toContain(
      "successfully rolled out",
    );
    await dev.kubectl("set", "image", "deployment/web", "nginx=nginx:2");
    await dev.kubectl("rollout", "status", "deployment/web", "--timeout=20s");
    await until(async () => (await image()) === "nginx:2 nginx:2", { what: "the new image" });
    expect(await dev.kubectl("rollout", "history", "deployment/web")).toMatch(/^1 .*\n2 /m);
    await dev.kubectl("rollout", "undo", "deployment/web");
    await dev.kubectl("rollout", "status", "deployment/web", "--timeout=20s");
    await until(async () => (await image()) === "nginx:1 nginx:1", { what: "the old image again" });
    await dev.kubectl("scale", "deployment/web", "--replicas=3");
    await dev.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", "--timeout=20s");
    await dev.kubectl("delete", "deployment", "web", "--timeout=20s");
    await until(async () => (await dev.kubectl("get", "pods,replicasets", "-l", "app=web", "-o", "name")) === "", {
      what: "everything of web gone",
    });
  }, 180_000);

  test("a second start in the same folder says who is there, and disturbs nothing", async () => {
    const second = new Dev(bench.dir, "--data");
    expect(await second.child.exited).toBe(1);
    await until(() => second.err !== "", { what: "a message" });
    expect(second.err).toContain(`another binnacle dev runs there (process ${dev.child.pid})`);
    expect(await dev.kubectl("get", "guestbook", "hello", "-o", "name")).toBe("guestbook.demo.binnacle.dev/hello");
  });

  test("one in another folder takes free ports, and the same ones again", async () => {
    await using other = await Bench.create();
    await other.example("pod-logger");
    const beside = await new Dev(other.dir).ready();
    expect(beside.url).not.toBe(dev.url);
    expect(await beside.kubectl("get", "nodes", "--no-headers")).toContain("Ready");
    await beside.kubectl("create", "configmap", "passing");
    expect(await beside.end()).toBe(0);
    expect(existsSync(join(other.dir, ".binnacle/kubeconfig"))).toBe(false);
    // Without --data it begins with an empty cluster, which kubectl finds at the same place.
    await using again = await new Dev(other.dir).ready();
    expect(again.url).toBe(beside.url);
    expect(await again.kubectl("get", "configmaps", "-o", "name")).not.toContain("passing");
  }, 180_000);

  test("a module that changes is loaded again", async () => {
    const file = join(bench.dir, "controllers/guestbook.ts");
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("AllReady", "EverybodyIsHere"));
    const reason = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}';
    await until(async () => (await dev.kubectl("get", "guestbook", "hello", "-o", reason)) === "EverybodyIsHere", {
      what: () => `the new reason: ${dev.err.slice(-2_000)}`,
    });
  }, 180_000);

  test("after kill -9 it goes on with its data, on its port", async () => {
    const { url } = dev;
    const uid = await dev.kubectl("get", "guestbook", "hello", "-o", "jsonpath={.metadata.uid}");
    await dev.end("SIGKILL");
    dev = await new Dev(bench.dir, "--data").ready();
    expect(dev.url).toBe(url);
    expect(await dev.kubectl("get", "guestbook", "hello", "-o", "jsonpath={.metadata.uid}")).toBe(uid);
    await dev.kubectl("delete", "-f", "controllers/guestbook.yaml", "--timeout=20s");
    await until(async () => (await dev.kubectl("get", "deployments,pods", "-o", "name")) === "", {
      what: "nothing left",
    });
    expect(await dev.end()).toBe(0);
  }, 180_000);
});

/** Gives the group of each tenant a role in its namespace. */
function tenants(uses: string): string {
  return `import { allow, defineController, defineResource, of, z } from "binnacle";
import { ClusterRole, ConfigMap, Namespace, RoleBinding } from "binnacle/resources";

export const Tenant = defineResource({
  group: "demo.example.com", version: "v1", kind: "Tenant", scope: "Cluster", spec: z.object({}),
});

const apiGroup = "rbac.authorization.k8s.io";

export const tenant = defineController({
  for: Tenant,
  owns: [Namespace],
  uses: [${uses}],
  async reconcile({ metadata: { name } }, { children, client, log }) {
    await children.sync({ namespace: of(Namespace, { metadata: { name } }) });
    await client.apply(RoleBinding, {
      metadata: { name: "members", namespace: name },
      roleRef: { apiGroup, kind: "ClusterRole", name: "member" },
      subjects: [{ kind: "Group", name, apiGroup }],
    });
    log.info("Members may work");
  },
});
`;
}

describe("binnacle dev, as the service account of manifests rbac", () => {
  const account = "system:serviceaccount:binnacle-system:binnacle";
  const write = 'allow(RoleBinding, "create", "patch")';
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create();
    await bench.write("controllers/tenant.ts", tenants(""));
  });
  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
  });

  test("a missing permission shows with the line to add, and the line is enough", async () => {
    await using dev = await new Dev(bench.dir).ready();
    await dev.kubectl("create", "clusterrole", "member", "--verb=get", "--resource=secrets");
    await bench.write(
      "blue.yaml",
      "apiVersion: demo.example.com/v1\nkind: Tenant\nmetadata: { name: blue }\nspec: {}\n",
    );
    await dev.kubectl("apply", "-f", "blue.yaml");
    const told = async (...texts: readonly string[]): Promise<void> =>
      void (await until(() => texts.every((text) => dev.err.replaceAll('\\"', '"').includes(text)), {
        what: () => `${texts.join(" and ")}: ${dev.err}`,
      }));
    await told(`User "${account}" cannot patch resource "rolebindings"`, 'uses: [allow(RoleBinding, "patch")]');
    await bench.write("controllers/tenant.ts", tenants(write));
    await told(
      "is attempting to grant RBAC permissions not currently held",
      'allow(ClusterRole, "bind", { names: […] })',
    );
    await bench.write("controllers/tenant.ts", tenants(`${write}, allow(ClusterRole, "bind", { names: ["member"] })`));
    await told("Members may work");
    const { stdout } = await bench.exec("manifests", "rbac");
    const role = JSON.parse(await dev.kubectl("get", "clusterrole", "binnacle", "-o", "json")) as { rules: unknown };
    const printed = parseAllDocuments(stdout).map((one) => one.toJS() as { kind: string; rules?: unknown });
    expect(role.rules).toEqual(printed.find(({ kind }) => kind === "ClusterRole")!.rules);
    const may = (...question: string[]): Promise<string> =>
      dev.kubectl("auth", "can-i", ...question, `--as=${account}`).catch(() => "no");
    expect(await may("create", "namespaces")).toContain("yes");
    expect(await may("get", "secrets", "-n", "blue")).toBe("no");
    expect(await dev.kubectl("auth", "can-i", "get", "secrets", "-n", "blue", "--as=a", "--as-group=blue")).toBe("yes");
    expect(await dev.kubectl("auth", "can-i", "delete", "nodes")).toContain("yes");
  }, 180_000);

  test("--as-admin lets a module do everything, and warns of what it does not declare", async () => {
    await bench.write("controllers/tenant.ts", tenants(""));
    await using dev = await new Dev(bench.dir, "--as-admin").ready();
    await dev.kubectl("create", "clusterrole", "member", "--verb=get", "--resource=secrets");
    await dev.kubectl("apply", "-f", "blue.yaml");
    await until(() => dev.err.includes("Members may work"), { what: () => dev.err });
    expect(dev.err).toContain('A call is not declared: add `uses: [allow(RoleBinding, "patch")]`');
    expect(await dev.kubectl("get", "clusterrole", "-o", "name")).not.toContain("/binnacle");
    const elsewhere = await bench.exec("dev", "--as-admin", "--kubeconfig", "x");
    expect(elsewhere).toMatchObject({ code: 2, stdout: "" });
    expect(elsewhere.stderr).toStartWith("binnacle: --as-admin is for the embedded cluster");
  }, 180_000);
});
