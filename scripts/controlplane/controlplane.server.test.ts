import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptied } from "../../src/testing/control-plane/emptied.ts";
import { until } from "../../tests/support/until.ts";
import { locked } from "./assets.ts";
import { assets, type ControlPlane, startControlPlane } from "./controlplane.ts";

const module = join(import.meta.dirname, "controlplane.ts");
const bin = await assets();
setDefaultTimeout(120_000);

describe.skipIf(!bin)("startControlPlane", () => {
  let controlPlane: ControlPlane;
  beforeAll(async () => {
    controlPlane = await startControlPlane({ controllers: true, audit: true, flags: ["--max-requests-inflight=123"] });
  });
  afterAll(async () => {
    await controlPlane.stop();
    expect(existsSync(controlPlane.dir)).toBe(false);
  });

  test("writes a kubeconfig that kubectl takes", async () => {
    const { stdout, exitCode } = await controlPlane.kubectl("auth", "whoami", "-o", "json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).status.userInfo.groups).toContain("system:masters");
    expect((await controlPlane.kubectl("config", "current-context")).stdout).toBe("kind-kind\n");
  });

  test("runs the controllers: what an owner leaves behind is collected", async () => {
    await controlPlane.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: default}}`);
    const { stdout } = await controlPlane.kubectl("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}");
    await controlPlane.apply(`
      {apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default,
        ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ${stdout}}]}}`);
    await controlPlane.kubectl("delete", "configmap", "owner");
    const { exitCode } = await controlPlane.kubectl("wait", "--for=delete", "configmap/owned", "--timeout=20s");
    expect(exitCode).toBe(0);
  });

  test("counts requests and writes them down", async () => {
    await controlPlane.request("/api/v1/namespaces/kube-public");
    expect(await controlPlane.metrics()).toMatch(/^apiserver_request_total\{.*verb="GET".*\} \d+$/m);
    const uris = (await controlPlane.audit()).map((event) => event.requestURI);
    expect(uris).toContain("/api/v1/namespaces/kube-public");
  });

  test("lets another user do only what RBAC says, and refuses an expired one", async () => {
    const as = async (kubeconfig: string) => await controlPlane.kubectl("--kubeconfig", kubeconfig, "get", "pods");
    const jane = await controlPlane.userKubeconfig("jane", { groups: ["readers"] });
    expect((await as(jane)).stderr).toContain('User "jane" cannot list resource "pods"');
    await controlPlane.kubectl("create", "clusterrolebinding", "readers", "--clusterrole=view", "--group=readers");
    expect((await as(jane)).exitCode).toBe(0);
    const expired = await controlPlane.userKubeconfig("joe", { notAfter: new Date("2020-01-01") });
    expect((await as(expired)).stderr).toMatch(/expired|logged in/);
  });

  test("is emptied of what tests leave: definitions, held objects, namespaces, and what refuses every write", async () => {
    const crd = `
      {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.left.example.com}, spec: {
        group: left.example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true,
        storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`;
    await controlPlane.apply(crd);
    await controlPlane.kubectl("wait", "--for=condition=Established", "crd/things.left.example.com", "--timeout=60s");
    await controlPlane.kubectl("create", "namespace", "left");
    const thing = `{apiVersion: left.example.com/v1, kind: Thing, metadata: {name: held, namespace: left, finalizers: [example.com/x]}}`;
    await until(() => controlPlane.apply(thing).catch(() => undefined), { what: "a thing", every: 200 });
    await controlPlane.apply(`
      {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: left}, spec: {replicas: 2, selector: {matchLabels: {a: b}},
        template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: web}]}}}}`);
    await controlPlane.kubectl("create", "configmap", "left", "--namespace=default");
    await controlPlane.apply(`
      {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: left}, webhooks: [{
        name: never.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1"},
        rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps", "things"]}]}]}`);
    await emptied(controlPlane);
    for (const path of [
      "/apis/left.example.com",
      "/api/v1/namespaces/left",
      "/api/v1/namespaces/default/configmaps/left",
      "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/readers",
    ])
      expect([path, (await controlPlane.request(path)).status]).toEqual([path, 404]);
    expect((await controlPlane.kubectl("get", "clusterrole", "cluster-admin")).exitCode).toBe(0);
    await controlPlane.apply(crd);
    await controlPlane.kubectl("wait", "--for=condition=Established", "crd/things.left.example.com", "--timeout=60s");
  });

  test("restart brings a killed API server back on its port with its data", async () => {
    await controlPlane.kubectl("create", "namespace", "kept");
    await controlPlane.kill("kube-apiserver");
    await expect(controlPlane.request("/readyz")).rejects.toThrow();
    await controlPlane.restart("kube-apiserver");
    expect((await controlPlane.request("/api/v1/namespaces/kept")).status).toBe(200);
  });

  test("restart keeps the data of a killed etcd", async () => {
    await controlPlane.kill("etcd");
    await controlPlane.restart("etcd");
    await controlPlane.restart("kube-apiserver");
    expect((await controlPlane.request("/api/v1/namespaces/kept")).status).toBe(200);
  });

  test("refuses a folder in which one runs", async () => {
    await expect(startControlPlane({ dir: controlPlane.dir })).rejects.toThrow("runs in");
  });
});

describe.skipIf(!bin)("a control plane whose process is gone", () => {
  test("leaves no process and no folder", async () => {
    const code = `const { startControlPlane } = await import(${JSON.stringify(module)});
      const { url, dir } = await startControlPlane();
      console.log(JSON.stringify({ url, dir }));
      await Bun.sleep(60_000);`;
    const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    const output = await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data))));
    const { url, dir } = JSON.parse(output) as { url: string; dir: string };
    const reach = async () => await fetch(`${url}/readyz`, { tls: { rejectUnauthorized: false } });
    expect((await reach()).status).toBeLessThan(500);
    child.kill("SIGKILL");
    const deadline = Date.now() + 5_000;
    while (Date.now() < deadline && existsSync(dir)) await Bun.sleep(50);
    await expect(reach()).rejects.toThrow();
    expect(existsSync(dir)).toBe(false);
  });
});

describe("assets", () => {
  const ask = (env: Record<string, string>) => Bun.spawnSync([process.execPath, module, "build"], { env });

  test("says what is missing in KUBEBUILDER_ASSETS", async () => {
    const dir = await mkdtemp(join(tmpdir(), "binnacle-assets-"));
    const { exitCode, stderr } = ask({ KUBEBUILDER_ASSETS: dir });
    await rm(dir, { recursive: true });
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toContain(`KUBEBUILDER_ASSETS is ${dir}, but there is no etcd`);
  });

  test("takes KUBEBUILDER_ASSETS as it is", async () => {
    const dir = await mkdtemp(join(tmpdir(), "binnacle-assets-"));
    for (const program of ["etcd", "kube-apiserver"]) await symlink("/bin/true", join(dir, program));
    expect(ask({ KUBEBUILDER_ASSETS: dir }).stdout.toString().trim()).toBe(dir);
    await rm(dir, { recursive: true });
  });

  test("is undefined without Go and without a folder", async () => {
    const cache = await mkdtemp(join(tmpdir(), "binnacle-cache-"));
    const { exitCode, stderr } = ask({ PATH: cache, XDG_CACHE_HOME: cache });
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toContain("no Go on PATH");
    await rm(cache, { recursive: true });
  });

  test("lets one builder at a time in, and takes over from a dead one", async () => {
    const dir = await mkdtemp(join(tmpdir(), "binnacle-lock-"));
    const file = join(dir, "lock");
    await Bun.write(file, "999999999");
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await Bun.sleep(20);
      inside--;
    };
    await locked(file, work);
    await Promise.all([locked(file, work), locked(file, work), locked(file, work)]);
    expect(existsSync(file)).toBe(false);
    await rm(dir, { recursive: true });
  });
});
