/** Tests errors before and during a run: each is one clear line that names the thing and the way out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Bench } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const CONFIGS = (name: string): string => `
import { defineController, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const c = defineController({ name: "${name}", for: watch(ConfigMap, { labels: "x=${name}" }), async reconcile(o, { log }) { log.info("ran ${name}"); } });`;

const LATE = `
import { defineController, defineResource, z } from "binnacle";
export const Late = defineResource({ group: "late.binnacle.dev", version: "v1", kind: "Late", spec: z.object({}) });
export const late = defineController({ for: Late, async reconcile(o, { log }) { log.info("ran late " + o.metadata.name); } });`;

const SECRETS = `
import { defineController } from "binnacle";
import { Secret } from "binnacle/resources";
export const secrets = defineController({ name: "secrets", for: Secret, async reconcile(o, { log }) { log.info("ran secrets"); } });`;

describe.skipIf(!available)("bad input", () => {
  let cluster: Cluster;
  let bench: Bench;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start({ controllers: false }), Bench.create()]);
    await bench.write("controllers/one.ts", CONFIGS("one"));
  }, 180_000);

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  /** Runs the command to its end; the complaint is one line without a stack. */
  async function complaint(...args: string[]): Promise<{ code: number; line: string }> {
    const off = ["--health-probe-bind-address", "0", "--metrics-bind-address", "0", "--log-level", "error"];
    const given = args.some((arg) => arg.startsWith("--health")) ? [] : off;
    const { code, stderr } = await bench.exec("run", ...given, ...args);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("    at ");
    return { code, line: stderr.trim() };
  }

  test("names the folder that is not there, and the one without modules", async () => {
    const missing = await complaint("--controllers", "nowhere", "--kubeconfig", cluster.kubeconfig);
    expect(missing).toMatchObject({ code: 1, line: expect.stringContaining("nowhere") });
    await bench.write("empty/_ignored.ts", "");
    const empty = await complaint("--controllers", "empty", "--kubeconfig", cluster.kubeconfig);
    expect(empty).toMatchObject({ code: 1, line: expect.stringContaining("empty") });
  });

  test("names an unknown flag and the nearest one", async () => {
    const { code, line } = await complaint("--kubeconfg", "x");
    expect(code).toBe(2);
    expect(line).toContain("kubeconfg");
    expect(line).toContain("--kubeconfig");
  });

  test("says what is wrong with a kubeconfig", async () => {
    const missing = await complaint("--kubeconfig", "nowhere.yaml");
    expect(missing).toMatchObject({ code: 1, line: expect.stringContaining("nowhere.yaml") });
    const file = await bench.write("broken.yaml", "a: [b\nc: }");
    const broken = await complaint("--kubeconfig", file);
    expect(broken).toMatchObject({ code: 1, line: expect.stringContaining("broken.yaml") });
    const context = await complaint("--kubeconfig", cluster.kubeconfig, "--context", "nope");
    expect(context).toMatchObject({ code: 1, line: expect.stringMatching(/nope.*kind-kind/) });
    const expired = await cluster.plane.userKubeconfig("late", { notAfter: new Date(Date.now() - 86_400_000) });
    const certificate = await complaint("--kubeconfig", expired);
    expect(certificate).toMatchObject({ code: 1, line: expect.stringMatching(/expired/i) });
  });

  test("keeps trying a server that is not there, and says so", async () => {
    const text = await Bun.file(cluster.kubeconfig).text();
    const file = await bench.write("away.yaml", text.replace(/https:\/\/127\.0\.0\.1:\d+/, "https://127.0.0.1:1"));
    await using operator = await bench.run({ kubeconfig: file });
    await until(() => operator.text.includes("127.0.0.1:1"), { what: "it says which server" });
    await until(async () => (await operator.health("/readyz?verbose")).body.includes("127.0.0.1:1"), {
      what: "/readyz says so",
    });
    expect(operator.child.exitCode).toBeNull();
    expect(await operator.stop()).toBe(0);
  });

  test("names both files of two controllers of one name", async () => {
    await bench.write("twice/a.ts", CONFIGS("same"));
    await bench.write("twice/b.ts", CONFIGS("same"));
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--controllers", "twice"] });
    await until(() => operator.log.some(({ level, reason }) => level === "error" && /same/.test(String(reason))), {
      what: () => `an error that names it:\n${operator.text}`,
    });
    expect(operator.text).toMatch(/a\.ts/);
    expect(operator.text).toMatch(/b\.ts/);
  });

  test("names the port that is in use", async () => {
    const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const address = `127.0.0.1:${taken.port}`;
    const { code, line } = await complaint(
      "--kubeconfig",
      cluster.kubeconfig,
      "--health-probe-bind-address",
      address,
      "--metrics-bind-address",
      "0",
      "--log-level",
      "error",
    );
    expect(code).toBe(1);
    expect(line).toContain(address);
    await taken.stop(true);
  });

  test("a kind that may not be listed makes its controller unavailable, until the role is granted", async () => {
    await bench.write("rbac/one.ts", CONFIGS("one"));
    await bench.write("rbac/secrets.ts", SECRETS);
    const kubeconfig = await cluster.plane.userKubeconfig("someone");
    const role = (resource: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: read-${resource} }
rules: [{ apiGroups: [""], resources: [${resource}], verbs: [get, list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: read-${resource} }
subjects: [{ kind: User, name: someone }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read-${resource} }
`;
    await cluster.plane.apply(role("configmaps"));
    await using operator = await bench.run({ kubeconfig, args: ["--controllers", "rbac"] });
    await until(async () => /secrets.*(403|[Ff]orbidden)/.test((await operator.health("/readyz?verbose")).body), {
      what: "unavailable is shown",
    });
    await cluster.send("POST", "/api/v1/namespaces/default/configmaps", {
      body: { metadata: { name: "r", labels: { x: "one" } } },
    });
    await until(() => operator.log.some(({ msg }) => msg === "ran one"), { what: "the other controller works" });
    await operator.ready(); // an unavailable controller does not hold back the others
    await Bun.sleep(3_000); // this is far enough into the back-off
    await cluster.send("POST", "/api/v1/namespaces/default/secrets", { body: { metadata: { name: "r" } } });
    await cluster.plane.apply(role("secrets"));
    const granted = performance.now();
    await until(() => operator.log.some(({ msg }) => msg === "ran secrets"), {
      within: 35_000,
      what: "it goes on by itself",
    });
    console.log(`available ${Math.round(performance.now() - granted)} ms after the role was granted`);
  }, 180_000);

  test("a kind that does not exist yet is waited for, and a controller pauses when it goes", async () => {
    await bench.write("late/late.ts", LATE);
    await using operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--controllers", "late"] });
    await until(async () => /late.*waiting/i.test((await operator.health("/readyz?verbose")).body), {
      what: () => `waiting is shown:\n${operator.text}`,
    });
    const crd = (await bench.exec("manifests", "crds", "--controllers", "late")).stdout;
    const object = { apiVersion: "late.binnacle.dev/v1", kind: "Late", spec: {} };
    const LATES = "/apis/late.binnacle.dev/v1/namespaces/default/lates";
    for (const name of ["first", "second"]) {
      await cluster.plane.apply(crd);
      await until(async () => await cluster.serves(LATES), { what: "the kind is served" });
      await cluster.send("POST", LATES, { body: { ...object, metadata: { name } } });
      await until(() => operator.log.some(({ msg }) => msg === `ran late ${name}`), {
        what: () => `${name} is reconciled:\n${operator.text}`,
      });
      await cluster.kubectl("delete", "crd", "lates.late.binnacle.dev", "--timeout=30s");
      await until(async () => /late.*waiting/i.test((await operator.health("/readyz?verbose")).body), {
        what: "waiting again",
      });
    }
  }, 180_000);
});
