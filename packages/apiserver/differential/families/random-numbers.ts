/** Numbers made by chance in rules, policies, bounds, keys, patches and fields of built-in kinds. */
import { Dice } from "../access/dice.ts";
import { collectionOf, deployment, prepareKinds } from "./kinds.ts";
import type { Family, Probe } from "./family.ts";

const group = "chance.example.test";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const policies = "/apis/admissionregistration.k8s.io/v1";

const patches = {
  merge: { "content-type": "application/merge-patch+json" },
  operations: { "content-type": "application/json-patch+json" },
  apply: { "content-type": "application/apply-patch+yaml" },
  strategic: { "content-type": "application/strategic-merge-patch+json" },
  yaml: { "content-type": "application/yaml" },
} as const;

/** Spells a number by chance: short and long integers, fractions, and exponents of both signs. */
function spelled(dice: Dice): string {
  const digits = (most: number): string => {
    const count = 1 + Math.floor(dice.next() * most);
    const text = Array.from({ length: count }, () => String(Math.floor(dice.next() * 10))).join("");
    return text.replace(/^0+(?=\d)/, "");
  };
  const sign = dice.chance(0.3) ? "-" : "";
  const edge = dice.one(["9007199254740992", "9223372036854775807", "2147483647", "1000000", "4294967296", "50"]);
  const whole = dice.chance(0.25) ? edge : digits(dice.one([1, 2, 7, 16, 19, 22]));
  const fraction = dice.chance(0.35) ? `.${dice.one(["0", "00", "5", "25", digits(3), digits(17)])}` : "";
  const exponent = dice.chance(0.2)
    ? `${dice.one(["e", "E"])}${dice.one(["", "+", "-"])}${dice.one([0, 1, 2, 6, 18, 20, 30])}`
    : "";
  return `${sign}${whole}${fraction}${exponent}`;
}

const ruled = (...rules: readonly string[]): object => ({
  "x-kubernetes-validations": rules.map((rule) => ({ rule })),
});

const properties = {
  plain: { type: "integer" },
  small: { type: "integer", format: "int32" },
  number: { type: "number" },
  float: { type: "number", format: "float" },
  either: { "x-kubernetes-int-or-string": true },
  within: { type: "number", minimum: -1000000.5, maximum: 12345678.75 },
  inside: { type: "integer", minimum: -9007199254740992, exclusiveMinimum: true, maximum: 4294967296 },
  quarters: { type: "number", multipleOf: 0.25 },
  sevens: { type: "integer", multipleOf: 7 },
  listed: { type: "number", enum: [1, 2.5, 1000000, 9007199254740992, 1e21] },
  least: { type: "integer", ...ruled("self >= 50", "self % 2 == 0", "self + 1 > self") },
  most: { type: "number", ...ruled("self <= 1000000.0", "self * 2.0 != 5.0", "int(self) < 50") },
  mixed: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "number" }, c: { "x-kubernetes-int-or-string": true } },
    ...ruled("!has(self.a) || self.a < 100", "double(self.a) < self.b", "self.c == 2"),
  },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  set: { type: "array", "x-kubernetes-list-type": "set", maxItems: 5, items: { type: "number" } },
  keyed: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["id"],
    items: { type: "object", required: ["id"], properties: { id: { type: "integer" }, value: { type: "number" } } },
  },
  map: {
    type: "object",
    maxProperties: 5,
    additionalProperties: { type: "integer" },
    ...ruled("self.all(k, self[k] < 50)"),
  },
} as const;

const forms: readonly (readonly [field: string, form: string])[] = [
  ...[
    "plain",
    "small",
    "number",
    "float",
    "either",
    "within",
    "inside",
    "quarters",
    "sevens",
    "listed",
    "least",
    "most",
  ].map((name) => [name, "#"] as const),
  ["mixed", '{"a":#,"b":#,"c":#}'],
  ["mixed", '{"a":1,"b":#,"c":2}'],
  ["mixed", '{"a":#,"b":3.5,"c":2}'],
  ["free", '{"n":#,"in":[#,{"m":#}]}'],
  ["set", "[#,#,7]"],
  ["keyed", '[{"id":#,"value":#},{"id":#,"value":1}]'],
  ["map", '{"a":#,"b":#}'],
];

async function define(probe: Probe): Promise<void> {
  await probe.quietly("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `chances.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "chances", singular: "chance", kind: "Chance", listKind: "ChanceList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
        },
      ],
    },
  });
  await probe.session.waitFor(`/apis/${group}/v1/chances`, (list) => list?.kind === "ChanceList");
  await probe.session.noticed(300);
}

function chance(name: string, spec: string): string {
  return `{"apiVersion":"${group}/v1","kind":"Chance","metadata":{"name":"${name}"},"spec":${spec}}`;
}

async function customNumbers(probe: Probe): Promise<void> {
  await probe.createNamespace();
  await define(probe);
  const dice = new Dice(53);
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/chances`;
  await probe.quietly("POST", collection, chance("base", '{"number":3,"free":{"n":1}}'));
  for (let index = 0; index < 700; index++) {
    const [field, form] = dice.one(forms);
    const value = form.replaceAll("#", () => spelled(dice));
    const way = dice.one(["create", "create", "merge", "operations", "apply", "yaml", "put"] as const);
    const label = `${index} ${way} ${field}`;
    const dry = `${collection}/base?dryRun=All`;
    const body = chance(way === "create" || way === "yaml" ? "other" : "base", `{"${field}":${value}}`);
    if (way === "create") await probe.send(label, "POST", `${collection}?dryRun=All`, { body });
    else if (way === "yaml")
      await probe.send(label, "POST", `${collection}?dryRun=All`, {
        body: body.replaceAll(/([:,])(?=[^ ])/g, "$1 "),
        headers: patches.yaml,
      });
    else if (way === "merge")
      await probe.send(label, "PATCH", dry, { body: `{"spec":{"${field}":${value}}}`, headers: patches.merge });
    else if (way === "operations")
      await probe.send(label, "PATCH", dry, {
        body: `[{"op":"add","path":"/spec/${field}","value":${value}},{"op":"copy","from":"/spec/${field}","path":"/spec/free/copy"}]`,
        headers: patches.operations,
      });
    else if (way === "apply")
      await probe.send(label, "PATCH", `${dry}&fieldManager=m&force=true`, { body, headers: patches.apply });
    else
      await probe.send(label, "PUT", dry, { body: body.replace('"metadata":{', '"metadata":{"resourceVersion":"",') });
  }
}

const places: readonly string[] = [
  '{"spec":{"replicas":#}}',
  '{"spec":{"minReadySeconds":#,"revisionHistoryLimit":#}}',
  '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":#,"maxUnavailable":1}}}}',
  '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":#}}}}',
  '{"spec":{"template":{"spec":{"securityContext":{"runAsUser":#,"supplementalGroups":[#]}}}}}',
  '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"i","resources":{"limits":{"cpu":#}}}]}}}}',
  '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"i","resources":{"limits":{"memory":"#"}}}]}}}}',
  '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"i","ports":[{"containerPort":#}]}]}}}}',
  '{"metadata":{"generation":#,"labels":{"a":"#"}}}',
  '{"status":{"observedGeneration":#,"replicas":#}}',
];

async function builtInNumbers(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const dice = new Dice(59);
  const collection = collectionOf(deployment, probe.namespace);
  const { apiVersion, kind, rest } = deployment;
  await probe.quietly("POST", collection, { apiVersion, kind, metadata: { name: "d" }, ...rest });
  for (let index = 0; index < 300; index++) {
    const body = dice.one(places).replaceAll("#", () => spelled(dice));
    const way = dice.one(["merge", "strategic", "apply"] as const);
    const applied = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},${body.slice(1)}`;
    await probe.send(
      `${index} ${way}`,
      "PATCH",
      `${collection}/d?dryRun=All${way === "apply" ? "&fieldManager=m&force=true" : ""}`,
      { body: way === "apply" ? applied : body, headers: patches[way] },
    );
  }
}

/** Policies see any JSON without a type. */
const expressions = [
  "object.spec.free.n < 50",
  "object.spec.free.n == 2",
  "object.spec.free.n * 2 > 10",
  "type(object.spec.free.n) == int",
  "string(object.spec.free.n) == '2'",
  "double(object.spec.free.n) > 1.5",
  "int(object.spec.free.n) < 1000000",
  "object.spec.free.n in [1, 2, 3]",
];

async function policyNumbers(probe: Probe): Promise<void> {
  await probe.createNamespace();
  await define(probe);
  const name = probe.namespace;
  await probe.quietly("POST", `${policies}/validatingadmissionpolicies`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: ["*"] }],
      },
      validations: expressions.map((expression) => ({
        expression: `object.metadata.name != 'n${expressions.indexOf(expression)}' || ${expression}`,
        messageExpression: "'was ' + string(object.spec.free.n)",
      })),
    },
  });
  await probe.quietly("POST", `${policies}/validatingadmissionpolicybindings`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": probe.namespace } } },
    },
  });
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/chances?dryRun=All`;
  await probe.session.noticed(1500);
  const dice = new Dice(61);
  for (let index = 0; index < 200; index++) {
    const which = Math.floor(dice.next() * expressions.length);
    const body = chance(`n${which}`, `{"free":{"n":${spelled(dice)}}}`);
    await probe.send(`${index} ${expressions[which]}`, "POST", collection, { body });
  }
}

export const randomNumbers: readonly Family[] = [
  { name: "random numbers of custom resources", run: customNumbers },
  { name: "random numbers of built-in kinds", run: builtInNumbers },
  { name: "random numbers in policies", run: policyNumbers },
];
