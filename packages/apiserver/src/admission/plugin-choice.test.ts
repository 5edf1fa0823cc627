/** Options of the server that change what it admits and who may do what. */
import { expect, test } from "bun:test";
import type { UserInfo } from "../hooks.ts";
import { type ApiServerOptions, createApiServer } from "../server.ts";

const jane: UserInfo = { username: "jane", groups: ["system:authenticated"] };

/** Sends requests to a server with these options. @returns a function that returns status and answer */
async function started(options: ApiServerOptions) {
  const server = await createApiServer(options);
  return async (method: string, path: string, body?: object, user?: UserInfo) => {
    const init = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const request = new Request(`https://server${path}`, { method, ...init });
    const response = await (user === undefined ? server.fetch(request) : server.fetch(request, { certificate: user }));
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
}

const pods = "/api/v1/namespaces/default/pods";
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "a", image: "a" }] },
};

test("disabled plugins do nothing", async () => {
  const send = await started({
    disabled: ["NamespaceLifecycle", "DefaultTolerationSeconds", "ResourceQuota", "LimitRanger"],
  });
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  expect((await send("POST", "/api/v1/namespaces/absent/configmaps", map)).status).toBe(201);
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard: { pods: "0" } } };
  await send("POST", "/api/v1/namespaces/default/resourcequotas", quota);
  const created = await send("POST", pods, pod);
  expect(created.status).toBe(201);
  expect(created.body["spec"]).not.toHaveProperty("tolerations");
});

test("policies and webhooks can be disabled", async () => {
  const send = await started({
    disabled: ["ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"],
  });
  const group = "/apis/admissionregistration.k8s.io/v1";
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["*"] }];
  const webhook = {
    name: "a.example.com",
    rules,
    clientConfig: { url: "https://127.0.0.1:1/" },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  for (const kind of ["Validating", "Mutating"]) {
    const path = `${group}/${kind.toLowerCase()}webhookconfigurations`;
    const configuration = { kind: `${kind}WebhookConfiguration`, metadata: { name: "a" }, webhooks: [webhook] };
    const { status } = await send("POST", path, { apiVersion: "admissionregistration.k8s.io/v1", ...configuration });
    expect(status).toBe(201);
  }
  expect((await send("POST", pods, pod)).status).toBe(201);
});

test("AlwaysAllow lets everybody do everything, also with roles", async () => {
  const send = await started({ authorization: ["AlwaysAllow"] });
  expect((await send("POST", pods, pod, jane)).status).toBe(201);
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "r" } };
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  expect((await send("POST", path, { ...role, rules }, jane)).status).toBe(201);
});

test("a pod without an account of its own needs the account default when ServiceAccount is enabled", async () => {
  const send = await started({ enabled: ["ServiceAccount"] });
  const refused = await send("POST", pods, pod);
  expect(refused.status).toBe(403);
  expect(String(refused.body["message"])).toEndWith(
    'error looking up service account default/default: serviceaccount "default" not found',
  );
});
