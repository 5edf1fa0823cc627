/** Random admission policies in force, and requests that they see; random quotas and limits, and objects that use them. */
import { enforce, map, mutable, type Policy, release, rule } from "../sequences/policies.ts";
import type { Fields } from "./bodies.ts";
import type { Stranger, Visit } from "./stranger.ts";

const conditions = [
  "true",
  "false",
  "object.metadata.name.startsWith('p')",
  "has(object.data) && 'a' in object.data",
  "object.data.a == '1'",
  "object.data.size() > 1",
  "request.operation == 'UPDATE'",
  "request.operation in ['CREATE', 'UPDATE']",
  "oldObject == null || object.metadata.labels == oldObject.metadata.labels",
  "request.userInfo.username == 'kubernetes-admin'",
  "'system:masters' in request.userInfo.groups",
  "request.dryRun",
  "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == request.namespace",
  "variables.size > 0",
  "variables.broken == 'x'",
  "int(object.data.a) > 0",
  "object.data['a'].matches('^[0-9]+$')",
  "object.metadata.labels.exists(k, k == 'app')",
  "quantity(object.data.q).isGreaterThan(quantity('1Gi'))",
  "object.data.all(k, v, v != '')",
  "request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'",
  "request.options.fieldManager == 'm'",
  "1 / int(object.data.zero) == 1",
  "[1, 2, 3][int(object.data.a)] == 2",
  "params.data.limit == '1'",
  "authorizer.requestResource.check('delete').allowed()",
];
const messages = [
  "'no ' + object.metadata.name",
  "string(1 / 0)",
  "'a\\nb'",
  "''",
  "string(object.data.a)",
  "'  '",
  "'x'.replace('x', 'y')",
];

function condition(visit: Visit, name: string): Fields {
  return { name, expression: visit.dice.one(conditions.filter((text) => !/variables|params|authorizer/.test(text))) };
}

function validating(visit: Visit): Policy {
  const { dice } = visit;
  const validation = (): Fields => ({
    expression: dice.one(conditions.filter((text) => !text.includes("params"))),
    ...(dice.chance(0.4) && {
      message: dice.one(["said", "said in\ntwo", " x "].filter((text) => !text.includes("\n"))),
    }),
    ...(dice.chance(0.4) && { messageExpression: dice.one(messages) }),
    ...(dice.chance(0.4) && { reason: dice.one(["Forbidden", "Invalid", "RequestEntityTooLarge"]) }),
  });
  const actions = dice.one([["Deny"], ["Deny"], ["Warn"], ["Audit"], ["Warn", "Audit"], ["Deny", "Audit"]]);
  return {
    spec: {
      ...(dice.chance(0.4) && { failurePolicy: dice.one(["Fail", "Ignore"]) }),
      variables: [
        { name: "size", expression: "has(object.data) ? size(object.data) : 0" },
        { name: "broken", expression: "object.data.nope" },
      ],
      ...(dice.chance(0.4) && { matchConditions: [condition(visit, "first"), condition(visit, "second")] }),
      validations: Array.from({ length: 1 + Math.floor(dice.next() * 3) }, validation),
      ...(dice.chance(0.3) && { auditAnnotations: [{ key: "k", valueExpression: dice.one(messages) }] }),
      matchConstraints: {
        resourceRules: [{ ...rule, ...(dice.chance(0.2) && { resourceNames: ["p1"] }) }],
        ...selecting(visit),
      },
    },
    binding: { validationActions: actions },
  };
}

function selecting({ dice }: Visit): Fields {
  return {
    ...(dice.chance(0.2) && { objectSelector: { matchLabels: { app: "a" } } }),
    ...(dice.chance(0.1) && { excludeResourceRules: [{ ...rule, operations: ["DELETE"] }] }),
    ...(dice.chance(0.2) && { matchPolicy: dice.one(["Exact", "Equivalent"]) }),
  };
}

const configurations = [
  "Object{metadata: Object.metadata{labels: {'by': 'policy'}}}",
  "Object{data: {'added': object.metadata.name}}",
  "Object{data: {'a': '2', 'b': 'x'}}",
  "Object{metadata: Object.metadata{annotations: {'n': string(object.data.size())}}}",
  "Object{data: {'q': object.data.nope}}",
  "Object{metadata: Object.metadata{name: 'other'}}",
  "Object{}",
  "Object{immutable: true}",
  "has(object.data) ? Object{data: {'had': 'yes'}} : Object{}",
];
const patches = [
  "[JSONPatch{op: 'add', path: '/metadata/labels/by', value: 'patch'}]",
  "[JSONPatch{op: 'replace', path: '/data/a', value: '9'}]",
  "[JSONPatch{op: 'remove', path: '/data/nope'}]",
  "[JSONPatch{op: 'test', path: '/data/a', value: '1'}, JSONPatch{op: 'add', path: '/data/t', value: 'yes'}]",
  "[JSONPatch{op: 'add', path: '/data', value: {'only': 'this'}}]",
  "[JSONPatch{op: 'copy', from: '/data/a', path: '/data/copied'}]",
  "[JSONPatch{op: 'move', from: '/data/a', path: '/data/moved'}]",
  "[JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('a/b'), value: 'x'}]",
  "[]",
  "object.metadata.name == 'p1' ? [JSONPatch{op: 'add', path: '/data/one', value: '1'}] : []",
];

function mutating(visit: Visit): Policy {
  const { dice } = visit;
  const mutation = (): Fields =>
    dice.chance(0.5)
      ? { patchType: "ApplyConfiguration", applyConfiguration: { expression: dice.one(configurations) } }
      : { patchType: "JSONPatch", jsonPatch: { expression: dice.one(patches) } };
  return {
    spec: {
      ...(dice.chance(0.4) && { failurePolicy: dice.one(["Fail", "Ignore"]) }),
      ...(dice.chance(0.4) && { matchConditions: [condition(visit, "only")] }),
      reinvocationPolicy: dice.one(["Never", "IfNeeded"]),
      mutations: Array.from({ length: 1 + Math.floor(dice.next() * 2) }, mutation),
      matchConstraints: { resourceRules: [mutable], ...selecting(visit) },
    },
  };
}

const data: readonly (Fields | undefined)[] = [
  undefined,
  {},
  { a: "1" },
  { a: "0", b: "2" },
  { a: "x", q: "2Gi" },
  { a: "1", q: "10", zero: "0" },
  { a: "", nope: "x" },
  { a: "5", zero: "1" },
];
const labels: readonly Fields[] = [{}, { app: "a" }, { app: "b" }];

async function policies(kind: "Validating" | "Mutating", visit: Visit): Promise<void> {
  const { dice, session } = visit;
  const make = kind === "Validating" ? validating : mutating;
  const made = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`policy ${index}`, make(visit)]));
  const paths = await enforce(session, kind, made);
  for (const [label, path] of Object.entries(paths)) {
    for (let index = 0; index < 7; index++) {
      const name = dice.one(["p0", "p1", "q"]);
      const body = { ...map(name, {}, { labels: dice.one(labels) }), data: dice.one(data) };
      const dry = dice.chance(0.3) ? "?dryRun=All" : "?fieldManager=m";
      const step = dice.next();
      const headers = { "content-type": "application/merge-patch+json" };
      const place = `${path}/configmaps`;
      if (step < 0.5) await visit.send(`${label} create`, "POST", `${place}${dry}`, { body });
      else if (step < 0.65) await visit.send(`${label} put`, "PUT", `${place}/${name}${dry}`, { body });
      else if (step < 0.85) await visit.send(`${label} patch`, "PATCH", `${place}/${name}${dry}`, { body, headers });
      else await visit.send(`${label} delete`, "DELETE", `${place}/${name}${dry.replace("fieldManager", "x")}`);
    }
  }
  await release(session, kind, Object.keys(made).length);
}

const quantities = ["1", "100m", "2", "500m", "1Gi", "64Mi", "3", "0"];

function resources({ dice }: Visit): Fields {
  const part = (): Fields => ({
    ...(dice.chance(0.7) && { cpu: dice.one(quantities.slice(0, 4)) }),
    ...(dice.chance(0.7) && { memory: dice.one(["1Gi", "64Mi", "128Mi", "2Gi"]) }),
    ...(dice.chance(0.1) && { "ephemeral-storage": "1Gi" }),
    ...(dice.chance(0.1) && { "example.test/thing": "1" }),
  });
  return { ...(dice.chance(0.6) && { requests: part() }), ...(dice.chance(0.6) && { limits: part() }) };
}

const hard: readonly Fields[] = [
  { pods: "1" },
  { "count/configmaps": "1" },
  { configmaps: "2" },
  { "count/pods": "2", pods: "5" },
  { "requests.cpu": "1", "limits.memory": "1Gi" },
  { cpu: "500m" },
  { memory: "100Mi", "limits.cpu": "2" },
  { services: "1", "services.nodeports": "0" },
  { "services.loadbalancers": "1" },
  { "requests.storage": "2Gi", persistentvolumeclaims: "1" },
  { "gold.storageclass.storage.k8s.io/requests.storage": "1Gi" },
  { "count/deployments.apps": "1" },
  { "requests.example.test/thing": "1" },
  { secrets: "0" },
  { "count/widgets.nope.example": "1" },
];
const scopes: readonly Fields[] = [
  {},
  {},
  {},
  { scopes: ["BestEffort"] },
  { scopes: ["NotBestEffort"] },
  { scopes: ["Terminating"] },
  { scopes: ["NotTerminating"] },
  { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] } },
  {
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }],
    },
  },
];

function limitOf({ dice }: Visit): Fields {
  const type = dice.one(["Container", "Pod", "PersistentVolumeClaim"]);
  if (type === "PersistentVolumeClaim") return { type, max: { storage: "2Gi" }, min: { storage: "500Mi" } };
  return {
    type,
    ...(dice.chance(0.6) && { max: { cpu: "2", memory: "1Gi" } }),
    ...(dice.chance(0.5) && { min: { cpu: "100m" } }),
    ...(dice.chance(0.3) && { maxLimitRequestRatio: { cpu: "2" } }),
    ...(type === "Container" && dice.chance(0.5) && { default: { cpu: "1" }, defaultRequest: { cpu: "500m" } }),
  };
}

function consumer(visit: Visit, name: string): readonly [string, object] {
  const { dice } = visit;
  const container = (each: string): Fields => ({ name: each, image: "i", resources: resources(visit) });
  const kind = dice.one([
    "pods",
    "pods",
    "pods",
    "configmaps",
    "services",
    "persistentvolumeclaims",
    "secrets",
    "deployments",
  ]);
  const metadata = { name };
  const port = { port: 80 };
  if (kind === "configmaps" || kind === "secrets") return [kind, { metadata }];
  if (kind === "services")
    return [kind, { metadata, spec: { type: dice.one(["ClusterIP", "NodePort", "LoadBalancer"]), ports: [port] } }];
  if (kind === "persistentvolumeclaims") {
    const storage = dice.one(["1Gi", "3Gi", "100Mi"]);
    const storageClassName = dice.one(["gold", "other", ""]);
    return [
      kind,
      { metadata, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName } },
    ];
  }
  const spec = {
    containers: dice.chance(0.3) ? [container("a"), container("b")] : [container("a")],
    ...(dice.chance(0.2) && { initContainers: [container("i")] }),
    ...(dice.chance(0.2) && { activeDeadlineSeconds: 60 }),
    ...(dice.chance(0.15) && { priorityClassName: dice.one(["system-node-critical", "nope"]) }),
    ...(dice.chance(0.15) && { resources: resources(visit) }),
    ...(dice.chance(0.1) && { overhead: { cpu: "100m" } }),
  };
  const app = { app: "a" };
  const template = { metadata: { labels: app }, spec };
  if (kind === "deployments") return [kind, { metadata, spec: { selector: { matchLabels: app }, template } }];
  return [kind, { metadata, spec }];
}

async function quotas(visit: Visit): Promise<void> {
  const { dice } = visit;
  const root = await visit.createNamespace();
  const path = (kind: string): string =>
    `${kind === "deployments" ? root.replace("/api/v1", "/apis/apps/v1") : root}/${kind}`;
  const withLimits = dice.chance(0.5);
  if (withLimits) {
    const limits = Array.from({ length: 1 + Math.floor(dice.next() * 2) }, () => limitOf(visit));
    await visit.send("limits", "POST", path("limitranges"), { body: { metadata: { name: "l" }, spec: { limits } } });
  }
  for (const name of withLimits && dice.chance(0.5) ? [] : ["q", "r"].slice(0, dice.one([1, 2]))) {
    const spec = { hard: { ...dice.one(hard), ...(dice.chance(0.4) && dice.one(hard)) }, ...dice.one(scopes) };
    const made = await visit.send("quota", "POST", path("resourcequotas"), { body: { metadata: { name }, spec } });
    // A controller would count at first.
    if (made?.spec?.hard === undefined) continue;
    const used = Object.fromEntries(Object.keys(made.spec.hard as object).map((key) => [key, "0"]));
    await visit.merge(`${path("resourcequotas")}/${name}/status`, { status: { hard: made.spec.hard, used } });
  }
  await visit.session.noticed(400);
  for (let index = 0; index < 14; index++) {
    const [kind, body] = consumer(visit, dice.one(["a", "b", `c${index}`]));
    const dry = dice.chance(0.25) ? "?dryRun=All" : "";
    await visit.send(`create ${kind}`, "POST", `${path(kind)}${dry}`, { body });
    if (dice.chance(0.2)) await visit.session.noticed(150);
  }
}

export const policiesOfStrangers: readonly Stranger[] = [
  { name: "random validating policies", count: 8, run: (visit) => policies("Validating", visit) },
  { name: "random mutating policies", count: 6, run: (visit) => policies("Mutating", visit) },
  { name: "random quotas", count: 30, run: quotas },
];
