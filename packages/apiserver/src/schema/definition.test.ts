import { expect, test } from "bun:test";
import { errorText } from "../field-error.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { validateDefinition } from "./definition.ts";

function definition(x: Fields, spec: Fields = {}): KubeObject {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { x } } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "foos.ex.io" },
    spec: {
      group: "ex.io",
      scope: "Namespaced",
      names: { plural: "foos", singular: "foo", kind: "Foo", listKind: "FooList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      ...spec,
    },
  };
}

const at = "spec.validation.openAPIV3Schema.properties[spec].properties[x]";

test.each<[Fields, string]>([
  [{}, `${at}.type: Required value: must not be empty for specified object fields`],
  [{ type: "array" }, `${at}.items: Required value: must be specified`],
  [{ type: "string", anyOf: [{ type: "string" }] }, `${at}.anyOf[0].type: Forbidden: must be empty to be structural`],
  [{ $ref: "#/x" }, `${at}.$ref: Forbidden: $ref is not supported`],
  [
    { type: "string", pattern: "(?=a)" },
    `${at}.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  ],
  [
    { type: "integer", minimum: 3, default: 1 },
    `${at}.default: Invalid value: 1:  in body should be greater than or equal to 3`,
  ],
  [
    {
      type: "array",
      items: { type: "object", properties: { a: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
    },
    `${at}.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
  ],
])("validateDefinition words what is wrong with %j", (property, error) => {
  expect(validateDefinition(definition(property)).map(errorText)).toContain(error);
});

test.each<[string, string]>([
  ["foo == 1", "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^"],
  [
    "self + 1 == 2",
    "ERROR: <input>:1:6: found no matching overload for '_+_' applied to '(string, int)'\n | self + 1 == 2\n | .....^",
  ],
])("validateDefinition compiles the rule %p", (rule, error) => {
  const property = { type: "string", "x-kubernetes-validations": [{ rule }] };
  expect(validateDefinition(definition(property))[0]?.detail).toBe(`compilation failed: ${error}`);
});

test.each([
  "self.all(k, k.startsWith('a') && self[k] > 0)",
  "size(self) < 3 && !('z' in self)",
  "self.map(k, self[k]).all(v, v >= 0)",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && size(self) > 0",
])("validateDefinition takes the rule %p", (rule) => {
  const property = {
    type: "object",
    additionalProperties: { type: "integer" },
    "x-kubernetes-validations": [{ rule }],
  };
  expect(validateDefinition(definition(property)).map(errorText)).toEqual([]);
});

test("validateDefinition keeps names and the group as they are", () => {
  const old = definition({ type: "string" });
  const next = definition({ type: "string" }, { group: "other.io" });
  expect(validateDefinition(next, old).map(errorText)).toEqual([
    'spec.group: Invalid value: "other.io": field is immutable',
    "status.storedVersions: Invalid value: null: must have at least one stored version",
  ]);
});

test("validateDefinition wants one storage version and different names", () => {
  const [version] = (definition({ type: "string" }).spec as { versions: Fields[] }).versions;
  const errors = validateDefinition(definition({}, { versions: [version, version] }));
  expect(errors.map(({ detail }) => detail)).toEqual([
    "must contain unique version names",
    "must have exactly one version marked as storage version",
    "must have the storage version v1",
  ]);
});
