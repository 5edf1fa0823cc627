/**
 * Tests admission webhooks of the compiled binary: over HTTPS as the API server sends reviews, and by kubectl on two
 * API servers.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue, type ListeningApiServer, listenApiServer } from "binnacle-apiserver";
import { assets } from "../../scripts/controlplane/assets.ts";
import { Bench, freePort, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

/** Rejects, warns, fails and hangs depending on the image. */
const POLICY = `
import { defineWebhook, Denied } from "binnacle";
import { ConfigMap, Namespace, Pod } from "binnacle/resources";

const at = (pod) => pod.spec.containers[0]?.image ?? "";

export const policy = defineWebhook({
  for: Pod,
  default(draft, { dryRun, audit }) {
    draft.metadata.labels = { ...draft.metadata.labels, policy: dryRun ? "tried" : "seen" };
    audit("policy", "seen");
  },
  async validate(pod, { warn, signal }) {
    const image = at(pod);
    if (image === "throws:1") throw new Error("fake panic test");
    if (image === "hangs:1") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    if (image === "deaf:1") await new Promise(() => {});
    if (image === "nonsense:1") throw { toString: null };
    if (image.endsWith(":latest")) {
      throw new Denied("images must name a version", { code: 422, fields: { "spec.containers[0].image": "must not be latest" } });
    }
    if (image.startsWith("old")) warn("the image is old");
    if (image === "forbidden:1") throw new Denied("this image is forbidden");
  },
});

export const namespaced = defineWebhook({
  for: ConfigMap,
  reads: [Namespace],
  operations: ["CREATE", "UPDATE", "DELETE"],
  async validate(map, { client, old, operation }) {
    if (operation === "DELETE") {
      if (map.data?.keep !== undefined) throw new Denied("it is to be kept");
      return;
    }
    if (old?.data?.fixed !== undefined && map.data?.fixed !== old.data.fixed) throw new Denied("data.fixed is fixed");
    const namespace = await client.get(Namespace, { name: map.metadata.namespace });
    if (namespace.metadata.labels?.closed !== undefined) throw new Denied("the namespace is closed");
  },
});

export const scaling = defineWebhook({
  name: "scaling",
  rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"] }],
  operations: ["UPDATE"],
  validate(scale) {
    if (scale.spec.replicas > 3) throw new Denied("three are enough", { code: 422, fields: { "spec.replicas": "at most 3" } });
  },
});
`;

const BROKEN = `throw new Error("this module never loads");`;
const PODS = "/validate--v1-pod";
const authority = createAuthority("webhooks");

function pod(image: string, name = "web"): object {
  const metadata = { name, namespace: "default" };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "web", image }] } };
}

function review(object: unknown, more: object = {}): object {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = { uid: "u-1", kind, resource, name: "web", namespace: "default", operation: "CREATE", object };
  const userInfo = { username: "jane", groups: ["system:authenticated"] };
  const own = { ...request, userInfo, oldObject: null, dryRun: false, options: { kind: "CreateOptions" }, ...more };
  return { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: own };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The API server's reading of a response. */
interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status: {
    readonly code: number;
    readonly message?: string;
    readonly reason?: string;
    readonly details?: object;
  };
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

describe("the webhook listener", () => {
  let bench: Bench;
  let server: ListeningApiServer;
  let operator: Operator;
  let url: string;

  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { ...init, tls: { ca: authority.cert } });
    return { status: response.status, text: await response.text() };
  };
  const post = (path: string, body: string, type = "application/json"): Promise<Answer> =>
    send(path, { method: "POST", body, headers: { "Content-Type": type } });
  const ask = async (path: string, object: unknown, more?: object): Promise<AdmissionResponse> =>
    (JSON.parse((await post(path, JSON.stringify(review(object, more)))).text) as { response: AdmissionResponse })
      .response;

  beforeAll(async () => {
    [bench, server] = await Promise.all([Bench.create(), listenApiServer()]);
    await bench.write("kubeconfig", server.kubeconfig);
    await bench.write("controllers/policy.ts", POLICY);
    await bench.write("controllers/broken.ts", BROKEN);
    const { cert, key } = issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1"] });
    await bench.write("certs/tls.crt", cert);
    await bench.write("certs/tls.key", key);
    const port = await freePort();
    url = `https://127.0.0.1:${port}`;
    const args = ["--webhook-cert-path", "certs", "--webhook-bind-address", `127.0.0.1:${port}`];
    operator = await bench.run({ kubeconfig: "kubeconfig", args });
    // As a whole it is never ready, because a module that it began with is broken.
    await until(async () => (await operator.health("/readyz/webhooks")).status === 200, {
      what: () => `webhooks are served:\n${operator.text}`,
    });
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await server?.stop();
    await bench?.[Symbol.asyncDispose]();
  });

  test("ADM-01: a request without a body is answered with 400 in a review", async () => {
    const status = { metadata: {}, message: "request body is empty", code: 400 };
    const expected = { status: 200, text: JSON.stringify({ response: { uid: "", allowed: false, status } }) };
    expect(await send(PODS, { method: "POST" })).toEqual(expected);
  });

  test("ADM-02: another content type is answered with 400", async () => {
    const { text } = await post(PODS, "{}", "application/foo");
    const message = "contentType=application/foo, expected application/json";
    expect(JSON.parse(text)).toEqual({
      response: { uid: "", allowed: false, status: { metadata: {}, message, code: 400 } },
    });
  });

  test("ADM-03: what is no review is answered with 400", async () => {
    for (const body of ["{", "[]", '{"kind":"Pod","apiVersion":"v1"}', '{"request":null}']) {
      const { response } = JSON.parse((await post(PODS, body)).text) as { response: AdmissionResponse };
      expect(response).toMatchObject({ uid: "", allowed: false, status: { code: 400 } });
    }
  });

  test("ADM-04: more than 7 MiB is answered with 413, in a review or by the listener", async () => {
    const little = await post(PODS, " ".repeat(7 * 1024 * 1024 + 1));
    const message = "request entity is too large; limit is 7340032 bytes";
    expect(JSON.parse(little.text)).toMatchObject({ response: { allowed: false, status: { message, code: 413 } } });
  });

  test("ADM-05: the answer has the version of the request, v1 when it has none", async () => {
    expect(JSON.parse((await post(PODS, '{"request":{}}')).text)).toEqual({
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      response: { uid: "", allowed: true, status: { metadata: {}, code: 200 } },
    });
    const beta = { ...review(pod("web:1")), apiVersion: "admission.k8s.io/v1beta1" };
    expect(JSON.parse((await post(PODS, JSON.stringify(beta))).text)).toMatchObject({
      apiVersion: "admission.k8s.io/v1beta1",
      response: { uid: "u-1", allowed: true },
    });
  });

  test("ADM-07: the patch is a JSON patch in base64, and unknown fields survive", async () => {
    const answer = await ask("/mutate--v1-pod", { ...pod("web:1"), unknown: { field: 1 } });
    expect(answer).toMatchObject({ allowed: true, patchType: "JSONPatch", auditAnnotations: { policy: "seen" } });
    expect(JSON.parse(Buffer.from(answer.patch!, "base64").toString())).toEqual([
      { op: "add", path: "/metadata/labels", value: { policy: "seen" } },
    ]);
  });

  test("ADM-08: a throw is a 500 answer, counted, and the next request is answered", async () => {
    const { allowed, status } = await ask(PODS, pod("throws:1"));
    expect({ allowed, status }).toEqual({
      allowed: false,
      status: { metadata: {}, message: "panic: fake panic test [recovered]", code: 500 } as never,
    });
    expect(await ask(PODS, pod("nonsense:1"))).toMatchObject({ allowed: false, status: { code: 500 } });
    expect(await operator.metric("controller_runtime_webhook_panics_total")).toBe(2);
    expect(await operator.metric("binnacle_module_errors_total", { module: "policy.ts" })).toBe(2);
    expect(await ask(PODS, pod("web:1"))).toMatchObject({ allowed: true });
  });

  test("ADM-10: DELETE is not asked of default", async () => {
    const deletion = { operation: "DELETE", object: null, oldObject: pod("web:1") };
    const answer = await ask("/mutate--v1-pod", null, deletion);
    expect(answer).toEqual({ uid: "u-1", allowed: true, status: { metadata: {}, code: 200 } as never });
  });

  test("ADM-11: warnings are kept, and a refusal has no patch", async () => {
    expect(await ask(PODS, pod("old:1"))).toMatchObject({ allowed: true, warnings: ["the image is old"] });
    const refused = await ask(PODS, pod("web:latest"));
    expect(refused).toMatchObject({ allowed: false, status: { code: 422, reason: "Invalid" } });
    expect(refused).not.toHaveProperty("patch");
  });

  test("a handler that hangs is refused in time, whether it heeds its signal or not", async () => {
    for (const image of ["hangs:1", "deaf:1"]) {
      const began = performance.now();
      const { text } = await post(`${PODS}?timeout=1s`, JSON.stringify(review(pod(image))));
      expect(performance.now() - began).toBeLessThan(9_000); // without a timeout in its request it has 9.5 s
      expect(JSON.parse(text)).toMatchObject({ response: { allowed: false } });
    }
  });

  test("a broken module beside it changes nothing, but that a rollout does not go on", async () => {
    const { body, status } = await operator.health("/readyz?verbose");
    expect(status).toBe(500);
    expect(body).toContain("[ ]module/broken.ts broken");
    expect(await ask(PODS, pod("web:1"))).toMatchObject({ allowed: true });
  });

  test("HLTH: readyz has a check of webhooks", async () => {
    expect(await operator.health("/readyz/webhooks")).toEqual({ status: 200, body: "ok" });
  });

  test("MET: requests are counted by path and HTTP status", async () => {
    const labels = { webhook: PODS, code: "200" };
    expect(await operator.metric("controller_runtime_webhook_requests_total", labels)).toBeGreaterThan(10);
    const failed = { webhook: PODS, code: "500" };
    expect(await operator.metric("controller_runtime_webhook_requests_total", failed)).toBe(0);
    expect(
      await operator.metric("controller_runtime_webhook_latency_seconds_count", { webhook: PODS }),
    ).toBeGreaterThan(10);
  });

  test("whatever is sent, the answer is a review or a 4xx, and memory stays flat", async () => {
    const whole = JSON.stringify(review(pod("web:1")));
    const bodies = [
      ...Array.from({ length: 200 }, (_, index) => whole.slice(0, Math.floor((whole.length * index) / 200))),
      "[".repeat(200_000),
      `{"request":${'{"object":'.repeat(50_000)}`,
      `{"request":{"uid":${"9".repeat(5_000)}}}`,
      JSON.stringify(review("\u0000".repeat(10_000))),
      JSON.stringify(review({ spec: 1 })),
      JSON.stringify(review([])),
      JSON.stringify(review(pod("web:1"), { operation: "FROB", userInfo: null, kind: 5, name: 7, options: [] })),
      JSON.stringify({ ...review(pod("web:1")), apiVersion: "admission.k8s.io/v9" }),
      `{"request":{"__proto__":{"operation":"CREATE"},"operation":"CREATE","object":{"__proto__":{"spec":{}}}}}`,
    ];
    const types = ["application/json", "application/json; charset=utf-8", "text/plain", "", "multipart/form-data"];
    const before = (await operator.usage()).rss;
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        bodies.map((body, index) => {
          const path = index % 2 === 0 ? PODS : "/mutate--v1-pod";
          return post(`${path}?timeout=${["2s", "x", "-1s", "99h", ""][index % 5]!}`, body, types[(index + round) % 5]);
        }),
      );
      for (const { status, text } of answers) {
        const isReview =
          status === 200 &&
          typeof (JSON.parse(text) as { response?: AdmissionResponse }).response?.allowed === "boolean";
        expect(isReview || (status >= 400 && status < 500)).toBe(true);
      }
    }
    expect((await operator.usage()).rss - before).toBeLessThan(120);
    expect(await ask(PODS, pod("web:1"))).toMatchObject({ allowed: true });
  }, 180_000);

  test("many connections, most of which say nothing, keep nobody from an answer", async () => {
    const { connect } = await import("node:net");
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 2_000 }, () => connect(Number(port), hostname).on("error", () => {}));
    await Bun.sleep(500);
    expect(await ask(PODS, pod("web:1"))).toMatchObject({ allowed: true });
    for (const socket of sockets) socket.destroy();
  }, 180_000);
});

/** An API server, and kubectl for it. */
interface Target extends AsyncDisposable {
  readonly kubeconfig: string;
  kubectl(
    args: readonly string[],
    input?: unknown,
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

async function target(which: "real" | "embedded"): Promise<Target> {
  const dir = await mkdtemp(join(tmpdir(), "binnacle-webhooks-"));
  const cluster = which === "real" ? await Cluster.start({ controllers: false }) : undefined;
  const server = which === "embedded" ? await listenApiServer() : undefined;
  const kubeconfig = cluster?.kubeconfig ?? join(dir, "kubeconfig");
  if (server !== undefined) await writeFile(kubeconfig, server.kubeconfig);
  const program = join((await assets())!, "kubectl");
  return {
    kubeconfig,
    async kubectl(args, input) {
      const child = Bun.spawn([program, "--kubeconfig", kubeconfig, "--cache-dir", join(dir, "cache"), ...args], {
        stdin: input === undefined ? "ignore" : new Blob([JSON.stringify(input)]),
        stdout: "pipe",
        stderr: "pipe",
        env: { ...process.env, DISABLE_HTTP2: undefined }, // kubectl would remark on it
      });
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, out, err };
    },
    async [Symbol.asyncDispose]() {
      await cluster?.[Symbol.asyncDispose]();
      await server?.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

describe.each(["real", "embedded"] as const)("webhooks on the %s API server", (which) => {
  let api: Target;
  let bench: Bench;
  let operator: Operator;
  const apply = (object: object, ...args: readonly string[]) => api.kubectl(["apply", "-f", "-", ...args], object);

  beforeAll(async () => {
    if (!available) return;
    [api, bench] = await Promise.all([target(which), Bench.create()]);
    await bench.write("controllers/policy.ts", POLICY);
    const port = await freePort();
    const args = [
      "--webhook-bind-address",
      `127.0.0.1:${port}`,
      "--webhook-host",
      `127.0.0.1:${port}`,
      "--register-webhooks",
    ];
    operator = await bench.run({ kubeconfig: api.kubeconfig, args });
    await operator.ready();
    await api.kubectl(["create", "serviceaccount", "default"]);
    await until(async () => (await apply(pod("web:latest", "probe"))).code !== 0, {
      what: () => `registered:\n${operator.text}`,
    });
  }, 240_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  const on = test.skipIf(!available);

  on("objects are completed, and warnings arrive", async () => {
    const { code, err } = await apply(pod("old:1", "first"));
    expect({ code, err }).toEqual({ code: 0, err: "Warning: the image is old\n" });
    const { out } = await api.kubectl(["get", "pod", "first", "-o", "jsonpath={.metadata.labels.policy}"]);
    expect(out).toBe("seen");
  });

  on("a refusal shows message and field", async () => {
    const invalid = await apply(pod("web:latest", "second"));
    expect(invalid.code).toBe(1);
    expect(invalid.err).toContain('The Pod "second" is invalid: spec.containers[0].image: must not be latest');
    const forbidden = await apply(pod("forbidden:1", "second"));
    expect(forbidden.err).toContain(
      'admission webhook "pod.core.binnacle.dev" denied the request: this image is forbidden',
    );
    expect(forbidden.err).toContain("Error from server (Forbidden)");
  });

  on("a server-side dry run is asked about, and stores nothing", async () => {
    const { code, out } = await apply(
      pod("web:1", "tried"),
      "--dry-run=server",
      "-o",
      "jsonpath={.metadata.labels.policy}",
    );
    expect({ code, out }).toEqual({ code: 0, out: "tried" });
    expect((await api.kubectl(["get", "pod", "tried"])).code).toBe(1);
    expect((await apply(pod("web:latest", "tried"), "--dry-run=server")).code).toBe(1);
  });

  on(
    "a throw and a handler that hangs are refusals",
    async () => {
      const thrown = await apply(pod("throws:1", "third"));
      expect(thrown.err).toContain("panic: fake panic test [recovered]");
      const late = await apply(pod("deaf:1", "third"));
      expect(late.err).toContain("webhook 'pod' did not answer in time");
    },
    30_000,
  );

  on("updates see the stored object, deletes the deleted one, and reads the cache", async () => {
    const map = (data: object, namespace = "default") => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "map", namespace },
      data,
    });
    expect((await apply(map({ fixed: "a", keep: "yes" }))).code).toBe(0);
    expect((await apply(map({ fixed: "b", keep: "yes" }))).err).toContain("data.fixed is fixed");
    expect((await api.kubectl(["delete", "configmap", "map"])).err).toContain("it is to be kept");
    expect((await apply(map({ fixed: "a" }))).code).toBe(0);
    expect((await api.kubectl(["delete", "configmap", "map"])).code).toBe(0);
    await api.kubectl(["create", "namespace", "shut"]);
    await api.kubectl(["label", "namespace", "shut", "closed=yes"]);
    await until(async () => (await apply(map({}, "shut"))).err.includes("the namespace is closed"), {
      what: "the cache has the label",
    });
  });

  on("subresources are asked about by rules", async () => {
    await api.kubectl(["create", "deployment", "web", "--image", "web:1", "--replicas", "1"]);
    expect((await api.kubectl(["scale", "deployment", "web", "--replicas", "2"])).code).toBe(0);
    const { err } = await api.kubectl(["scale", "deployment", "web", "--replicas", "4"]);
    expect(err).toContain("spec.replicas: at most 3");
  });
});
