/** Spellings of numbers: custom resources keep what was written, built-in ones read it as Go does. */
import { collectionOf, configMap, deployment, gadget, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const group = "numbers.example.test";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const spellings = [
  "0",
  "-0",
  "0.0",
  "-0.0",
  "1",
  "1.0",
  "-1.0",
  "1.5",
  "1.50",
  "1e2",
  "1E2",
  "1e+2",
  "1.0e2",
  "1.5e1",
  "1e-2",
  "100e-2",
  "1e400",
  "1e21",
  "1e20",
  "0.000001",
  "0.0000001",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "9007199254740993.0",
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775808",
  "-9223372036854775809",
  "18446744073709551615",
  "123456789012345678901234567890",
  "123456789.123456789123456789",
  "2147483647",
  "2147483648",
  "01",
  "+1",
  ".5",
  "5.",
  "0x10",
  "1_000",
  "NaN",
] as const;

const types: Readonly<Record<string, object>> = {
  integer: { type: "integer" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number" },
  float: { type: "number", format: "float" },
  double: { type: "number", format: "double" },
  either: { "x-kubernetes-int-or-string": true },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  bounded: { type: "number", minimum: 0.5, maximum: 1000000 },
  exclusive: { type: "integer", minimum: 1, exclusiveMinimum: true, maximum: 100, exclusiveMaximum: true },
  multiple: { type: "number", multipleOf: 0.5 },
  tens: { type: "integer", multipleOf: 10 },
  listed: { type: "number", enum: [1, 1.5, 100] },
  ruled: {
    type: "integer",
    "x-kubernetes-validations": [{ rule: "self < 50", message: "is too much" }],
  },
  weighed: {
    type: "number",
    "x-kubernetes-validations": [{ rule: "self < 50.0", message: "is too much" }],
  },
  set: { type: "array", items: { type: "number" }, "x-kubernetes-list-type": "set" },
};

async function define(probe: Probe): Promise<void> {
  await probe.quietly("POST", definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `sums.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "sums", singular: "sum", kind: "Sum", listKind: "SumList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: { type: "object", properties: { ...types, preset: { type: "number", default: 1.5 } } },
                status: { type: "object", properties: types },
              },
            },
          },
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: "Integer", type: "integer", jsonPath: ".spec.integer" },
            { name: "Number", type: "number", jsonPath: ".spec.number" },
            { name: "Text", type: "string", jsonPath: ".spec.number" },
          ],
        },
      ],
    },
  });
  await probe.session.waitFor(`/apis/${group}/v1/sums`, (list) => list?.kind === "SumList");
  await probe.session.noticed(300);
}

function valueOf(type: string, spelling: string): string {
  return type === "free" ? `{"n":${spelling},"in":[${spelling}]}` : type === "set" ? `[${spelling},7]` : spelling;
}

function sum(name: string, type: string, spelling: string, field = "spec"): string {
  return `{"apiVersion":"${group}/v1","kind":"Sum","metadata":{"name":"${name}"},"${field}":{"${type}":${valueOf(type, spelling)}}}`;
}

const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
const merge = { "content-type": "application/merge-patch+json" };
const operations = { "content-type": "application/json-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const strategic = { "content-type": "application/strategic-merge-patch+json" };

async function customNumbers(probe: Probe): Promise<void> {
  await probe.createNamespace();
  await define(probe);
  const collection = `/apis/${group}/v1/namespaces/${probe.namespace}/sums`;
  await probe.quietly("POST", collection, JSON.parse(sum("base", "number", "3")));
  for (const [type, [index, spelling]] of pairs(Object.keys(types), [...spellings.entries()])) {
    const label = `${spelling} as ${type}`;
    const name = `${type}-${index}`;
    await probe.send(`create ${label}`, "POST", collection, { body: sum(name, type, spelling) });
    await probe.send(`read ${label}`, "GET", `${collection}/${name}`);
    const value = valueOf(type, spelling);
    const dry = `${collection}/base?dryRun=All`;
    const kind = (index + type.length) % 4;
    if (kind === 0)
      await probe.send(`merge ${label}`, "PATCH", dry, { body: `{"spec":{"${type}":${value}}}`, headers: merge });
    if (kind === 1) {
      const body = `[{"op":"add","path":"/spec/${type}","value":${value}}]`;
      await probe.send(`add ${label}`, "PATCH", dry, { body, headers: operations });
    }
    if (kind === 2)
      await probe.send(`apply ${label}`, "PATCH", `${dry}&fieldManager=m&force=true`, {
        body: sum("base", type, spelling),
        headers: apply,
      });
    if (kind === 3) {
      const body = sum("base", type, spelling).replace('"metadata":{', '"metadata":{"resourceVersion":"",');
      await probe.send(`put ${label}`, "PUT", dry, { body });
      await probe.send(`put status ${label}`, "PUT", `${collection}/base/status?dryRun=All`, {
        body: sum("base", type, spelling, "status"),
      });
    }
  }
  await probe.send("list", "GET", collection);
  await probe.send("table", "GET", collection, { headers: table });
  for (const spelling of ["1.0", "3", "3.0", "3e0", "9007199254740993"]) {
    const body = `[{"op":"test","path":"/spec/number","value":${spelling}}]`;
    await probe.send(`test ${spelling}`, "PATCH", `${collection}/base`, { body, headers: operations });
    const patch = `{"spec":{"number":${spelling}}}`;
    await probe.send(`really merge ${spelling}`, "PATCH", `${collection}/base`, { body: patch, headers: merge });
    await probe.send(`read after ${spelling}`, "GET", `${collection}/base`);
    await probe.send(`change beside ${spelling}`, "PATCH", `${collection}/base`, {
      body: `{"metadata":{"labels":{"l":"${spelling}"}}}`,
      headers: merge,
    });
  }
}

/** Where built-in kinds have numbers: a body for each, with the number's place marked. */
const places: Readonly<Record<string, string>> = {
  replicas: '{"spec":{"replicas":#}}',
  port: '{"spec":{"template":{"spec":{"containers":[{"name":"main","ports":[{"containerPort":#}]}]}}}}',
  quantity: '{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":#}}}]}}}}',
  either: '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":#}}}}',
  seconds: '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":#}}}}',
  generation: '{"metadata":{"generation":#}}',
  text: '{"metadata":{"labels":{"a":#}}}',
  unknown: '{"spec":{"nope":#}}',
};

async function builtInNumbers(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const collection = collectionOf(deployment, probe.namespace);
  const { apiVersion, kind, rest } = deployment;
  await probe.quietly("POST", collection, { apiVersion, kind, metadata: { name: "d" }, ...rest });
  for (const [[place, body], spelling] of pairs(Object.entries(places), spellings)) {
    const label = `${spelling} as ${place}`;
    const path = `${collection}/d?dryRun=All`;
    const patch = body.replace("#", spelling);
    await probe.send(`merge ${label}`, "PATCH", path, { body: patch, headers: merge });
    await probe.send(`strategic ${label}`, "PATCH", path, { body: patch, headers: strategic });
    await probe.send(`apply ${label}`, "PATCH", `${path}&fieldManager=m&force=true`, {
      body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},${patch.slice(1)}`,
      headers: apply,
    });
  }
  for (const spelling of spellings) {
    const path = `${collection}/d?dryRun=All`;
    for (const [place, pointer] of [
      ["replicas", "/spec/replicas"],
      ["either", "/spec/strategy/rollingUpdate/maxSurge"],
      ["annotations", "/metadata/annotations"],
    ] as const) {
      const body = `[{"op":"add","path":"${pointer}","value":${spelling}}]`;
      await probe.send(`add ${spelling} as ${place}`, "PATCH", path, { body, headers: operations });
    }
    await probe.send(`test ${spelling}`, "PATCH", path, {
      body: `[{"op":"test","path":"/spec/replicas","value":${spelling}}]`,
      headers: operations,
    });
    const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":${spelling}}}`;
    await probe.send(`scale ${spelling}`, "PUT", `${collection}/d/scale?dryRun=All`, { body: scale });
    await probe.send(`data ${spelling}`, "POST", `${collectionOf(configMap, probe.namespace)}?dryRun=All`, {
      body: `{"metadata":{"name":"n"},"data":{"a":${spelling}}}`,
    });
    await probe.send(`size ${spelling}`, "POST", `${collectionOf(gadget, probe.namespace)}?dryRun=All`, {
      body: `apiVersion: ${gadget.apiVersion}\nkind: Gadget\nmetadata: {name: n}\nspec: {size: ${spelling}, free: {a: ${spelling}}}\n`,
      headers: { "content-type": "application/yaml" },
    });
    await probe.send(`grace ${spelling}`, "DELETE", `${collection}/d?dryRun=All`, {
      body: `{"gracePeriodSeconds":${spelling}}`,
    });
    await probe.send(
      `grace of a query ${spelling}`,
      "DELETE",
      `${collection}/d?dryRun=All&gracePeriodSeconds=${encodeURIComponent(spelling)}`,
    );
    await probe.send(`limit ${spelling}`, "GET", `${collection}?limit=${encodeURIComponent(spelling)}`);
    await probe.send(`timeout ${spelling}`, "GET", `${collection}?timeoutSeconds=${encodeURIComponent(spelling)}`);
    await probe.send(
      `version ${spelling}`,
      "GET",
      `${collection}/none?resourceVersion=${encodeURIComponent(spelling)}`,
    );
  }
}

export const numbers: readonly Family[] = [
  { name: "numbers of custom resources", run: customNumbers },
  { name: "numbers of built-in kinds", run: builtInNumbers },
];
