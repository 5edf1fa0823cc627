import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { conditions } from "./conditions.ts";
import { crdOf } from "./crd.ts";
import { defineResource, definitionOf } from "./define.ts";
import { resource } from "./handle.ts";
import { pluralOf } from "./names.ts";

const spec = z.object({ message: z.string(), replicas: z.int().default(1) });
const guestbook = { group: "demo.binnacle.dev", version: "v1", kind: "Guestbook", spec } as const;
const define = defineResource as unknown as (options: object) => ReturnType<typeof resource>;

describe("defineResource", () => {
  test("makes a frozen handle", () => {
    const Guestbook = defineResource(guestbook);
    expect({ ...Guestbook } as object).toMatchObject({
      apiVersion: "demo.binnacle.dev/v1",
      kind: "Guestbook",
      scope: "Namespaced",
      group: "demo.binnacle.dev",
      version: "v1",
      plural: "guestbooks",
      subresources: ["status"],
    });
    expect(Object.isFrozen(Guestbook)).toBe(true);
    expect(Object.isFrozen(definitionOf(Guestbook))).toBe(true);
    expect(definitionOf(resource("v1", "Pod"))).toBeUndefined();
    expect(definitionOf("text")).toBeUndefined();
  });

  test("definitionOf knows handles of another copy of the SDK, and refuses other contracts", () => {
    const brand = Symbol.for("binnacle.resource");
    expect(definitionOf({ [brand]: { api: 1, group: "a.b" } })?.group).toBe("a.b");
    expect(() => definitionOf({ [brand]: { api: 2 } })).toThrow("Cannot use a resource of contract version 2");
  });

  const wrong: Readonly<Record<string, readonly [object, string]>> = {
    "an unknown option": [
      { ...guestbook, sped: 1, finalizer: 2 },
      "there is no option 'sped', 'finalizer': the options are group,",
    ],
    "an unknown name": [{ ...guestbook, names: { short: ["x"] } }, "there is no option 'names.short'"],
    "a group without a dot": [
      { ...guestbook, group: "demo" },
      `'group' must be a DNS name with a dot, such as "demo.example.com": current value is "demo"`,
    ],
    "a group of Kubernetes": [{ ...guestbook, group: "x.k8s.io" }, "must not end in k8s.io or kubernetes.io"],
    "a version that is none": [{ ...guestbook, version: "1.0" }, `'version' must be such as "v1"`],
    "no version": [{ ...guestbook, version: undefined }, "'version' must be text"],
    "a small kind": [
      { ...guestbook, kind: "guestbook" },
      "'kind' must be letters and digits that begin with a capital",
    ],
    "a wrong plural": [{ ...guestbook, names: { plural: "Guestbooks" } }, "'names.plural' must be small letters"],
    "a wrong scope": [{ ...guestbook, scope: "Namespace" }, `'scope' must be "Namespaced" or "Cluster"`],
    "no spec": [{ ...guestbook, spec: undefined }, "spec: must be a zod schema"],
    "a spec that is no object": [{ ...guestbook, spec: z.string() }, "spec: must be an object: z.object({ … })"],
    "a nullable spec": [{ ...guestbook, spec: spec.nullable() }, "spec: must be an object"],
    "a wrong field": [{ ...guestbook, spec: z.object({ at: z.date() }) }, "spec.at: JSON has no dates"],
    "a wrong status": [
      { ...guestbook, status: z.record(z.string(), z.int()) },
      "status: must be an object with named fields",
    ],
    "a wrong column": [
      { ...guestbook, columns: [{ name: "A", type: "text", path: ".a" }] },
      'the type of column "A" must be one of',
    ],
    "a wrong column path": [
      { ...guestbook, columns: [{ name: "A", type: "string", path: "a" }] },
      'the path of column "A" must be such as',
    ],
    "a column option": [
      { ...guestbook, columns: [{ name: "A", type: "string", jsonPath: ".a" }] },
      "there is no option 'columns.jsonPath'",
    ],
    "a wrong rule": [{ ...guestbook, rules: [{ expression: "true" }] }, "rules: a rule must be { rule"],
    "a scale without its field": [
      { ...guestbook, scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas" } },
      `'scale.statusReplicas' must name a field of the schema: there is no ".status.replicas"`,
    ],
    "a hub that is no version": [
      { group: "a.b", kind: "A", versions: { v1: { spec } }, hub: "v2", storage: "v1" },
      `'hub' must be one of v1: current value is "v2"`,
    ],
    "a version without conversion": [
      { group: "a.b", kind: "A", versions: { v1: { spec }, v2: { spec } }, hub: "v2", storage: "v1" },
      "'versions.v1.toHub' must be a function, every version but the hub converts",
    ],
    "a loss on the hub": [
      { group: "a.b", kind: "A", versions: { v1: { spec, loses: ["spec.a"] } }, hub: "v1", storage: "v1" },
      "'versions.v1.loses' must not stand on the hub, but on the version that loses fields",
    ],
    "a loss that is no path": [
      {
        group: "a.b",
        kind: "A",
        versions: { v1: { spec }, v2: { spec, toHub: () => ({}), fromHub: () => ({}), loses: ["metadata.name"] } },
        hub: "v1",
        storage: "v1",
      },
      `'versions.v2.loses' must be paths such as "spec.replicas": current value is "metadata.name"`,
    ],
    "a hub that converts": [
      { group: "a.b", kind: "A", versions: { v1: { spec, toHub: () => ({}) } }, hub: "v1", storage: "v1" },
      "'versions.v1.toHub' must not stand on the hub",
    ],
    "a storage that is no version": [
      { group: "a.b", kind: "A", versions: { v1: { spec } }, hub: "v1", storage: "v2" },
      `'storage' must be one of v1: current value is "v2"`,
    ],
    "a wrong field of a version": [
      { group: "a.b", kind: "A", versions: { v1: { spec: z.object({ a: z.date() }) } }, hub: "v1", storage: "v1" },
      "versions.v1.spec.a: JSON has no dates",
    ],
  };
  for (const [name, [options, message]] of Object.entries(wrong)) {
    test(`refuses ${name}`, () => {
      expect(() => define(options)).toThrow(message);
      expect(() => define(options)).toThrow("Cannot define resource ");
    });
  }
});

describe("crdOf", () => {
  test("writes the whole CustomResourceDefinition", () => {
    const Guestbook = defineResource({
      ...guestbook,
      names: { shortNames: ["gb"] },
      status: z.object({ ready: z.int().optional(), conditions: conditions("Ready") }),
      columns: [{ name: "Ready", type: "integer", path: ".status.ready" }],
      rules: [{ rule: "self.spec.replicas > 0", message: "some" }],
    });
    const crd = crdOf(Guestbook);
    expect(crd.metadata.name).toBe("guestbooks.demo.binnacle.dev");
    expect(crd.spec.names).toEqual({
      kind: "Guestbook",
      listKind: "GuestbookList",
      plural: "guestbooks",
      singular: "guestbook",
      shortNames: ["gb"],
    });
    const [version] = crd.spec.versions;
    expect(version).toMatchObject({ name: "v1", served: true, storage: true, subresources: { status: {} } });
    expect(version?.additionalPrinterColumns).toEqual([
      { name: "Ready", type: "integer", jsonPath: ".status.ready" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ]);
    const schema = version?.schema?.openAPIV3Schema;
    expect(schema?.required).toEqual(["spec"]);
    expect(schema?.["x-kubernetes-validations"]).toEqual([{ message: "some", rule: "self.spec.replicas > 0" }]);
    expect(schema?.properties?.["spec"]).toEqual({
      type: "object",
      properties: { message: { type: "string" }, replicas: { type: "integer", format: "int64", default: 1 } },
      required: ["message"],
    });
    const status = schema?.properties?.["status"]?.properties;
    expect(status?.["observedGeneration"]).toMatchObject({ type: "integer", format: "int64" });
    expect(status?.["conditions"]).toMatchObject({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: { required: ["lastTransitionTime", "message", "reason", "status", "type"] },
    });
  });

  test("gives one text for one definition, whatever the order of its fields", () => {
    const other = defineResource({
      kind: "Guestbook",
      spec: z.object({ replicas: z.int().default(1), message: z.string() }),
      version: "v1",
      group: "demo.binnacle.dev",
    });
    expect(JSON.stringify(crdOf(other))).toBe(JSON.stringify(crdOf(defineResource(guestbook))));
    const changed = defineResource({ ...guestbook, spec: z.object({ message: z.string().max(3) }) });
    expect(JSON.stringify(crdOf(changed))).not.toBe(JSON.stringify(crdOf(other)));
  });

  test("a spec that may be left empty may be left out", () => {
    const crd = crdOf(defineResource({ ...guestbook, spec: z.object({ replicas: z.int().default(1) }) }));
    const schema = crd.spec.versions[0]?.schema?.openAPIV3Schema;
    expect(schema?.required).toBeUndefined();
    expect(schema?.properties?.["spec"]?.default).toEqual({});
  });

  test("refuses a handle that is not of defineResource", () => {
    expect(() => crdOf(resource("acme.io/v1", "Widget"))).toThrow(
      "Cannot make a CustomResourceDefinition of Widget.acme.io",
    );
  });
});

test("pluralOf knows English", () => {
  const words = ["guestbook", "policy", "gateway", "ingress", "box", "batch", "mesh", "database"];
  expect(words.map(pluralOf)).toEqual([
    "guestbooks",
    "policies",
    "gateways",
    "ingresses",
    "boxes",
    "batches",
    "meshes",
    "databases",
  ]);
});

test("conditions refuses names that the API server would", () => {
  expect(() => conditions("Ready", "Ready")).toThrow('Cannot use condition "Ready": it is given twice');
  expect(() => conditions("is ready")).toThrow('Cannot use condition "is ready"');
});
