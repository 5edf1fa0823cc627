import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "./certificates/certificate.ts";
import type { KubeObject } from "./hooks.ts";
import { listenApiServer, type ListeningApiServer } from "./listen.ts";

const folder = mkdtempSync(join(tmpdir(), "binnacle-listen-"));

afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(Bun.which("kubectl") === null)("kubectl", () => {
  const kubeconfig = join(folder, "kubeconfig");
  let listening: ListeningApiServer;

  beforeAll(async () => {
    listening = await listenApiServer();
    writeFileSync(kubeconfig, listening.kubeconfig);
  });

  afterAll(async () => {
    await listening.stop();
  });

  async function kubectl(...args: string[]): Promise<string> {
    const child = Bun.spawn(["kubectl", "--kubeconfig", kubeconfig, "--cache-dir", join(folder, "cache"), ...args], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return code === 0 ? out : `${code}: ${err}`;
  }

  const deployment = join(folder, "deployment.yaml");
  writeFileSync(
    deployment,
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`,
  );

  test("applies, shows, scales, patches and deletes", async () => {
    expect(await kubectl("apply", "-f", deployment)).toBe("deployment.apps/web created\n");
    expect(await kubectl("apply", "-f", deployment)).toBe("deployment.apps/web unchanged\n");
    expect(await kubectl("apply", "--server-side", "-f", deployment)).toBe("deployment.apps/web serverside-applied\n");
    expect(await kubectl("scale", "deployment/web", "--replicas=3")).toBe("deployment.apps/web scaled\n");
    expect(await kubectl("get", "deployment", "web")).toMatch(/NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/3/);
    const patch = ["--type=json", "-p", '[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]'];
    expect(await kubectl("patch", "deployment", "web", ...patch)).toBe("deployment.apps/web patched\n");
    expect(await kubectl("get", "deploy", "-l", "x=y", "-o", "name")).toBe("deployment.apps/web\n");
    expect(await kubectl("describe", "deployment", "web")).toContain("Replicas:               3 desired");
    expect(await kubectl("delete", "deployment", "web")).toContain("deleted");
    expect(await kubectl("get", "deployment", "web")).toContain('deployments.apps "web" not found');
  });

  test("creates, labels, annotates, explains, waits, asks and gets tokens", async () => {
    expect(await kubectl("create", "configmap", "c", "--from-literal=a=b")).toBe("configmap/c created\n");
    expect(await kubectl("label", "configmap", "c", "a=b")).toBe("configmap/c labeled\n");
    expect(await kubectl("annotate", "configmap", "c", "a=b")).toBe("configmap/c annotated\n");
    expect(await kubectl("get", "cm", "c", "-o", "jsonpath={.data.a}{.metadata.labels.a}")).toBe("bb");
    expect(await kubectl("explain", "configmap.data")).toContain("Data contains the configuration data");
    expect(await kubectl("api-resources", "--api-group=apps")).toContain("statefulsets");
    expect(await kubectl("auth", "can-i", "get", "pods")).toBe("yes\n");
    expect(await kubectl("create", "serviceaccount", "s")).toBe("serviceaccount/s created\n");
    expect((await kubectl("create", "token", "s")).split(".")).toHaveLength(3);
    const jsonpath = "--for=jsonpath={.data.a}=b";
    expect(await kubectl("wait", jsonpath, "configmap/c", "--timeout=5s")).toBe("configmap/c condition met\n");
  });
});

test("without credentials only health and version are answered, a wrong token is refused everywhere", async () => {
  await using listening = await listenApiServer();
  const ca = Buffer.from(/authority-data: (.*)/.exec(listening.kubeconfig)?.[1] ?? "", "base64").toString();
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    fetch(`${listening.url}${path}`, { method, headers, tls: { ca } });
  for (const path of ["/healthz", "/livez", "/readyz", "/version"]) {
    expect((await ask(path)).status).toBe(200);
    expect((await ask(path, { authorization: "Bearer wrong" })).status).toBe(401);
  }
  for (const path of ["/", "/api", "/api/v1/namespaces/default/secrets", "/openapi/v2", "/readyz/etcd", "/absent"]) {
    const answer = await ask(path);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ kind: "Status", reason: "Unauthorized", message: "Unauthorized" });
  }
  const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  expect((await ask(reviews, { "content-type": "application/json" }, "POST")).status).toBe(401);
  expect((await ask("/api", { "impersonate-user": "kubernetes-admin" })).status).toBe(401);
  expect((await ask("/version", { "impersonate-user": "kubernetes-admin" })).status).toBe(403);
  expect((await ask("/version", {}, "POST")).status).toBe(403);
});

test("a client certificate names its user where its authority is known", async () => {
  const authority = createAuthority("people");
  const { cert, key } = issue(authority, { subject: { name: "alice", groups: ["zoo"] } });
  await using listening = await listenApiServer({ clientAuthority: authority.cert });
  const ca = Buffer.from(/authority-data: (.*)/.exec(listening.kubeconfig)?.[1] ?? "", "base64").toString();
  const answer = await fetch(`${listening.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
    tls: { ca, cert, key },
  });
  expect(await answer.json()).toMatchObject({
    status: { userInfo: { username: "alice", groups: ["zoo", "system:authenticated"] } },
  });
});

test("kill -9 loses nothing that was answered, and the version does not go back", async () => {
  const data = join(folder, "data");
  const script = join(folder, "serve.ts");
  writeFileSync(
    script,
    `import { listenApiServer } from ${JSON.stringify(join(import.meta.dirname, "listen.ts"))};
     const { url, kubeconfig } = await listenApiServer({ data: ${JSON.stringify(data)} });
     await Bun.write(${JSON.stringify(join(folder, "killed.kubeconfig"))}, kubeconfig);
     console.log(url);`,
  );
  const child = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const config = readFileSync(join(folder, "killed.kubeconfig"), "utf8");
  const token = /token: (.*)/.exec(config)?.[1] ?? "";
  const ca = Buffer.from(/authority-data: (.*)/.exec(config)?.[1] ?? "", "base64").toString();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const maps = "/api/v1/namespaces/default/configmaps";

  const answered: string[] = [];
  let newest = 0;
  let number = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const name = `c${(number += 1)}`;
      const body = JSON.stringify({ metadata: { name } });
      const response = await fetch(url + maps, { method: "POST", headers, body, tls: { ca } });
      const { metadata } = (await response.json()) as KubeObject;
      answered.push(name);
      newest = Math.max(newest, Number(metadata.resourceVersion));
      if (answered.length === 300) child.kill("SIGKILL");
    }
  };
  await Promise.allSettled([write(), write(), write(), write()]);
  await child.exited;
  expect(answered.length).toBeGreaterThanOrEqual(300);

  await using again = await listenApiServer({ data });
  expect(again.kubeconfig).toContain(token);
  const list = (await (await again.server.fetch(new Request(`http://server${maps}`))).json()) as {
    items: KubeObject[];
    metadata: { resourceVersion: string };
  };
  const names = new Set(list.items.map(({ metadata }) => metadata.name));
  expect(answered.filter((name) => !names.has(name))).toEqual([]);
  expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
  const watch = await again.server.fetch(
    new Request(`http://server${maps}?watch=1&resourceVersion=1&timeoutSeconds=0`),
  );
  expect(await watch.text()).toContain('"code":410');
});
