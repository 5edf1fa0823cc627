/**
 * Numbers that a double cannot hold, and floats without a fraction, wherever an object passes: defaults, keys of lists,
 * rules, scales, columns, selectors, patches, statuses, YAML, and fields of 64 bits of built-in kinds.
 */
import { collectionOf, configMap, deployment, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const group = "exact.example.test";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const spellings = [
  "2",
  "2.0",
  "-0.0",
  "1e6",
  "1234567.5",
  "1e15",
  "9007199254740991",
  "9007199254740993",
  "9007199254740993.0",
  "-9223372036854775808",
  "9223372036854775807",
  "9223372036854775808",
  "1e300",
] as const;

/** kube-apiserver keeps the spelling of numbers in a `RawExtension`, which only these have everywhere. */
const opaque: readonly string[] = ["2", "1234567.5", "9007199254740993", "-9223372036854775808", "9223372036854775807"];

const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const merge = { "content-type": "application/merge-patch+json" };
const operations = { "content-type": "application/json-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const strategic = { "content-type": "application/strategic-merge-patch+json" };
const yaml = { "content-type": "application/yaml" };

const rule = (text: string, message?: string): object => ({
  "x-kubernetes-validations": [{ rule: text, ...(message === undefined ? {} : { message }) }],
});

const properties = {
  amount: { type: "integer", format: "int64" },
  weight: { type: "number" },
  either: { "x-kubernetes-int-or-string": true },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  map: { type: "object", additionalProperties: { type: "integer" } },
  most: { type: "integer", maximum: 9007199254740992 },
  least: { type: "number", minimum: 1500000 },
  listed: { type: "integer", enum: ["BIG", 2] },
  pair: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "number" } },
    ...rule("self.a <= self.b", "a is more than b"),
  },
  halves: { type: "integer", ...rule("self / 2 * 2 == self", "is odd") },
  shares: { type: "number", ...rule("self / 2.0 < 1000000.0") },
  choice: { "x-kubernetes-int-or-string": true, ...rule("type(self) == string ? self == 'x' : self < 100") },
  told: {
    type: "integer",
    "x-kubernetes-validations": [{ rule: "self < 0", messageExpression: "self == 2 ? 'is two' : 'is another'" }],
  },
  toldNumber: {
    type: "number",
    "x-kubernetes-validations": [{ rule: "self < -1.0", messageExpression: "self == 2.0 ? 'is two' : 'is another'" }],
  },
  sums: { type: "array", maxItems: 5, items: { type: "integer" }, ...rule("self.sum() < 100") },
  kept: { type: "integer", ...rule("self == oldSelf", "is kept") },
  keyed: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["id"],
    items: {
      type: "object",
      required: ["id"],
      properties: { id: { type: "integer" }, value: { type: "number" } },
    },
  },
  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer" } },
  preset: { type: "integer", default: "BIG" },
  presetNumber: { type: "number", default: "WHOLE" },
  replicas: { type: "integer" },
} as const;

const fields: Readonly<Record<string, string>> = {
  amount: "#",
  weight: "#",
  either: "#",
  free: '{"n":#,"in":[#,{"m":#}]}',
  map: '{"a":#}',
  most: "#",
  least: "#",
  listed: "#",
  pair: '{"a":#,"b":7,"c":#}',
  halves: "#",
  shares: "#",
  choice: "#",
  told: "#",
  toldNumber: "#",
  sums: "[#,1]",
  kept: "#",
  keyed: '[{"id":#,"value":#},{"id":2,"value":1}]',
  set: "[#,2]",
  preset: "#",
  replicas: "#",
};

async function define(probe: Probe): Promise<void> {
  const body = JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `amounts.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "amounts", singular: "amount", kind: "Amount", listKind: "AmountList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: { type: "object", properties },
                status: {
                  type: "object",
                  properties: { replicas: { type: "integer" }, free: properties.free, weight: { type: "number" } },
                },
              },
            },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          selectableFields: [{ jsonPath: ".spec.amount" }],
          additionalPrinterColumns: [
            { name: "Amount", type: "integer", jsonPath: ".spec.amount" },
            { name: "Text", type: "string", jsonPath: ".spec.amount" },
            { name: "Weight", type: "number", jsonPath: ".spec.weight" },
            { name: "WeightText", type: "string", jsonPath: ".spec.weight" },
            { name: "Free", type: "string", jsonPath: ".spec.free" },
            { name: "Found", type: "string", jsonPath: ".spec.keyed[?(@.id==2)].value" },
          ],
        },
      ],
    },
  })
    .replaceAll('"BIG"', "9007199254740993")
    .replaceAll('"WHOLE"', "3.0");
  await probe.send("define", "POST", definitions, { body });
  if (!probe.isChosen("define")) await probe.quietly("POST", definitions, body);
  await probe.session.waitFor(`/apis/${group}/v1/amounts`, (list) => list?.kind === "AmountList");
  await probe.session.noticed(300);
  await probe.send("read the definition", "GET", `${definitions}/amounts.${group}`);
}

function amount(name: string, spec: string, field = "spec"): string {
  return `{"apiVersion":"${group}/v1","kind":"Amount","metadata":{"name":"${name}"},"${field}":${spec}}`;
}

async function largeCustomNumbers(probe: Probe): Promise<void> {
  await probe.createNamespace();
  await define(probe);
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/amounts`;
  await probe.quietly("POST", collection, amount("base", '{"kept":2,"replicas":1}'));
  for (const [[field, form], spelling] of pairs(Object.entries(fields), spellings)) {
    const value = form.replaceAll("#", spelling);
    const label = `${spelling} as ${field}`;
    const dry = `${collection}/base?dryRun=All`;
    await probe.send(`create ${label}`, "POST", `${collection}?dryRun=All`, {
      body: amount("other", `{"${field}":${value}}`),
    });
    await probe.send(`merge ${label}`, "PATCH", dry, { body: `{"spec":{"${field}":${value}}}`, headers: merge });
    await probe.send(`apply ${label}`, "PATCH", `${dry}&fieldManager=m&force=true`, {
      body: amount("base", `{"${field}":${value}}`),
      headers: apply,
    });
    await probe.send(`YAML ${label}`, "POST", `${collection}?dryRun=All`, {
      body: `apiVersion: ${group}/v1\nkind: Amount\nmetadata:\n  name: other\nspec:\n  ${field}: ${value.replaceAll(",", ", ").replaceAll(":", ": ")}\n`,
      headers: yaml,
    });
  }
  for (const [index, spelling] of spellings.entries()) {
    const name = `n-${index}`;
    const spec = `{"weight":${spelling},"free":{"n":${spelling}}}`;
    await probe.send(`keep ${spelling}`, "POST", collection, { body: amount(name, spec) });
    await probe.send(`keep again ${spelling}`, "PUT", `${collection}/${name}`, {
      body: amount(name, `{"weight":${spelling},"free":{"n":${spelling}},"preset":9007199254740993,"presetNumber":3}`),
    });
    await probe.send(`amount ${spelling}`, "PATCH", `${collection}/${name}`, {
      body: `{"spec":{"amount":${spelling}}}`,
      headers: merge,
    });
    await probe.send(`test ${spelling}`, "PATCH", `${collection}/${name}`, {
      body: `[{"op":"test","path":"/spec/free/n","value":${spelling}},{"op":"copy","from":"/spec/free/n","path":"/spec/free/o"}]`,
      headers: operations,
    });
    await probe.send(`status ${spelling}`, "PATCH", `${collection}/${name}/status`, {
      body: `{"status":{"free":{"n":${spelling}},"weight":${spelling}}}`,
      headers: merge,
    });
    // Writing a zero with a sign twice changes the object on kube-apiserver.
    if (spelling !== "-0.0")
      await probe.send(`status again ${spelling}`, "PATCH", `${collection}/${name}/status`, {
        body: `{"status":{"free":{"n":${spelling}},"weight":${spelling}}}`,
        headers: merge,
      });
    await probe.send(`applied ${spelling}`, "PATCH", `${collection}/${name}?fieldManager=second`, {
      body: amount(name, `{"free":{"mine":${spelling}}}`),
      headers: apply,
    });
    await probe.send(`differs ${spelling}`, "PATCH", `${collection}/${name}?fieldManager=third`, {
      body: amount(name, '{"free":{"mine":12345}}'),
      headers: apply,
    });
    await probe.send(`scale of replicas ${spelling}`, "PATCH", `${collection}/base/scale?dryRun=All`, {
      body: `{"spec":{"replicas":${spelling}}}`,
      headers: merge,
    });
    await probe.send(`put scale ${spelling}`, "PUT", `${collection}/base/scale?dryRun=All`, {
      body: `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"base"},"spec":{"replicas":${spelling}}}`,
    });
    await probe.send(`status replicas ${spelling}`, "PATCH", `${collection}/base/status?dryRun=All`, {
      body: `{"status":{"replicas":${spelling}}}`,
      headers: merge,
    });
    await probe.send(`read as YAML ${spelling}`, "GET", `${collection}/${name}`, {
      headers: { accept: "application/yaml" },
    });
    await probe.send(`read pretty ${spelling}`, "GET", `${collection}/${name}?pretty=true`);
    await probe.send(`row ${spelling}`, "GET", `${collection}/${name}`, { headers: table });
    await probe.send(`select ${spelling}`, "GET", `${collection}?fieldSelector=spec.amount%3D${spelling}`);
  }
  if (probe.isChosen("watch"))
    await probe.session.watch(`${collection}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dn-7`, {
      label: "watch",
      until: () => true,
    });
}

/** Fields of 64 bits in built-in kinds, and places that hold any JSON. */
async function largeBuiltInNumbers(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const collection = collectionOf(deployment, probe.namespace);
  const { apiVersion, kind, rest } = deployment;
  await probe.quietly("POST", collection, { apiVersion, kind, metadata: { name: "d" }, ...rest });
  const revisions = `/apis/apps/v1/namespaces/${probe.namespace}/controllerrevisions`;
  const template = '{"spec":{"template":{"spec":#}}}';
  const places: Readonly<Record<string, string>> = {
    grace: template.replace("#", '{"terminationGracePeriodSeconds":#}'),
    deadline: template.replace("#", '{"activeDeadlineSeconds":#}'),
    user: template.replace("#", '{"securityContext":{"runAsUser":#,"fsGroup":#}}'),
    toleration: template.replace(
      "#",
      '{"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":#}]}',
    ),
    observed: '{"status":{"observedGeneration":#}}',
    generation: '{"metadata":{"generation":#}}',
    quantity: template.replace("#", '{"containers":[{"name":"main","resources":{"requests":{"memory":#}}}]}'),
  };
  for (const [[place, form], spelling] of pairs(Object.entries(places), spellings)) {
    const label = `${spelling} as ${place}`;
    const path = `${collection}/d?dryRun=All`;
    const body = form.replaceAll("#", spelling);
    await probe.send(`merge ${label}`, "PATCH", path, { body, headers: merge });
    await probe.send(`strategic ${label}`, "PATCH", path, { body, headers: strategic });
    await probe.send(`apply ${label}`, "PATCH", `${path}&fieldManager=m&force=true`, {
      body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},${body.slice(1)}`,
      headers: apply,
    });
  }
  for (const [index, spelling] of spellings.entries()) {
    const name = `r-${index}`;
    await probe.send(`revision ${spelling}`, "POST", revisions, {
      body: `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"revision":${spelling},"data":{"n":${spelling}}}`,
    });
    await probe.send(`read revision ${spelling}`, "GET", `${revisions}/${name}`);
    await probe.send(`label revision ${spelling}`, "PATCH", `${revisions}/${name}`, {
      body: '{"metadata":{"labels":{"a":"b"}}}',
      headers: index % 2 === 0 ? merge : strategic,
    });
    await probe.send(`map ${spelling}`, "POST", `${collectionOf(configMap, probe.namespace)}?dryRun=All`, {
      body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","generation":${spelling}}}`,
    });
    if (!opaque.includes(spelling)) continue;
    await probe.send(`data ${spelling}`, "POST", revisions, {
      body: `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}-data"},"revision":1,"data":{"n":${spelling}}}`,
    });
  }
  await probe.send("revisions", "GET", revisions);
  await probe.send("rows of revisions", "GET", revisions, { headers: table });
}

export const largeNumbers: readonly Family[] = [
  { name: "large numbers of custom resources", run: largeCustomNumbers },
  { name: "large numbers of built-in kinds", run: largeBuiltInNumbers },
];
