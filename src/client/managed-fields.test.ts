import { describe, expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import type { FieldsV1 } from "../resource/meta.ts";
import { appliedFields, extract, isApplied } from "./managed-fields.ts";

const fields: FieldsV1 = {
  "f:metadata": { "f:labels": { "f:app": {} }, "f:ownerReferences": { 'k:{"uid":"u1"}': {} } },
  "f:spec": {
    "f:replicas": {},
    "f:template": {
      "f:spec": {
        "f:containers": {
          'k:{"name":"web"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
          },
        },
        "f:volumes": { 'k:{"name":"tmp"}': { ".": {}, "f:emptyDir": {}, "f:name": {} } },
      },
    },
    "f:finalizers": { 'v:"a"': {} },
    "f:args": {},
  },
};

const desired = {
  metadata: { labels: { app: "x" }, ownerReferences: [{ uid: "u1", name: "o" }] },
  spec: {
    replicas: 2,
    template: {
      spec: {
        containers: [{ name: "web", image: "i", ports: [{ containerPort: 80 }] }],
        volumes: [{ name: "tmp", emptyDir: {} }],
      },
    },
    finalizers: ["a"],
    args: ["--x"],
  },
};

const live = {
  metadata: {
    labels: { app: "x", foreign: "y" },
    ownerReferences: [
      { uid: "u1", name: "o" },
      { uid: "u2", name: "p" },
    ],
  },
  spec: {
    replicas: 2,
    strategy: { type: "RollingUpdate" },
    template: {
      spec: {
        dnsPolicy: "ClusterFirst",
        containers: [
          { name: "sidecar", image: "s" },
          { name: "web", image: "i", ports: [{ containerPort: 80, protocol: "TCP" }], imagePullPolicy: "Always" },
        ],
        volumes: [{ name: "tmp", emptyDir: {} }],
      },
    },
    finalizers: ["b", "a"],
    args: ["--x"],
  },
};

function changed(mutate: (copy: typeof desired) => void): typeof desired {
  const copy = structuredClone(desired);
  mutate(copy);
  return copy;
}

describe("isApplied", () => {
  test("is true for what was applied, whatever the server and others added", () => {
    expect(isApplied(desired, live, fields)).toBe(true);
  });

  test.each([
    ["a changed scalar", changed((d) => (d.spec.replicas = 3))],
    ["a new field", changed((d) => Object.assign(d.spec, { paused: true }))],
    ["a field no longer wanted", changed((d) => Reflect.deleteProperty(d.spec, "replicas"))],
    ["a label no longer wanted", changed((d) => (d.metadata.labels = {} as { app: string }))],
    ["a changed list item", changed((d) => (d.spec.template.spec.containers[0]!.image = "j"))],
    ["a new list item", changed((d) => d.spec.template.spec.containers.push({ name: "b", image: "i", ports: [] }))],
    ["a renamed list item", changed((d) => (d.spec.template.spec.containers[0]!.name = "b"))],
    ["a list item no longer wanted", changed((d) => (d.spec.template.spec.containers = []))],
    ["another set item", changed((d) => d.spec.finalizers.push("c"))],
    ["a changed atomic list", changed((d) => (d.spec.args = ["--y"]))],
  ])("is false for %s", (_, other) => {
    expect(isApplied(other, live, fields)).toBe(false);
  });

  test("is false when somebody else changed an owned value", () => {
    const drifted = structuredClone(live);
    drifted.spec.template.spec.containers[1]!.image = "other";
    expect(isApplied(desired, drifted, fields)).toBe(false);
  });

  test("leaves fields that are undefined out", () => {
    expect(isApplied({ ...desired, data: undefined }, live, fields)).toBe(true);
  });
});

describe("extract", () => {
  test("gives the owned part of what is there now", () => {
    const status = {
      ready: 1,
      foreign: 2,
      conditions: [
        { type: "Ready", status: "True", reason: "R" },
        { type: "Other", status: "True", reason: "O" },
      ],
    };
    const owned: FieldsV1 = {
      "f:ready": {},
      "f:gone": {},
      "f:conditions": { 'k:{"type":"Ready"}': { ".": {}, "f:type": {}, "f:status": {}, "f:reason": {} } },
    };
    expect(extract(status, owned)).toEqual({ ready: 1, conditions: [{ type: "Ready", status: "True", reason: "R" }] });
  });
});

test("appliedFields finds the entry of a manager and a subresource", () => {
  const object = {
    metadata: {
      managedFields: [
        { manager: "me", operation: "Update", fieldsV1: { "f:u": {} } },
        { manager: "me", operation: "Apply", subresource: "status", fieldsV1: { "f:s": {} } },
        { manager: "me", operation: "Apply", fieldsV1: { "f:a": {} } },
      ],
    },
  } as unknown as AnyObject;
  expect(appliedFields(object, "me")).toEqual({ "f:a": {} });
  expect(appliedFields(object, "me", "status")).toEqual({ "f:s": {} });
  expect(appliedFields(object, "other")).toBeUndefined();
});
