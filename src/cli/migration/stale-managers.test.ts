import { expect, test } from "bun:test";
import type { CustomDefinition } from "./custom-definition.ts";
import { currentManagers } from "./stale-managers.ts";

const text = { type: "string" };
const spec = {
  type: "object",
  properties: {
    host: text,
    ports: { type: "array", items: { type: "object", properties: { name: text } } },
    labels: { type: "object", additionalProperties: text },
    size: { type: "object", properties: { width: text } },
  },
};
const definition = {
  spec: {
    group: "a.test",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      },
      { name: "v1beta1", served: false, storage: false },
      { name: "v1beta2", served: true, storage: false },
    ],
  },
} as unknown as CustomDefinition;
const entry = (apiVersion: string, fieldsV1: object, more: object = {}) =>
  ({ manager: "m", operation: "Apply", apiVersion, fieldsType: "FieldsV1", fieldsV1, ...more }) as never;

test("managers in versions that are served stay as they are", () => {
  expect(currentManagers(undefined, definition)).toBeUndefined();
  const managers = [entry("a.test/v1", { "f:spec": {} }), entry("a.test/v1beta2", { "f:spec": {} })];
  expect(currentManagers(managers, definition)).toBeUndefined();
});

test("of others the fields are kept that the storage version has", () => {
  const fields = {
    "f:metadata": { "f:labels": { "f:a": {} } },
    "f:spec": {
      "f:host": {},
      "f:gone": {},
      "f:size": {},
      "f:labels": { ".": {}, "f:x": {} },
      "f:ports": { 'k:{"name":"a"}': { ".": {}, "f:name": {}, "f:number": {} } },
    },
  };
  for (const version of ["v1beta1", "v0"]) {
    expect(currentManagers([entry(`a.test/${version}`, fields)], definition)).toEqual([
      entry("a.test/v1", {
        "f:metadata": { "f:labels": { "f:a": {} } },
        "f:spec": {
          "f:host": {},
          "f:size": {},
          "f:labels": { ".": {}, "f:x": {} },
          "f:ports": { 'k:{"name":"a"}': { ".": {}, "f:name": {} } },
        },
      }),
    ]);
  }
});

test("entries that become those of one manager become one", () => {
  const managers = [
    entry("a.test/v1", { "f:spec": { "f:host": {} } }),
    entry("a.test/v1beta1", { "f:spec": { "f:labels": {} } }),
    entry("a.test/v1beta1", { "f:spec": { "f:gone": {} } }, { manager: "other" }),
    entry("a.test/v1beta1", { "f:spec": { "f:host": {} } }, { subresource: "status" }),
  ];
  expect(currentManagers(managers, definition)).toEqual([
    entry("a.test/v1", { "f:spec": { "f:host": {}, "f:labels": {} } }),
    entry("a.test/v1", { "f:spec": { "f:host": {} } }, { subresource: "status" }),
  ]);
});

test("one entry is left when no field is", () => {
  const managers = [entry("a.test/v1beta1", { "f:spec": { "f:gone": {} } })];
  expect(currentManagers(managers, definition)).toEqual([entry("a.test/v1", { "f:metadata": { "f:name": {} } })]);
});
