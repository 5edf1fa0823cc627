/**
 * Webhooks over HTTPS, with the manager around them: the cases of controller-runtime's admission tests by their
 * numbers.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AdmissionReview } from "../webhook/admission-review.ts";
import { createAuthority, issue } from "binnacle-apiserver";
import type { Definition } from "../module/definition.ts";
import { defineWebhook } from "../module/define-webhook.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { ConfigMap, Pod, Secret } from "../resource/builtin/index.ts";
import { CurrentCertificate, type TrustedCertificate } from "../webhook/certificates/trusted-source.ts";
import { eventually } from "../testing/eventually.ts";
import { Denied } from "../webhook/denied.ts";
import { Manager } from "./manager.ts";

const authority = createAuthority("webhooks");
const pair = (): TrustedCertificate => ({
  ...issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1"] }),
  authorities: undefined,
});

/** A manager whose API server nobody asks. */
class Served implements AsyncDisposable {
  readonly certificates = new CurrentCertificate();
  readonly lines: string[] = [];
  readonly manager: Manager;

  constructor() {
    this.certificates.set(pair());
    const tls = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true };
    this.manager = new Manager({
      cluster: {
        server: "http://127.0.0.1:1",
        context: "test",
        user: "test",
        namespace: "default",
        tls,
        headers: () => ({}),
        reload: () => Promise.resolve(false),
      },
      log: createLog({ level: "info", format: "json", write: (line) => void this.lines.push(line) }),
      settings: {
        "health-probe-bind-address": "127.0.0.1:0",
        "metrics-bind-address": "127.0.0.1:0",
        "grace-period": 200,
      },
      webhooks: { address: "127.0.0.1:0", certificates: { kind: "current", current: this.certificates } },
      isolate: false,
      connectionClock: systemClock,
    });
  }

  async add(name: string, ...definitions: readonly Definition[]): Promise<void> {
    await this.manager.add(this.#module(name, definitions));
  }

  async replace(name: string, ...definitions: readonly Definition[]): Promise<void> {
    await this.manager.replace(this.#module(name, definitions));
  }

  /** The body as it is sent, so that it may be anything. */
  async post(path: string, body: string | undefined, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
    const response = await fetch(`https://${this.manager.address("webhook")}${path}`, {
      method: "POST",
      headers,
      ...(body !== undefined && { body }),
      tls: { ca: authority.cert },
    });
    return { status: response.status, text: await response.text() };
  }

  async review(path: string, review: unknown): Promise<AdmissionReview> {
    const { text } = await this.post(path, JSON.stringify(review));
    return JSON.parse(text) as AdmissionReview;
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://${this.manager.address("metrics")}/metrics`)).text();
  }

  async readyz(): Promise<string> {
    return (await fetch(`http://${this.manager.address("health-probe")}/readyz?verbose`)).text();
  }

  #module(name: string, definitions: readonly Definition[]) {
    // A context of its own for each version, as each has that is loaded from a file.
    const invoke = <T>(call: () => T): T => call();
    return { name, file: name, definitions: collectDefinitions(definitions), invoke, dispose: () => {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.stop();
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const JSON_TYPE = { "Content-Type": "application/json" };
const PODS = "/validate--v1-pod";

function create(object: object, more: object = {}): object {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = { uid: "u-1", kind, resource, name: "web", namespace: "default", operation: "CREATE", object };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { ...request, userInfo: { username: "jane" }, ...more },
  };
}

const pod = (image = "nginx:1"): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "web", image }] },
});

function patchOf(review: AdmissionReview): unknown {
  const { patch } = review.response!;
  return patch === undefined ? undefined : JSON.parse(Buffer.from(patch, "base64").toString());
}

let served: Served;

beforeAll(async () => {
  served = new Served();
  await served.manager.start();
  await served.add(
    "pods.ts",
    defineWebhook({
      for: Pod,
      default(draft) {
        draft.metadata.labels = { ...draft.metadata.labels, seen: "yes" };
      },
      async validate(object, { warn }) {
        await Promise.resolve();
        for (const { image = "" } of object.spec.containers) {
          if (image === "throws") throw new Error("fake panic test");
          if (image === "nonsense") throw { toString: null };
          if (image === "hangs") await new Promise(() => {});
          if (image === "warns") warn("this image warns");
          if (image === "invalid") {
            throw new Denied("no", { code: 422, fields: { "spec.containers[0].image": "must not be this one" } });
          }
          if (image.endsWith(":latest")) throw new Denied("latest is refused");
        }
      },
    }),
  );
});

afterAll(() => served[Symbol.asyncDispose]());

test("ADM-01: a request without a body is answered with 400 in a review", async () => {
  const { status, text } = await served.post(PODS, undefined, {});
  expect(status).toBe(200);
  const expected =
    '{"response":{"uid":"","allowed":false,"status":{"metadata":{},"message":"request body is empty","code":400}}}';
  expect(text).toBe(expected);
});

test("ADM-02: another content type is answered with 400", async () => {
  const { text } = await served.post(PODS, "{}", { "Content-Type": "application/foo" });
  expect(JSON.parse(text)).toEqual({
    response: {
      uid: "",
      allowed: false,
      status: { metadata: {}, message: "contentType=application/foo, expected application/json", code: 400 },
    },
  });
});

test("ADM-03: a body that is no JSON, or no review, is answered with 400", async () => {
  for (const body of ["{", "null", "[]", '"x"', '{"kind":"Pod","apiVersion":"v1"}', '{"request":null}']) {
    const { response } = JSON.parse((await served.post(PODS, body)).text) as AdmissionReview;
    expect(response).toMatchObject({ uid: "", allowed: false, status: { code: 400 } });
  }
});

test("ADM-04: a body of more than 7 MiB is answered with 413", async () => {
  const { text } = await served.post(PODS, `{"request":"${"x".repeat(7 * 1024 * 1024)}"}`);
  const message = "request entity is too large; limit is 7340032 bytes";
  expect(JSON.parse(text)).toMatchObject({ response: { allowed: false, status: { message, code: 413 } } });
});

test("ADM-05: the answer has the version of the request, v1 when it has none", async () => {
  const empty = JSON.parse((await served.post(PODS, '{"request":{}}')).text) as AdmissionReview;
  expect(empty).toEqual({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    response: { uid: "", allowed: true, status: { metadata: {}, code: 200 } },
  });
  const beta = await served.review(PODS, { ...create(pod()), apiVersion: "admission.k8s.io/v1beta1" });
  expect(beta).toMatchObject({ apiVersion: "admission.k8s.io/v1beta1", response: { uid: "u-1", allowed: true } });
});

test("ADM-07: what default changes becomes a JSON patch, and unknown fields survive", async () => {
  const review = await served.review("/mutate--v1-pod", create({ ...pod(), unknown: { field: 1 } }));
  expect(review.response).toMatchObject({ uid: "u-1", allowed: true, patchType: "JSONPatch" });
  expect(patchOf(review)).toEqual([{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }]);
});

test("ADM-08: a throw is a 500 answer and counted", async () => {
  const before = await served.metrics();
  const { response } = await served.review(PODS, create(pod("throws")));
  const status = { metadata: {}, message: "panic: fake panic test [recovered]", code: 500 };
  expect(response).toEqual({ uid: "u-1", allowed: false, status });
  const after = await served.metrics();
  expect(before).toContain("controller_runtime_webhook_panics_total 0");
  expect(before).toContain('binnacle_webhook_admissions_total{webhook="pod",operation="CREATE",result="error"} 0');
  expect(after).toContain("controller_runtime_webhook_panics_total 1");
  expect(after).toContain('binnacle_webhook_admissions_total{webhook="pod",operation="CREATE",result="error"} 1');
  expect(after).toContain('binnacle_module_errors_total{module="pods.ts"} 1');
});

test("values of Secrets are in no line of the log, whatever a webhook throws", async () => {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }];
  const validate = (secret: object): never => {
    throw new Error(`cannot use ${JSON.stringify(secret)}`);
  };
  await served.add(
    "secrets.ts",
    defineWebhook({ for: Secret, validate }),
    defineWebhook({ name: "all", rules, validate }),
  );
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { key: "correct-horse" } };
  const request = { kind: { group: "", version: "v1", kind: "Secret" } };
  for (const path of ["/validate--v1-secret", "/validate/all"]) {
    const { response } = await served.review(path, create(object, request));
    expect(response!.status.message).toContain("[redacted]");
  }
  expect(served.lines.filter((line) => line.includes("A webhook threw")).length).toBeGreaterThanOrEqual(2);
  expect(served.lines.filter((line) => line.includes("correct-horse"))).toEqual([]);
});

test("what is thrown need not be an error", async () => {
  const { response } = await served.review(PODS, create(pod("nonsense")));
  const message = "panic: a value that is no error [recovered]";
  expect(response).toMatchObject({ uid: "u-1", allowed: false, status: { message, code: 500 } });
});

test("ADM-09: validate refuses with code, reason and causes, and its warnings arrive", async () => {
  const latest = await served.review(PODS, create(pod("nginx:latest")));
  const forbidden = { metadata: {}, message: "latest is refused", reason: "Forbidden", code: 403 };
  expect(latest.response).toEqual({ uid: "u-1", allowed: false, status: forbidden });
  const invalid = await served.review(PODS, create(pod("invalid")));
  const field = "spec.containers[0].image";
  const causes = [{ reason: "FieldValueInvalid", message: "must not be this one", field }];
  expect(invalid.response!.status).toEqual({
    metadata: {},
    message: `no: ${field}: must not be this one`,
    reason: "Invalid",
    details: { name: "web", kind: "Pod", causes },
    code: 422,
  });
  const warned = await served.review(PODS, create(pod("warns")));
  expect(warned.response).toMatchObject({ allowed: true, warnings: ["this image warns"] });
});

test("ADM-10: DELETE is not asked of default, and of validate only where it says so", async () => {
  const request = { operation: "DELETE", object: null, oldObject: pod("throws") };
  for (const path of ["/mutate--v1-pod", PODS]) {
    const { response } = await served.review(path, create({}, request));
    expect(response).toEqual({ uid: "u-1", allowed: true, status: { metadata: {}, code: 200 } });
  }
});

test("ADM-11: webhooks of one path run in order, until one refuses", async () => {
  await using chained = new Served();
  await chained.manager.start();
  const add = (key: string) =>
    defineWebhook({
      for: ConfigMap,
      default(draft, { warn }) {
        warn(`added ${key}`);
        draft.data = { ...draft.data, [key]: `${Object.keys(draft.data ?? {}).length}` };
        if (draft.data["refuse"] === key) throw new Denied(`refused by ${key}`);
      },
    });
  await chained.add("b.ts", add("b"));
  await chained.add("a.ts", add("a"));
  const path = "/mutate--v1-configmap";
  const map = (data: object) => create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data });
  const both = await chained.review(path, map({}));
  expect(patchOf(both)).toEqual([
    { op: "add", path: "/data/a", value: "0" },
    { op: "add", path: "/data/b", value: "1" },
  ]);
  expect(both.response!.warnings).toEqual(["added a", "added b"]);
  const refused = await chained.review(path, map({ refuse: "b" }));
  expect(refused.response).toMatchObject({ allowed: false, status: { message: "refused by b" } });
  expect(refused.response).not.toHaveProperty("patch");
});

test("a handler that hangs is refused before the API server stops waiting", async () => {
  const began = performance.now();
  const { response } = await served.review(`${PODS}?timeout=1s`, create(pod("hangs")));
  expect(performance.now() - began).toBeLessThan(9_000); // without a timeout in its request it has 9.5 s
  const status = { message: "webhook 'pod' did not answer in time", reason: "Timeout", code: 504 };
  expect(response).toMatchObject({ uid: "u-1", allowed: false, status });
});

test("paths that nobody has are 404, and reviews are sent with POST", async () => {
  for (const path of ["/validate--v1-service", "/plugins", "/plugins/", "/plugins/none/x"]) {
    expect((await served.post(path, "{}")).status).toBe(404);
  }
  const url = `https://${served.manager.address("webhook")}${PODS}`;
  expect((await fetch(url, { tls: { ca: authority.cert } })).status).toBe(405);
});

test("MET: requests are counted by path and HTTP status", async () => {
  const text = await served.metrics();
  const labels = `webhook="${PODS}",code=`;
  expect(text).toMatch(new RegExp(`controller_runtime_webhook_requests_total\\{${labels}"200"\\} [1-9]`));
  expect(text).toContain(`controller_runtime_webhook_requests_total{${labels}"500"} 0`);
  expect(text).toContain(`controller_runtime_webhook_requests_in_flight{webhook="${PODS}"} 0`);
  expect(text).toMatch(/controller_runtime_webhook_latency_seconds_count\{webhook="\/validate--v1-pod"\} [1-9]/);
});

test("HLTH: readyz has a check of the webhooks once there are some", async () => {
  expect(await served.readyz()).toContain("[+]webhooks ok");
});

test("a new version of a module answers without a gap, and the module's end takes the path away", async () => {
  await using swapped = new Served();
  await swapped.manager.start();
  const refuse = (message: string) =>
    defineWebhook({
      for: Pod,
      validate() {
        throw new Denied(message);
      },
    });
  await swapped.add("a.ts", refuse("one"));
  const messages = new Set<string>();
  const done = new AbortController();
  const asking = (async () => {
    while (!done.signal.aborted) messages.add((await swapped.review(PODS, create(pod()))).response!.status.message!);
  })();
  await swapped.replace("a.ts", refuse("two"));
  const last = await swapped.review(PODS, create(pod()));
  done.abort();
  await asking;
  expect(last.response!.status.message).toBe("two");
  expect([...messages].filter((message) => message !== "one" && message !== "two")).toEqual([]);
  await swapped.manager.remove("a.ts");
  expect((await swapped.post(PODS, "{}")).status).toBe(404);
});

test("a certificate is swapped while requests come, and none is lost", async () => {
  const next = pair();
  let failed = 0;
  const done = new AbortController();
  const asking = Array.from({ length: 4 }, async () => {
    while (!done.signal.aborted) {
      const review = await served.review(PODS, create(pod())).catch(() => undefined);
      if (review?.response?.allowed !== true) failed++;
    }
  });
  await Bun.sleep(50);
  served.certificates.set(next);
  await Bun.sleep(500);
  done.abort();
  await Promise.all(asking);
  expect(failed).toBe(0);
  const { connect } = await import("node:tls");
  const port = Number(served.manager.address("webhook")!.split(":").at(-1));
  const shown = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", ca: authority.cert }, () => {
        const certificate = socket.getPeerCertificate().raw.toString("base64");
        socket.destroy();
        resolve(next.cert.replaceAll(/-----[^-]+-----|\s/g, "").includes(certificate));
      });
      socket.on("error", reject);
    });
  // Once the connections have moved, every handshake is with the new one.
  await eventually(
    async () => {
      for (let handshakes = 0; handshakes < 8; handshakes++) expect(await shown().catch(() => false)).toBe(true);
    },
    { within: "90s" },
  );
});
