/** `binnacle uninstall` against an API server of its own. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { until } from "../../../tests/support/until.ts";
import { type ListeningApiServer, listenApiServer } from "binnacle-apiserver";
import { startEmbeddedCluster } from "../../cluster/index.ts";
import { crdOf } from "../../resource/crd.ts";
import { defineResource } from "../../resource/define.ts";
import { z } from "zod";
import { cli } from "../cli.ts";

const Box = defineResource({
  group: "demo.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ size: z.int().optional() }),
});
const BOXES = "/apis/demo.dev/v1/namespaces/default/boxes";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.demo.dev";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

const MODULES: Readonly<Record<string, string>> = {
  "box.ts": `
    import { defineController, defineResource, z } from "binnacle";
    import { ConfigMap } from "binnacle/resources";
    export const Box = defineResource({ group: "demo.dev", version: "v1", kind: "Box", spec: z.object({ size: z.int().optional() }) });
    export const box = defineController({
      for: Box,
      owns: [ConfigMap],
      async reconcile(box, { log }) { throw new Error("nothing may be reconciled"); },
      async finalize({ metadata }, { client }) {
        if (metadata.name === "stuck") throw new Error("it cannot be finalized");
        await client.create(ConfigMap, { metadata: { name: "last-of-" + metadata.name, namespace: "default" } });
      },
    });`,
  "plain.ts": `
    import { defineController, defineWebhook } from "binnacle";
    import { ConfigMap, Pod } from "binnacle/resources";
    export const plain = defineController({ name: "plain", for: ConfigMap, async reconcile() {} });
    export const hook = defineWebhook({ for: Pod, validate() {} });`,
};

let folder: string;
let server: ListeningApiServer;
let answer: (request: Request) => Promise<Response>;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-uninstall-")));
  mkdirSync(join(folder, "controllers"));
  for (const [name, text] of Object.entries(MODULES)) writeFileSync(join(folder, "controllers", name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  server = await listenApiServer();
  answer = async (asked) => server.server.fetch(asked);
  writeFileSync(join(folder, "kubeconfig"), server.kubeconfig);
});
afterEach(() => server.stop());

async function run(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const offered = async () => ({
    binnacle: await import("../../index.ts"),
    "binnacle/resources": await import("../../resource/builtin/index.ts"),
  });
  const embedded = { version: "1.2.3", offered, sdk: () => Promise.resolve(undefined), source: undefined };
  const args = `uninstall ${line} --name binnacle --controllers ${folder}/controllers --kubeconfig ${folder}/kubeconfig`
    .split(" ")
    .filter((word) => word !== "");
  const host = {
    embedded,
    env: {},
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
  };
  const status = await cli(args, host);
  return { status, out: out.join(""), err: err.join("") };
}

interface Answer {
  readonly metadata: { readonly uid: string; readonly finalizers?: readonly string[] };
}

async function request(method: string, path: string, body?: object, type = "application/json") {
  const init = { method, headers: { "content-type": type }, ...(body && { body: JSON.stringify(body) }) };
  const response = await answer(new Request(`https://server${path}`, init));
  const text = await response.text();
  return { status: response.status, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Answer };
}

async function make(path: string, body: object) {
  const { status, body: made } = await request("POST", path, body);
  if (status >= 300) throw new Error(JSON.stringify(made));
  return made;
}

const box = (name: string, finalizers: readonly string[] = ["demo.dev/box"]) =>
  make(BOXES, { apiVersion: "demo.dev/v1", kind: "Box", metadata: { name, finalizers }, spec: {} });

async function install() {
  await make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crdOf(Box));
  await until(async () => (await request("GET", BOXES)).status === 200);
}

test("nothing is done for modules of which nothing is on the cluster, and names are looked up", async () => {
  expect(await run("--all --yes")).toMatchObject({ status: 0, err: "" });
  expect((await run("--all --yes")).out).toStartWith("Nothing of box.ts, plain.ts is on https://");
  expect((await run("boxes.ts")).err).toBe("binnacle: Cannot find the module 'boxes.ts', did you mean 'box.ts'?\n");
  expect((await run("")).err).toContain("Say what to uninstall");
  expect((await run("box --all")).err).toContain("leave one out");
  expect((await run("box.ts --yes")).out).toStartWith("Nothing of box.ts");
});

test("a module's objects are finalized and released, its kind stays, and what others made is left alone", async () => {
  await install();
  await box("a");
  await box("b", ["demo.dev/box", "other.dev/x"]);
  await box("free", []);
  await box("going");
  await request("DELETE", `${BOXES}/going`);
  const planned = await run("box.ts --dry-run");
  expect(planned.out).toContain("  1. finalize and release 3 Box objects: finalizer demo.dev/box\n");
  expect(planned.out).toContain("CustomResourceDefinition boxes.demo.dev stays with 4 objects; --crds deletes all");
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toEqual(["demo.dev/box"]);
  expect(await run("box.ts")).toMatchObject({ status: 1, err: expect.stringContaining("Say --yes") });
  const done = await run("box.ts --yes");
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  expect(done.out).toEndWith("3 objects finalized\nDone\n");
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toBeUndefined();
  expect((await request("GET", `${BOXES}/b`)).body.metadata.finalizers).toEqual(["other.dev/x"]);
  expect((await request("GET", `${BOXES}/going`)).status).toBe(404);
  for (const name of ["a", "b", "going"])
    expect((await request("GET", `/api/v1/namespaces/default/configmaps/last-of-${name}`)).status).toBe(200);
  expect((await run("box.ts --yes")).out).toStartWith("Nothing of box.ts");
}, 180_000);

test("what cannot be finalized is told, and released when that is asked", async () => {
  await install();
  await box("stuck");
  const failed = await run("box.ts --yes --timeout 1s");
  expect(failed.status).toBe(1);
  expect(failed.err).toContain("Cannot finalize everything within 1 s: Box (1, such as default/stuck)");
  expect(failed.err).toContain("it cannot be finalized");
  const planned = await run("box.ts --dry-run --release");
  expect(planned.out).toContain("release, without finalizing, 1 Box object: finalizer demo.dev/box");
  expect((await run("box.ts --yes --release")).status).toBe(0);
  expect((await request("GET", `${BOXES}/stuck`)).body.metadata.finalizers).toBeUndefined();
}, 180_000);

test("--crds deletes the kind last, but not while objects carry finalizers of others", async () => {
  await install();
  await box("a");
  const other = await box("b", ["other.dev/x"]);
  const held = await run("box.ts --yes --crds");
  expect(held.status).toBe(1);
  expect(held.err).toContain("CustomResourceDefinition boxes.demo.dev stays: its objects carry finalizers of others");
  expect(held.err).toContain("other.dev/x (objects: 1, such as default/b)");
  expect((await request("GET", `${BOXES}/b`)).body.metadata).toMatchObject({ uid: other.metadata.uid });
  const live = (await request("GET", `${BOXES}/b`)).body;
  await request("PUT", `${BOXES}/b`, { ...live, metadata: { ...live.metadata, finalizers: [] } });
  const done = await run("box.ts --yes --crds");
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  expect((await request("GET", CRD)).status).toBe(404);
}, 180_000);

test("--crds waits until the garbage collector has seen to the children, and keeps those that others own, too", async () => {
  await install();
  const { uid } = (await box("a", [])).metadata;
  const maps = "/api/v1/namespaces/default/configmaps";
  const ofBox = { apiVersion: "demo.dev/v1", kind: "Box", name: "a", uid };
  const ofOther = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "1" };
  const map = (name: string, ownerReferences: readonly object[]) => ({ metadata: { name, ownerReferences } });
  await make(maps, map("own", [ofBox]));
  await make(maps, map("shared", [ofBox, ofOther]));
  const running = run("box.ts --yes --crds --timeout 10s");
  // What the garbage collector does once the owner is gone.
  await until(async () => (await request("GET", `${BOXES}/a`)).status === 404);
  expect((await request("GET", CRD)).status).toBe(200);
  await request("DELETE", `${maps}/own`);
  await request("PATCH", `${maps}/shared`, map("shared", [ofOther]), "application/merge-patch+json");
  const done = await running;
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  expect((await request("GET", `${maps}/shared`)).status).toBe(200);
  expect((await request("GET", CRD)).status).toBe(404);
}, 180_000);

test("nothing is finalized while another copy renews the Lease", async () => {
  await install();
  await box("a");
  const spec = { holderIdentity: "copy", leaseDurationSeconds: 3_600 };
  await make(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "shop" }, spec });
  const line = "box.ts --yes --leader-election-id shop --leader-election-namespace default";
  const refused = await run(`${line} --timeout 1s`);
  expect(refused.err).toContain("Cannot uninstall while another copy works: it renews the Lease default/shop");
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toEqual(["demo.dev/box"]);
  expect((await run(`${line} --ignore-lease`)).status).toBe(0);
}, 180_000);

/** The path of a manifest's collection. */
function collectionOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
  const plural = kind.endsWith("y") ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
  const place = namespace === undefined ? "" : `namespaces/${namespace}/`;
  return `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}/${place}${plural}`;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
}

/** What `manifests deploy` prints for the modules, in a ConfigMap. */
async function deployManifests(...flags: readonly string[]): Promise<readonly Manifest[]> {
  const printed: string[] = [];
  const offered = async () => ({
    binnacle: await import("../../index.ts"),
    "binnacle/resources": await import("../../resource/builtin/index.ts"),
  });
  const embedded = { version: "1.2.3", offered, sdk: () => Promise.resolve(undefined), source: undefined };
  const line = `manifests deploy --name binnacle --controllers ${folder}/controllers --base-image example.com/binnacle:1`;
  await cli([...line.split(" "), ...flags], {
    embedded,
    env: {},
    out: (text) => void printed.push(text),
    err: () => {},
  });
  return parseAllDocuments(printed.join("")).map((one) => one.toJS() as Manifest);
}

/** The kinds of the Prometheus operator. */
async function makeMonitoringKinds(): Promise<void> {
  const group = "monitoring.coreos.com";
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  for (const kind of ["ServiceMonitor", "PrometheusRule"]) {
    const plural = `${kind.toLowerCase()}s`;
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind, plural },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    };
    await make(collectionOf(crd), crd);
    await until(async () => (await request("GET", `/apis/${group}/v1/${plural}`)).status === 200);
  }
}

test("--all takes off what `manifests deploy` has put there, in an order that hurts nobody, and nothing else", async () => {
  await makeMonitoringKinds();
  const manifests = await deployManifests("--monitoring");
  expect(manifests.length).toBeGreaterThan(8);
  for (const manifest of manifests) await make(collectionOf(manifest), manifest);
  await until(async () => (await request("GET", BOXES)).status === 200);
  await box("a");
  // What a process of it has made, and what others have beside it.
  const service = { namespace: "binnacle-system", name: "binnacle" };
  const configuration =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/binnacle.binnacle-system";
  const live = (await request("GET", configuration)).body;
  const hook = (name: string, clientConfig: object) => ({
    name,
    clientConfig,
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  });
  const own = hook("pod.core.binnacle.dev", { service: { ...service, path: "/validate--v1-pod" } });
  const foreign = hook("x.other.dev", { url: "https://other.dev/x" });
  expect((await request("PUT", configuration, { ...live, webhooks: [own, foreign] })).status).toBe(200);
  const lease = (name: string): Manifest => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "binnacle-system" },
  });
  const role = (namespace: string, subject: string) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "binnacle", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "binnacle" },
    subjects: [{ kind: "ServiceAccount", name: subject, namespace: "binnacle-system" }],
  });
  const helm = { "app.kubernetes.io/managed-by": "Helm" };
  const others: readonly Manifest[] = [
    lease("binnacle-two"),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "theirs", namespace: "binnacle-system" } },
    role("default", "theirs"),
    { ...role("kube-system", "binnacle"), metadata: { name: "binnacle", namespace: "kube-system", labels: helm } },
  ];
  for (const manifest of [lease("binnacle"), lease("binnacle-box"), ...others])
    await make(collectionOf(manifest), manifest);
  const done = await run("--all --crds --yes");
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  const steps = done.out.split("\n").filter((step) => /^ +\d+\. /.test(step));
  const at = (text: string) => steps.findIndex((step) => step.includes(text));
  expect([
    at("take the subject from ClusterRoleBinding binnacle, so that what runs can no longer write anything"),
    at("take the subject from RoleBinding binnacle-system/binnacle"),
    at("unregister 1 webhook of ValidatingWebhookConfiguration binnacle.binnacle-system (1 stay)"),
    at("stop and delete"),
  ]).toEqual([0, 1, 2, 3]);
  expect(at("finalize and release 1 Box object")).toBe(4);
  expect(at("delete CustomResourceDefinition boxes.demo.dev, and with it 1 object")).toBe(steps.length - 1);
  const left = async (manifest: Manifest) =>
    (await request("GET", `${collectionOf(manifest)}/${manifest.metadata.name}`)).status === 200;
  for (const manifest of [...manifests, lease("binnacle"), lease("binnacle-box")]) {
    const stays = manifest.kind === "Namespace" || manifest.kind === "ValidatingWebhookConfiguration";
    expect([manifest.kind, manifest.metadata.name, await left(manifest)]).toEqual([
      manifest.kind,
      manifest.metadata.name,
      stays,
    ]);
  }
  for (const manifest of others)
    expect([manifest.metadata.name, await left(manifest)]).toEqual([manifest.metadata.name, true]);
  const kept = (await request("GET", configuration)).body as unknown as { webhooks: readonly { name: string }[] };
  expect(kept.webhooks.map(({ name }) => name)).toEqual(["x.other.dev"]);
}, 180_000);

test("a module that a deployment runs beside others is taken out of it first", async () => {
  await using cluster = await startEmbeddedCluster();
  const config = cluster.as();
  answer = async (asked) => config.answer!(asked);
  writeFileSync(join(folder, "kubeconfig"), cluster.kubeconfig);
  for (const manifest of await deployManifests()) await make(collectionOf(manifest), manifest);
  const path = "/apis/apps/v1/namespaces/binnacle-system/deployments/binnacle";
  type Live = { readonly spec: { readonly template: object }; readonly status?: { readonly readyReplicas?: number } };
  const live = async () => (await request("GET", path)).body as unknown as Live;
  await until(async () => (await live()).status?.readyReplicas === 2, { within: 90_000 });
  await until(async () => (await request("GET", BOXES)).status === 200);
  await box("a");
  expect((await run("box.ts --dry-run")).out).toMatch(
    / 1\. roll out Deployment binnacle-system\/binnacle without \S*box\.ts\n +2\. finalize/,
  );
  // The deployment goes on without the module, so that it may keep its Lease.
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "binnacle", namespace: "binnacle-system" },
  };
  await make(collectionOf(lease), { ...lease, spec: { holderIdentity: "pod", leaseDurationSeconds: 3_600 } });
  const done = await run("box.ts --yes");
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toBeUndefined();
  await box("b");
  expect((await run("box.ts --yes")).out).toContain("1 object finalized");
  const template = JSON.stringify((await live()).spec.template);
  expect([template.includes("box.ts"), template.includes("plain.ts")]).toEqual([false, true]);
  const map = (await request("GET", "/api/v1/namespaces/binnacle-system/configmaps/binnacle")).body as unknown as {
    data: object;
  };
  expect(Object.keys(map.data).map((key) => key.includes("box"))).toEqual([false]);
}, 180_000);

const LABELS = { "app.kubernetes.io/managed-by": "binnacle", "app.kubernetes.io/name": "binnacle" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SYSTEM = "/api/v1/namespaces/binnacle-system";
const SYSTEM_LEASES = "/apis/coordination.k8s.io/v1/namespaces/binnacle-system/leases";

const deploy = async (): Promise<readonly Manifest[]> => {
  const manifests = await deployManifests();
  for (const manifest of manifests) await make(collectionOf(manifest), manifest);
  await until(async () => (await request("GET", BOXES)).status === 200);
  return manifests;
};

const isThere = async (path: string): Promise<boolean> => (await request("GET", path)).status === 200;

test("labels prove nothing: what others have labelled as ours stays, also under a name of ours", async () => {
  await deploy();
  const forged = { namespace: "binnacle-system", labels: LABELS };
  await make(`${SYSTEM}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...forged, name: "prod-db" } });
  const spec = { selector: { "app.kubernetes.io/name": "shop" }, ports: [{ port: 80 }] };
  await request("DELETE", `${SYSTEM}/services/binnacle`);
  await make(`${SYSTEM}/services`, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...forged, name: "binnacle" },
    spec,
  });
  const deployments = "/apis/apps/v1/namespaces/binnacle-system/deployments";
  const live = (await request("GET", `${deployments}/binnacle`)).body as unknown as Manifest & { spec: any }; // oxlint-disable-line typescript/no-explicit-any -- of the test alone
  live.spec.template.spec.serviceAccountName = "shop";
  expect((await request("PUT", `${deployments}/binnacle`, live)).status).toBe(200);
  // A role of the name to which somebody else is bound as well.
  await make(`${RBAC}/clusterrolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "people" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "binnacle" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  const done = await run("--all --yes");
  expect([done.status, done.err]).toEqual([0, ""]);
  for (const what of [
    "Service binnacle-system/binnacle",
    "Deployment binnacle-system/binnacle",
    "ClusterRole binnacle",
  ])
    expect(done.out).toContain(`${what} stays: others have it, or use it`);
  expect(await isThere(`${SYSTEM}/configmaps/prod-db`)).toBe(true);
  expect(await isThere(`${SYSTEM}/services/binnacle`)).toBe(true);
  expect(await isThere(`${deployments}/binnacle`)).toBe(true);
  expect(await isThere(`${RBAC}/clusterroles/binnacle`)).toBe(true);
  expect(await isThere(`${RBAC}/clusterrolebindings/binnacle`)).toBe(false);
  expect(await isThere(`${SYSTEM}/configmaps/binnacle`)).toBe(false);
}, 180_000);

test("what failed goes on where it was, and leaves no role and no binding", async () => {
  const manifests = await deploy();
  await box("stuck");
  const failed = await run("--all --crds --yes --timeout 1s");
  expect([failed.status, failed.err]).toEqual([1, expect.stringContaining("Cannot finalize everything within 1 s")]);
  const subjects = async (path: string) =>
    ((await request("GET", path)).body as unknown as { readonly subjects?: object }).subjects;
  expect(await isThere(`${RBAC}/clusterrolebindings/binnacle`)).toBe(true);
  expect(await subjects(`${RBAC}/clusterrolebindings/binnacle`)).toBeUndefined();
  const done = await run("--all --crds --yes --release");
  expect([done.status, done.err]).toEqual([0, expect.not.stringContaining("binnacle:")]);
  expect(done.out).not.toContain("take the subject");
  const left: string[] = [];
  for (const one of manifests) if (await isThere(`${collectionOf(one)}/${one.metadata.name}`)) left.push(one.kind);
  expect(left).toEqual(["Namespace"]);
  expect((await run("--all --crds --yes")).out).toStartWith("Nothing of box.ts, plain.ts is on");
}, 180_000);

test("the Leases that copies have left go, and one that somebody holds stays", async () => {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "binnacle-system" } };
  await make("/api/v1/namespaces", namespace);
  const lease = (name: string, spec: object, labels = {}) =>
    make(SYSTEM_LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, labels }, spec });
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  await lease("binnacle", { holderIdentity: "", leaseDurationSeconds: 1, renewTime });
  await lease("binnacle-shard-0", { holderIdentity: "" }, { "binnacle.dev/shards": "binnacle" });
  await lease("binnacle-shard-1", { holderIdentity: "" }, { "binnacle.dev/shards": "other" });
  await lease("binnacle-plain", { holderIdentity: "somebody", leaseDurationSeconds: 15, renewTime });
  const done = await run("--all --yes");
  expect([done.status, done.err]).toEqual([
    0,
    "binnacle: Lease binnacle-system/binnacle-plain stays: somebody holds it\n",
  ]);
  expect(await isThere(`${SYSTEM_LEASES}/binnacle`)).toBe(false);
  expect(await isThere(`${SYSTEM_LEASES}/binnacle-shard-0`)).toBe(false);
  expect(await isThere(`${SYSTEM_LEASES}/binnacle-shard-1`)).toBe(true);
  expect(await isThere(`${SYSTEM_LEASES}/binnacle-plain`)).toBe(true);
}, 180_000);

test("nothing is finalized while a replica renews the Lease of its share of the keys", async () => {
  await install();
  await box("a");
  const metadata = { name: "shop-shard-3", labels: { "binnacle.dev/shards": "shop" } };
  const spec = { holderIdentity: "replica", leaseDurationSeconds: 1 };
  await make(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
  const killed = new AbortController();
  const renewing = (async () => {
    for (let turn = 0; !killed.signal.aborted; turn++) {
      const type = "application/merge-patch+json";
      await request("PATCH", `${LEASES}/shop-shard-3`, { spec: { leaseTransitions: turn } }, type);
      await Bun.sleep(100);
    }
  })();
  const line = "box.ts --yes --leader-election-id shop --leader-election-namespace default";
  const refused = await run(`${line} --timeout 1500ms`);
  expect(refused.err).toContain(
    "Cannot uninstall while replicas work that divide the keys (--shards): one of them renews the Lease default/shop-shard-3",
  );
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toEqual(["demo.dev/box"]);
  killed.abort();
  await renewing;
  // It was killed: its Lease expires, by the clock of whoever watches it.
  expect((await run(line)).status).toBe(0);
  expect((await request("GET", `${BOXES}/a`)).body.metadata.finalizers).toBeUndefined();
}, 180_000);
