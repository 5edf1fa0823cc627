/** Reviews of access and of identity with random attributes, selectors among them. */
import type { Fields } from "./bodies.ts";
import { mistaken } from "./bodies.ts";
import { accepts } from "./choices.ts";
import type { Stranger, Visit } from "./stranger.ts";

const operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "", "Equals"];
const keys = ["metadata.name", "spec.nodeName", "app", "a/b", "", "Not Valid!", "x".repeat(64), "a.b/c"];
const values = [[], ["x"], ["x", "y"], [""], ["Not Valid!"], null, ["1"], ["x".repeat(64)]];
const raws = [
  "",
  "a=b",
  "a!=b",
  "a in (b,c)",
  "a",
  "!a",
  "a=b,c=d",
  "a>1",
  "a==",
  "=",
  "a b",
  "(",
  "a notin (x)",
  "a=b\\,c",
];

function selector(visit: Visit): Fields | null | string {
  const { dice } = visit;
  const requirement = (): Fields => ({
    ...(dice.chance(0.95) && { key: dice.one(keys) }),
    ...(dice.chance(0.95) && { operator: dice.one(operators) }),
    ...(dice.chance(0.7) && { values: dice.one(values) }),
  });
  const requirements = Array.from({ length: 1 + Math.floor(dice.next() * 2) }, requirement);
  return dice.one<Fields | null | string>([
    {},
    null,
    { rawSelector: dice.one(raws) },
    { rawSelector: dice.one(raws) },
    { requirements },
    { requirements },
    { requirements },
    { requirements: [] },
    { rawSelector: dice.one(raws), requirements },
  ]);
}

function attributes(visit: Visit): Fields {
  const { dice, namespace } = visit;
  return {
    ...(dice.chance(0.8) && { verb: dice.one(["get", "list", "watch", "create", "deletecollection", "*", "", "GET"]) }),
    ...(dice.chance(0.7) && { resource: dice.one(["pods", "secrets", "nodes", "*", "", "nopes", "pods/log"]) }),
    ...(dice.chance(0.5) && { group: dice.one(["", "apps", "*", "nope.example"]) }),
    ...(dice.chance(0.3) && { version: dice.one(["v1", "*", "", "v9"]) }),
    ...(dice.chance(0.5) && { namespace: dice.one([namespace, "default", "", "*", "Not Valid!"]) }),
    ...(dice.chance(0.3) && { name: dice.one(["x", "", "*", "a/b"]) }),
    ...(dice.chance(0.2) && { subresource: dice.one(["status", "log", "*", ""]) }),
    ...(dice.chance(0.4) && { fieldSelector: selector(visit) }),
    ...(dice.chance(0.4) && { labelSelector: selector(visit) }),
  };
}

const users = [
  "system:admin",
  "somebody",
  "",
  "system:serviceaccount:default:default",
  "system:kube-scheduler",
  "system:node:n",
];
const groups = [["system:masters"], ["system:authenticated"], [], null, ["system:nodes"], ["a", "a"], [""]];
const extras = [
  {},
  null,
  { a: ["b"] },
  { A: ["b"] },
  { a: [] },
  { "authentication.kubernetes.io/credential-id": ["x"] },
];

function access(visit: Visit): readonly [string, Fields] {
  const { dice, namespace } = visit;
  const kind = dice.one([
    "SubjectAccessReview",
    "SubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectAccessReview",
    "LocalSubjectAccessReview",
  ]);
  const spec: Fields = {
    ...(dice.chance(0.85) && { resourceAttributes: attributes(visit) }),
    ...(dice.chance(0.2) && {
      nonResourceAttributes: { path: dice.one(["/healthz", "", "x", "*", "/a/*"]), verb: dice.one(["get", "", "*"]) },
    }),
    ...(dice.chance(0.8) && kind !== "SelfSubjectAccessReview" && { user: dice.one(users) }),
    ...(dice.chance(0.4) && kind !== "SelfSubjectAccessReview" && { groups: dice.one(groups) }),
    ...(dice.chance(0.2) && kind !== "SelfSubjectAccessReview" && { extra: dice.one(extras), uid: "u" }),
  };
  const object = { apiVersion: "authorization.k8s.io/v1", kind, ...metadataOf(visit), spec };
  const place = kind.startsWith("Local") ? `namespaces/${dice.one([namespace, namespace, "absent"])}/` : "";
  return [
    `/apis/authorization.k8s.io/v1/${place}${kind.toLowerCase()}s`,
    dice.chance(0.1) ? mistaken(dice, object) : object,
  ];
}

function metadataOf({ dice }: Visit): Fields {
  if (dice.chance(0.75)) return {};
  return {
    metadata: dice.one<Fields>([
      { name: "x" },
      { namespace: "default" },
      { generateName: "x-" },
      { labels: { a: "b" } },
      { annotations: { a: "b" }, finalizers: ["a.b/c"] },
      { managedFields: [{ manager: "m", operation: "Update", apiVersion: "v1" }] },
      { resourceVersion: "1", uid: "u" },
    ]),
  };
}

function identity(visit: Visit): readonly [string, Fields] {
  const { dice, namespace } = visit;
  const kind = dice.one(["SelfSubjectReview", "TokenReview", "SelfSubjectRulesReview"]);
  const group = kind === "SelfSubjectRulesReview" ? "authorization.k8s.io" : "authentication.k8s.io";
  const specs: readonly Fields[] =
    kind === "TokenReview"
      ? [
          { token: "x" },
          { token: "" },
          {},
          { token: "a.b.c" },
          { token: "x", audiences: ["a"] },
          { token: null },
          { audiences: [] },
          { token: "eyJhbGciOiJub25lIn0.e30." },
        ]
      : [{ namespace }, { namespace: "" }, { namespace: "*" }, {}, { namespace: "Not Valid!" }, { namespace: null }];
  const spec = kind === "SelfSubjectReview" && dice.chance(0.9) ? {} : { spec: dice.one(specs) };
  const object = {
    apiVersion: `${group}/${dice.chance(0.93) ? "v1" : "v1beta1"}`,
    kind,
    ...metadataOf(visit),
    ...spec,
  };
  return [`/apis/${group}/v1/${kind.toLowerCase()}s`, dice.chance(0.1) ? mistaken(dice, object) : object];
}

const queries = [
  "",
  "",
  "",
  "",
  "?dryRun=All",
  "?fieldManager=m",
  "?fieldValidation=Strict",
  "?pretty=true",
  "?dryRun=x",
];

async function reviews(visit: Visit): Promise<void> {
  const { dice } = visit;
  await visit.createNamespace();
  for (let index = 0; index < 50; index++) {
    const [path, body] = dice.chance(0.75) ? access(visit) : identity(visit);
    const type = dice.chance(0.85) ? "application/json" : dice.one(accepts);
    // Rules are in the order of a map, which only JSON can be compared without.
    const headers = { accept: path.endsWith("rulesreviews") ? "application/json" : type };
    await visit.send("review", "POST", `${path}${dice.one(queries)}`, { body, headers });
  }
}

export const reviewsOfStrangers: readonly Stranger[] = [{ name: "random reviews", count: 20, run: reviews }];
