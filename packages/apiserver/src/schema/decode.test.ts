import { expect, test } from "bun:test";
import { builtInSchema } from "../tables/tables.ts";
import { decodeBuiltIn } from "./decode.ts";

const deployment = builtInSchema({ group: "apps", version: "v1", kind: "Deployment" })!;
const pod = builtInSchema({ group: "", version: "v1", kind: "Pod" })!;
const configMap = builtInSchema({ group: "", version: "v1", kind: "ConfigMap" })!;

function withContainer(fields: object): object {
  return { apiVersion: "v1", kind: "Pod", spec: { containers: [{ name: "a", ...fields }] } };
}

test.each([
  [deployment, { spec: { replicas: "3" } }, "string into spec.replicas of type int32"],
  [deployment, { spec: { replicas: 1.5 } }, "number 1.5 into spec.replicas of type int32"],
  [deployment, { spec: [] }, "array into spec of type v1.DeploymentSpec"],
  [pod, withContainer({ env: {} }), "object into spec.containers.env of type []v1.EnvVar"],
  [
    pod,
    { spec: { volumes: [{ emptyDir: "x" }] } },
    "string into spec.volumes.emptyDir of type v1.EmptyDirVolumeSource",
  ],
  [pod, { metadata: { labels: { a: 1 } } }, "number into metadata.labels of type string"],
  [pod, { metadata: { creationTimestamp: 5 } }, "number into metadata.creationTimestamp of type string"],
])("decodeBuiltIn names the field that has another type: %#", (schema, value, error) => {
  for (const from of ["json", "unstructured"] as const)
    expect(decodeBuiltIn(schema, value, { from }).error).toBe(`json: cannot unmarshal ${error}`);
});

test.each([
  [withContainer({ resources: { limits: { cpu: "x" } } }), /^quantities must match the regular expression '.+'$/],
  [
    withContainer({ resources: { limits: { cpu: "1x" } } }),
    /^quantities must match|^unable to parse quantity's suffix$/,
  ],
  [{ metadata: { creationTimestamp: "abc" } }, /^parsing time "abc": /],
])("decodeBuiltIn words what types say themselves: %#", (value, error) => {
  expect(decodeBuiltIn(pod, value).error).toMatch(error);
});

test("decodeBuiltIn names unknown fields by their path", () => {
  const { unknown, error } = decodeBuiltIn(deployment, {
    spec: { foo: 1, template: { spec: { containers: [{ bar: 1 }] } } },
    zzz: 1,
  });
  expect(error).toBeUndefined();
  expect(unknown).toEqual([
    'unknown field "spec.foo"',
    'unknown field "spec.template.spec.containers[0].bar"',
    'unknown field "zzz"',
  ]);
});

test("decodeBuiltIn encodes as Go does: order, empty values, canonical quantities and times", () => {
  const value = {
    metadata: { labels: {}, name: "x", creationTimestamp: "2020-01-01T02:00:00.5+02:00" },
    spec: {
      containers: [{ image: "i", name: "a", command: [], resources: { limits: { cpu: "1500m", memory: "1.5Gi" } } }],
    },
    kind: "Pod",
    apiVersion: "v1",
  };
  const before = structuredClone(value);
  expect(JSON.stringify(decodeBuiltIn(pod, value).object)).toBe(
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","creationTimestamp":"2020-01-01T00:00:00Z"},' +
      '"spec":{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1500m","memory":"1536Mi"}}}]},"status":{}}',
  );
  expect(value).toEqual(before);
});

test("decodeBuiltIn writes the zero values that Go writes", () => {
  expect(decodeBuiltIn(deployment, { kind: "Deployment" }).object).toEqual({
    kind: "Deployment",
    metadata: {},
    spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
    status: {},
  });
});

test("decodeBuiltIn refuses what is no base64", () => {
  expect(decodeBuiltIn(configMap, { binaryData: { a: "***" } }).error).toBe("illegal base64 data");
});

test.each([
  ["stored", undefined],
  ["encoded", undefined],
  ["kept", []],
] as const)("empty lists are %s", (empty, expected) => {
  const decoded = decodeBuiltIn(pod, { spec: { containers: [], tolerations: [] } }, { empty });
  expect((decoded.object as { spec: Record<string, unknown> }).spec["tolerations"]).toEqual(expected as never);
  expect(decoded.hasEmpty).toBe(true);
});
