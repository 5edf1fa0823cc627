import { expect, test } from "bun:test";
import { createApiServer } from "../../server.ts";

// The sizes at which kube-apiserver begins to refuse were looked for on kube-apiserver 1.36.

const expression = "object.data.all(k, object.data.all(j, k != j || k == j))";
const group = "/apis/admissionregistration.k8s.io/v1";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";
const cancelled = "operation cancelled: actual cost limit exceeded";
const refused = `expression '${expression}' resulted in error: ${cancelled}`;
const label = (value: string): string =>
  `Object{metadata: Object.metadata{labels: Object.metadata.labels{all: string(${value})}}}`;

function times<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

const variables = times(12, (index) => ({ name: `v${index}`, expression }));
const all = variables.map(({ name }) => `variables.${name}`).join(" && ");
const conditions = (count: number) => times(count, (index) => ({ name: `c${index}`, expression }));
const mutation = (value: string) => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression: label(value) },
});

/** A label of the case, the kind of policy, what it has, the greatest size that it takes, and the refusal of the next one. */
const policies: readonly (readonly [string, "Validating" | "Mutating", object, number, string])[] = [
  ["one expression", "Validating", { validations: [{ expression }] }, 377, refused],
  ["all validations", "Validating", { validations: times(12, () => ({ expression })) }, 344, outOfBudget],
  ["variables", "Validating", { variables, validations: [{ expression: all }] }, 344, outOfBudget],
  [
    "messages",
    "Validating",
    { validations: times(6, () => ({ expression, messageExpression: `${expression} ? 'a' : 'b'` })) },
    344,
    `failed messageExpression: ${outOfBudget}`,
  ],
  [
    "annotations",
    "Validating",
    { auditAnnotations: times(12, (index) => ({ key: `k${index}`, valueExpression: `${expression} ? 'a' : 'b'` })) },
    344,
    outOfBudget,
  ],
  [
    "conditions",
    "Validating",
    { matchConditions: conditions(3), validations: [{ expression: "1 == 1" }] },
    344,
    outOfBudget,
  ],
  [
    "conditions that fail alike",
    "Validating",
    { matchConditions: conditions(2), validations: [{ expression: "1 == 1" }] },
    377,
    refused,
  ],
  [
    "one mutation",
    "Mutating",
    { mutations: [mutation(expression)] },
    377,
    `expression '${label(expression)}' resulted in error: ${cancelled}`,
  ],
  ["variables of a mutation", "Mutating", { variables, mutations: [mutation(all)] }, 344, outOfBudget],
];

async function start() {
  const server = await createApiServer();
  const post = async (path: string, body: object) => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await server.fetch(new Request(`http://server${path}`, init));
    return { status: response.status, body: (await response.json()) as { readonly message?: string } };
  };
  const create = (size: number) =>
    post("/api/v1/namespaces/default/configmaps?dryRun=All", {
      metadata: { name: "heavy" },
      data: Object.fromEntries(times(size, (index) => [`key${String(index).padStart(8, "0")}`, ""])),
    });
  return { server, post, create, [Symbol.asyncDispose]: () => server.stop() };
}

test.each(policies)("a policy may cost as much as on kube-apiserver: %s", async (_, kind, parts, size, refusal) => {
  await using started = await start();
  const { post, create } = started;
  const plural = `${kind.toLowerCase()}admission`;
  const spec = {
    matchConstraints: { resourceRules: rules },
    ...(kind === "Mutating" && { reinvocationPolicy: "Never" }),
  };
  const made = await post(`${group}/${plural}policies`, { metadata: { name: "heavy" }, spec: { ...spec, ...parts } });
  const bound = await post(`${group}/${plural}policybindings`, {
    metadata: { name: "heavy" },
    spec: { policyName: "heavy", ...(kind === "Validating" && { validationActions: ["Deny"] }) },
  });
  expect([made.status, bound.status]).toEqual([201, 201]);
  expect(await create(size)).toMatchObject({ status: 201 });
  const { status, body } = await create(size + 1);
  expect(status).toBe(kind === "Validating" ? 422 : 403);
  expect(body.message).toEndWith(`denied request: ${refusal}`);
});

test("the match conditions of a webhook may cost as much as on kube-apiserver", async () => {
  await using started = await start();
  const { post, create } = started;
  const webhook = {
    name: "heavy.example.test",
    clientConfig: { url: "https://127.0.0.1:9/" },
    rules,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    matchConditions: conditions(3),
  };
  const body = { metadata: { name: "heavy" }, webhooks: [webhook] };
  expect(await post(`${group}/validatingwebhookconfigurations`, body)).toMatchObject({ status: 201 });
  expect(await create(344)).toMatchObject({ status: 500 });
  expect(await create(345)).toMatchObject({
    status: 403,
    body: { message: `configmaps "heavy" is forbidden: ${outOfBudget}` },
  });
});
