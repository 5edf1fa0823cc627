/**
 * Numbers in every spelling, some of which no double can hold: custom resources keep the spelling, built-in kinds read
 * the value.
 */
import { define, definitionOf } from "../custom-kinds.ts";
import { pairs } from "../sampling.ts";
import type { Family, Probe } from "./family.ts";
import { collectionOf, deployment, gadget, prepareKinds } from "../kinds.ts";

const spellings = `0 -0 0.0 -0.0 1 1.0 -1.0 1.5 1.50 1e2 1E2 1.0e2 1e-2 100e-2 1e400 1e21 1e15 0.0000001 1234567.5
9007199254740991 9007199254740993 9007199254740993.0 9223372036854775807 -9223372036854775808 9223372036854775808
18446744073709551615 123456789012345678901234567890 123456789.123456789123456789 2147483647 2147483648 01 +1 .5 5. 0x10
1_000 NaN`.split(/\s+/);

function withRule(type: string, rule: string): object {
  return { type, "x-kubernetes-validations": [{ rule }] };
}

/** Fields of a custom kind, each with its schema and the form of its value. */
const fields: Readonly<Record<string, readonly [schema: object, form?: string]>> = {
  integer: [{ type: "integer" }],
  int32: [{ type: "integer", format: "int32" }],
  int64: [{ type: "integer", format: "int64" }],
  number: [{ type: "number" }],
  float: [{ type: "number", format: "float" }],
  either: [{ "x-kubernetes-int-or-string": true }],
  free: [{ type: "object", "x-kubernetes-preserve-unknown-fields": true }, '{"n":#,"in":[#,{"m":#}]}'],
  bounded: [{ type: "number", minimum: 0.5, maximum: 1000000 }],
  exclusive: [{ type: "integer", minimum: 1, exclusiveMinimum: true, maximum: 100, exclusiveMaximum: true }],
  most: [{ type: "integer", maximum: 9007199254740992 }],
  multiple: [{ type: "number", multipleOf: 0.5 }],
  tens: [{ type: "integer", multipleOf: 10 }],
  listed: [{ type: "number", enum: [1, 1.5, 100, "LARGE"] }],
  ruled: [withRule("integer", "self < 50")],
  weighed: [withRule("number", "self < 50.0")],
  halves: [withRule("integer", "self / 2 * 2 == self")],
  kept: [withRule("integer", "self == oldSelf")],
  set: [{ type: "array", items: { type: "number" }, "x-kubernetes-list-type": "set" }, "[#,7]"],
  map: [{ type: "object", additionalProperties: { type: "integer" } }, '{"a":#}'],
  keyed: [
    {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "integer" }, value: { type: "number" } },
      },
    },
    '[{"id":#,"value":#},{"id":2,"value":1}]',
  ],
  preset: [{ type: "integer", default: "LARGE" }],
  presetNumber: [{ type: "number", default: "WHOLE" }],
};

const group = "numbers.example.test";
const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

async function prepare(probe: Probe): Promise<string> {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, [schema]]) => [name, schema]));
  const part = { type: "object", properties };
  const definition = definitionOf({
    group,
    plural: "sums",
    kind: "Sum",
    schema: { type: "object", properties: { spec: part, status: part } },
    version: {
      subresources: { status: {}, scale: { specReplicasPath: ".spec.integer", statusReplicasPath: ".status.integer" } },
      selectableFields: [{ jsonPath: ".spec.int64" }],
      additionalPrinterColumns: [
        { name: "Integer", type: "integer", jsonPath: ".spec.integer" },
        { name: "Number", type: "number", jsonPath: ".spec.number" },
        { name: "Text", type: "string", jsonPath: ".spec.number" },
      ],
    },
  });
  const text = JSON.stringify(definition).replaceAll('"LARGE"', "9007199254740993").replaceAll('"WHOLE"', "3.0");
  await define(probe.session, definition, text);
  await probe.createNamespace();
  return `/apis/${group}/v1/namespaces/${probe.namespace}/sums`;
}

function sum(name: string, spec: string, field = "spec"): string {
  return `{"apiVersion":"${group}/v1","kind":"Sum","metadata":{"name":"${name}"},"${field}":${spec}}`;
}

async function customNumbers(probe: Probe): Promise<void> {
  const collection = await prepare(probe);
  await probe.quietly("POST", collection, sum("base", '{"kept":2,"integer":1}'));
  const dry = `${collection}/base?dryRun=All`;
  for (const [[field, [, form = "#"]], spelling] of pairs(Object.entries(fields), spellings)) {
    const label = `${spelling} as ${field}`;
    const value = form.replaceAll("#", spelling);
    const spec = `{"${field}":${value}}`;
    await probe.post(`create ${label}`, `${collection}?dryRun=All`, sum("other", spec));
    await probe.patch(`merge ${label}`, dry, `{"spec":${spec}}`);
    await probe.patch(`add ${label}`, dry, `[{"op":"add","path":"/spec/${field}","value":${value}}]`, "json");
    await probe.patch(`apply ${label}`, `${dry}&fieldManager=m&force=true`, sum("base", spec), "apply");
    await probe.put(`put status ${label}`, `${collection}/base/status?dryRun=All`, sum("base", spec, "status"));
  }
  for (const [index, spelling] of spellings.entries()) {
    if (!probe.isChosen(`keep ${spelling}`)) continue;
    const { session } = probe;
    const path = `${collection}/n${index}`;
    await session.post(
      `keep ${spelling}`,
      collection,
      sum(`n${index}`, `{"number":${spelling},"free":{"n":${spelling}}}`),
    );
    await session.patch(`int64 ${spelling}`, path, `{"spec":{"int64":${spelling}}}`);
    await session.patch(`test ${spelling}`, path, `[{"op":"test","path":"/spec/free/n","value":${spelling}}]`, "json");
    await session.patch(
      `applied ${spelling}`,
      `${path}?fieldManager=m`,
      sum(`n${index}`, `{"free":{"o":${spelling}}}`),
      "apply",
    );
    await session.patch(`scaled to ${spelling}`, `${path}/scale`, `{"spec":{"replicas":${spelling}}}`);
    await session.get(`read ${spelling}`, path);
    await session.get(`row ${spelling}`, path, table);
    await session.get(`YAML ${spelling}`, path, "application/yaml");
    await session.get(`select ${spelling}`, `${collection}?fieldSelector=spec.int64%3D${encodeURIComponent(spelling)}`);
  }
}

/** Bodies for each place where built-in kinds have numbers. */
const places: Readonly<Record<string, string>> = {
  replicas: '{"spec":{"replicas":#}}',
  port: '{"spec":{"template":{"spec":{"containers":[{"name":"main","ports":[{"containerPort":#}]}]}}}}',
  quantity: '{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":#}}}]}}}}',
  either: '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":#}}}}',
  seconds: '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":#}}}}',
  user: '{"spec":{"template":{"spec":{"securityContext":{"runAsUser":#,"fsGroup":#}}}}}',
  observed: '{"status":{"observedGeneration":#}}',
  generation: '{"metadata":{"generation":#}}',
  text: '{"metadata":{"labels":{"a":#}}}',
  unknown: '{"spec":{"nope":#}}',
};

async function builtInNumbers(probe: Probe): Promise<void> {
  await prepareKinds(probe.session);
  const collection = collectionOf(deployment, probe.namespace);
  const { apiVersion, kind, rest } = deployment;
  await probe.quietly("POST", collection, { apiVersion, kind, metadata: { name: "d" }, ...rest });
  const path = `${collection}/d?dryRun=All`;
  for (const [[place, form], spelling] of pairs(Object.entries(places), spellings)) {
    const label = `${spelling} as ${place}`;
    const body = form.replaceAll("#", spelling);
    const application = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},${body.slice(1)}`;
    await probe.patch(`merge ${label}`, path, body);
    await probe.patch(`strategic ${label}`, path, body, "strategic");
    await probe.patch(`apply ${label}`, `${path}&fieldManager=m&force=true`, application, "apply");
  }
  const revisions = `/apis/apps/v1/namespaces/${probe.namespace}/controllerrevisions`;
  for (const spelling of spellings) {
    const value = encodeURIComponent(spelling);
    const operation = `{"op":"test","path":"/spec/replicas","value":${spelling}}`;
    await probe.patch(`test ${spelling}`, path, `[${operation}]`, "json");
    const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":${spelling}}}`;
    await probe.put(`scale ${spelling}`, `${collection}/d/scale?dryRun=All`, scale);
    const revision = `"metadata":{"name":"r"},"revision":${spelling}}`;
    await probe.post(`revision ${spelling}`, `${revisions}?dryRun=All`, `{"kind":"ControllerRevision",${revision}`);
    const yaml = `apiVersion: ${gadget.apiVersion}\nkind: Gadget\nmetadata: {name: n}\nspec: {size: ${spelling}}\n`;
    const headers = { "content-type": "application/yaml" };
    const gadgets = `${collectionOf(gadget, probe.namespace)}?dryRun=All`;
    await probe.send(`YAML ${spelling}`, "POST", gadgets, { body: yaml, headers });
    await probe.delete(`grace ${spelling}`, path, `{"gracePeriodSeconds":${spelling}}`);
    for (const option of ["limit", "timeoutSeconds", "resourceVersion"])
      await probe.get(`${option} ${spelling}`, `${collection}?${option}=${value}`);
  }
}

export const numbers: readonly Family[] = [
  { name: "numbers of custom resources", share: 0.06, run: customNumbers },
  { name: "numbers of built-in kinds", share: 0.08, run: builtInNumbers },
];
