import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "../hooks.ts";
import { type ApiServer, createApiServer } from "../server.ts";
import { createAuthority, issue } from "../certificates/certificate.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

async function post(path: string, body: object): Promise<{ readonly code: number; readonly body: KubeObject }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await server.fetch(new Request(`http://server${path}`, init));
  return { code: response.status, body: (await response.json()) as KubeObject };
}

const registration = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

test("a rule about autoscaling/v1 is asked about autoscaling/v2, which keeps what v1 cannot say", async () => {
  const authority = createAuthority("webhook");
  const subject = { subject: { name: "webhook" }, hosts: ["127.0.0.1"] };
  const { cert, key } = issue(authority, subject);
  const asked: Fields[] = [];
  await using webhook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert, key },
    fetch: async (request) => {
      const review = (await request.json()) as { request: Fields & { uid: string } };
      asked.push(review.request);
      const patch = Buffer.from(JSON.stringify([{ op: "replace", path: "/spec/maxReplicas", value: 7 }]));
      const response = { uid: review.request.uid, allowed: true, patchType: "JSONPatch" };
      return Response.json({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { ...response, patch: patch.toString("base64") },
      });
    },
  });
  const rules = [
    {
      apiGroups: ["autoscaling"],
      apiVersions: ["v1"],
      operations: ["CREATE"],
      resources: ["horizontalpodautoscalers"],
    },
  ];
  const clientConfig = {
    url: `https://127.0.0.1:${webhook.port}/`,
    caBundle: Buffer.from(authority.cert).toString("base64"),
  };
  const hook = { name: "a.example.test", clientConfig, rules, sideEffects: "None", admissionReviewVersions: ["v1"] };
  const configured = await post(registration, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "a" },
    webhooks: [hook],
  });
  expect(configured.code).toBe(201);
  const memory = {
    type: "Resource",
    resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
  };
  const { code, body } = await post("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "h" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      maxReplicas: 3,
      metrics: [memory],
      behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
    },
  });
  expect(code).toBe(201);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({
    kind: { version: "v1" },
    requestKind: { version: "v2" },
    object: {
      apiVersion: "autoscaling/v1",
      metadata: {
        annotations: {
          "autoscaling.alpha.kubernetes.io/metrics":
            '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
        },
      },
    },
  });
  expect(body).toMatchObject({
    apiVersion: "autoscaling/v2",
    spec: { maxReplicas: 7, metrics: [memory], behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } },
  });
  expect(body.metadata.annotations).toBeUndefined();
});
