/** Tests MET-01 of controller-runtime on a server that knows tokens and roles. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Hono } from "hono";
import { ClusterRole, ClusterRoleBinding, ServiceAccount } from "binnacle/resources";
import { startCluster, type TestCluster } from "binnacle/testing";
import { createAuthority, issue } from "binnacle-apiserver";
import { createTransport, type KubeRequest, type Transport } from "../kube/transport/transport.ts";
import { createLog } from "../observe/log.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { startListeners } from "./listeners.ts";
import { RequestAuthorizer } from "./request-authorizer.ts";

let cluster: TestCluster;
let transport: Transport;
let tokens: { readonly reader: string; readonly other: string };

async function tokenOf(name: string): Promise<string> {
  await cluster.client.create(ServiceAccount, { metadata: { namespace: "default", name } });
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  return (await transport.request<{ status: { token: string } }>({ method: "POST", path, body })).status.token;
}

beforeAll(async () => {
  cluster = await startCluster({ pods: false });
  transport = createTransport(cluster.config);
  tokens = { reader: await tokenOf("reader"), other: await tokenOf("other") };
  const metadata = { name: "metrics-reader" };
  await cluster.client.create(ClusterRole, { metadata, rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }] });
  await cluster.client.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "metrics-reader" },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "reader" }],
  });
});

afterAll(async () => {
  await transport.close();
  await cluster.stop();
});

/** Makes an authorizer, and records the requests that it sends. */
function setUp(failing = false) {
  const sent: string[] = [];
  const clock = new FakeClock();
  const log = createLog({ level: "error", format: "json", write: () => {} });
  const counted: Pick<Transport, "request"> = {
    request: <T>(request: KubeRequest): Promise<T> => {
      sent.push(request.path.split("/").at(-1)!);
      return failing ? Promise.reject(new Error("out of reach")) : transport.request<T>(request);
    },
  };
  const authorizer = new RequestAuthorizer({ transport: counted, log, clock });
  const ask = async (token?: string, path = "/metrics") => {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const refused = await authorizer.refusal(new Request(`https://127.0.0.1:8443${path}`, { headers }));
    return refused === undefined ? [200] : [refused.status, await refused.text()];
  };
  return { ask, sent, clock };
}

test("MET-01: 401 without a token or with a wrong one, 403 without the right, 200 with it", async () => {
  const { ask } = setUp();
  expect(await ask()).toEqual([401, "Unauthorized\n"]);
  expect(await ask("wrong")).toEqual([401, "Unauthorized\n"]);
  const denied = "Authorization denied for user system:serviceaccount:default:other\n";
  expect(await ask(tokens.other)).toEqual([403, denied]);
  expect(await ask(tokens.reader)).toEqual([200]);
  expect((await ask(tokens.reader, "/other"))[0]).toBe(403);
});

test("answers are remembered for as long as controller-runtime does", async () => {
  const { ask, sent, clock } = setUp();
  await Promise.all([ask(tokens.reader), ask(tokens.reader)]);
  expect(sent).toEqual(["tokenreviews", "subjectaccessreviews"]);
  await clock.advance(59_000);
  await ask(tokens.reader);
  expect(sent.length).toBe(2);
  await clock.advance(2_000);
  await ask(tokens.reader);
  expect(sent.slice(2)).toEqual(["tokenreviews"]);
  await ask(tokens.other);
  await clock.advance(31_000);
  await ask(tokens.other);
  expect(sent.slice(3)).toEqual(["tokenreviews", "subjectaccessreviews", "subjectaccessreviews"]);
});

test("an API server that does not answer gives 500, which is not remembered", async () => {
  const { ask, sent } = setUp(true);
  expect(await ask("token")).toEqual([500, "Authentication failed\n"]);
  await ask("token");
  expect(sent).toEqual(["tokenreviews", "tokenreviews"]);
});

test("a secured listener speaks TLS, and answers those whom the API server lets ask", async () => {
  const authority = createAuthority("metrics");
  const pair = issue(authority, { subject: { name: "metrics" }, hosts: ["127.0.0.1"] });
  const certificates = { current: () => pair, subscribe: () => ({ [Symbol.dispose]: () => {} }) };
  const app = new Hono().get("/metrics", (context) => context.text("numbers"));
  const secured = { certificates, transport };
  await using listeners = await startListeners([{ name: "metrics", address: "127.0.0.1:0", app, secured }]);
  const ask = async (token: string): Promise<string> => {
    const headers = { Authorization: `Bearer ${token}` };
    const url = `https://${listeners.address("metrics")}/metrics`;
    return (await fetch(url, { headers, tls: { ca: authority.cert } })).text();
  };
  expect(await ask(tokens.other)).toContain("Authorization denied");
  expect(await ask(tokens.reader)).toBe("numbers");
  await expect(fetch(`http://${listeners.address("metrics")}/metrics`)).rejects.toThrow();
});
