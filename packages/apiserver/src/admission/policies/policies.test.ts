import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fields, KubeObject } from "../../hooks.ts";
import { type ApiServer, createApiServer } from "../../server.ts";
import { withoutMessages } from "./message-literals.ts";

let server: ApiServer;

beforeAll(async () => {
  server = await createApiServer();
});

afterAll(async () => {
  await server.stop();
});

type Body = KubeObject & { message?: string; reason?: string; data?: Fields };

async function post(path: string, body: unknown): Promise<{ code: number; body: Body; warning: string | null }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await server.fetch(new Request(`http://server${path}`, init));
  return { code: response.status, body: (await response.json()) as Body, warning: response.headers.get("warning") };
}

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };

async function enforce(
  kind: "Validating" | "Mutating",
  name: string,
  { spec, binding = {} }: { readonly spec: object; readonly binding?: object },
): Promise<string> {
  await post("/api/v1/namespaces", { metadata: { name } });
  const group = "/apis/admissionregistration.k8s.io/v1";
  const policy = await post(`${group}/${kind.toLowerCase()}admissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  });
  const bound = await post(`${group}/${kind.toLowerCase()}admissionpolicybindings`, {
    metadata: { name },
    spec: {
      policyName: name,
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } },
      ...binding,
    },
  });
  expect([policy.code, bound.code]).toEqual([201, 201]);
  return `/api/v1/namespaces/${name}/configmaps`;
}

test("checkPolicies refuses what an expression does not hold for, with what messageExpression says", async () => {
  const path = await enforce("Validating", "refuses", {
    spec: {
      variables: [{ name: "size", expression: "size(object.data)" }],
      validations: [{ expression: "variables.size < 2", messageExpression: "'has ' + string(variables.size)" }],
    },
    binding: { validationActions: ["Deny"] },
  });
  expect((await post(path, { metadata: { name: "a" }, data: { a: "1" } })).code).toBe(201);
  const { code, body } = await post(path, { metadata: { name: "b" }, data: { a: "1", b: "2" } });
  expect(code).toBe(422);
  expect(body.message).toBe(
    "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'refuses' with binding 'refuses' denied request: has 2",
  );
});

test("checkPolicies with Warn tells and does not refuse", async () => {
  const path = await enforce("Validating", "warns", {
    spec: { validations: [{ expression: "false", message: "careful" }] },
    binding: { validationActions: ["Warn"] },
  });
  const { code, warning } = await post(path, { metadata: { name: "a" } });
  expect(code).toBe(201);
  expect(warning).toContain("Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns': careful");
});

test("checkPolicies runs with the parameters that a binding selects", async () => {
  const path = await enforce("Validating", "parameters", {
    spec: {
      paramKind: { apiVersion: "v1", kind: "Secret" },
      validations: [{ expression: "object.metadata.name == params.metadata.name" }],
    },
    binding: { validationActions: ["Deny"], paramRef: { name: "a", parameterNotFoundAction: "Deny" } },
  });
  const before = await post(path, { metadata: { name: "a" } });
  expect(before.body.message).toContain("no params found for policy binding with `Deny` parameterNotFoundAction");
  await post("/api/v1/namespaces/parameters/secrets", { metadata: { name: "a" } });
  expect((await post(path, { metadata: { name: "a" } })).code).toBe(201);
  expect((await post(path, { metadata: { name: "b" } })).code).toBe(422);
});

test("applyPolicies lays configurations over the object and applies patches", async () => {
  const path = await enforce("Mutating", "mutates", {
    spec: {
      reinvocationPolicy: "Never",
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}" },
        },
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/data', value: {'c': object.metadata.labels.a}}]" },
        },
      ],
    },
  });
  const { body } = await post(path, { metadata: { name: "a", labels: { own: "yes" } } });
  expect(body.metadata.labels).toEqual({ own: "yes", a: "b" });
  expect(body.data).toEqual({ c: "b" });
});

test("applyPolicies sees objects as they are encoded, without what is empty", async () => {
  const path = await enforce("Mutating", "encoded", {
    spec: {
      reinvocationPolicy: "Never",
      mutations: [
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: "has(object.data) ? [JSONPatch{op: 'remove', path: '/data/x'}] : []" },
        },
      ],
    },
  });
  const { code, body } = await post(path, { metadata: { name: "a" }, data: {} });
  expect(code).toBe(201);
  expect(body.data).toBeUndefined();
  const refused = await post(path, { metadata: { name: "b" }, data: { a: "1" } });
  expect(refused.body.message).toEndWith(
    "denied request: JSON Patch: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
  );
});

test("applyPolicies evaluates the conditions of all policies once more after a change", async () => {
  const path = await enforce("Mutating", "again", {
    spec: {
      reinvocationPolicy: "Never",
      matchConditions: [{ name: "a", expression: "object.data.a == '1'" }],
      mutations: [
        {
          patchType: "JSONPatch",
          jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/data', value: {'b': '2'}}]" },
        },
      ],
    },
  });
  const { code, body } = await post(path, { metadata: { name: "a" }, data: { a: "1" } });
  expect(code).toBe(403);
  expect(body.message).toEndWith("expression 'object.data.a == '1'' resulted in error: no such key: a");
});

test("checkPolicies evaluates match conditions without the namespace", async () => {
  const path = await enforce("Validating", "conditions", {
    spec: {
      matchConditions: [{ name: "own", expression: "namespaceObject.metadata.name == 'conditions'" }],
      validations: [{ expression: "namespaceObject.metadata.name == 'conditions'" }],
    },
    binding: { validationActions: ["Deny"] },
  });
  const { code, body } = await post(path, { metadata: { name: "a" } });
  expect(code).toBe(422);
  expect(body.message).toEndWith("resulted in error: no such key: metadata");
});

test("withoutMessages makes maps of messages, and leaves what only looks like one", () => {
  expect(withoutMessages("Object{spec: Object.spec{replicas: 1, ?paused: x}}").text).toBe(
    '{"spec": {"replicas": 1, ?"paused": x}}',
  );
  expect(withoutMessages("'Object{a: 1}' + object.Object").text).toBe("'Object{a: 1}' + object.Object");
  expect(withoutMessages("[JSONPatch{op: a ? b : c, value: {'k': v}}]").text).toBe(
    '[{"op": a ? b : c, "value": {\'k\': v}}]',
  );
});
