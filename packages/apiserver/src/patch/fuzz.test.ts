/** Whatever clients send, the result is a value or a StatusError, and arguments stay as they are. */
import { test } from "bun:test";
import * as fc from "fast-check";
import { customSchema } from "../schema/custom.ts";
import { decodeBuiltIn } from "../schema/decode.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { validateDefinition } from "../schema/definition.ts";
import { prune } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";
import { validate } from "../schema/validate.ts";
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import { StatusError } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { serverSideApply } from "./server-side-apply.ts";
import { strategicMergePatch } from "./strategic-merge-patch.ts";
import { updateManagedFields } from "./update-managed-fields.ts";

const pod = builtInSchema({ group: "", version: "v1", kind: "Pod" })!;
const crd = builtInSchema({ group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" })!;
const item = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
const thing = customSchema(
  {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          containers: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: item,
          },
          finalizers: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
          labels: { type: "object", additionalProperties: { type: "string" } },
          image: { type: "string", "x-kubernetes-validations": [{ rule: "self.size() < 3 || self == oldSelf" }] },
          env: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    },
  },
  { kind: "Thing", custom: true } as KindRow,
);

const names = [
  "metadata spec status containers name image env value ports containerPort protocol labels finalizers volumes emptyDir",
  "tolerations resources limits cpu $patch $retainKeys $setElementOrder/containers $deleteFromPrimitiveList/finalizers",
  "managedFields manager operation apiVersion fieldsV1 f:spec . __proto__ constructor toString a/b ~ 0 -1",
].join(" ");
const key = fc.constantFrom(...names.split(" "));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      1.5,
      3e9,
      "",
      "x",
      "replace",
      "delete",
      "merge",
      "1Gi",
      "2020-01-01T00:00:00Z",
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map((fields) => JSON.parse(objectText(fields)) as unknown),
  ),
}));

/** Makes the text of an object as a parsed body has it, where `__proto__` is a field like any other. */
function objectText(fields: readonly (readonly [string, unknown])[]): string {
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${JSON.stringify(field)}`).join(",")}}`;
}

const operation = fc.record({
  op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"),
  path: fc.array(key, { maxLength: 4 }).map((steps) => steps.map((step) => `/${step}`).join("")),
  from: fc.array(key, { maxLength: 3 }).map((steps) => steps.map((step) => `/${step}`).join("")),
  value,
});

function survives(run: () => unknown, ...kept: readonly unknown[]): void {
  const before = JSON.stringify(kept);
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
  if (JSON.stringify(kept) !== before) throw new Error("an argument was changed");
}

function asObject(spec: unknown, metadata: unknown = {}): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: metadata as KubeObject["metadata"], spec };
}

const common = { apiVersion: "v1", manager: "m", subresource: "", now: "2026-01-01T00:00:00Z" };

test("patches survive whatever is sent", () => {
  const property = fc.property(value, value, fc.array(operation, { maxLength: 3 }), (one, other, operations) => {
    const document = asObject(one);
    survives(() => jsonPatch(document, operations), document, operations);
    survives(() => mergePatch(document, other), document, other);
    const live = decodeBuiltIn(pod, asObject(one)).object ?? asObject({});
    survives(() => strategicMergePatch(pod, live, asObject(other)), live, other);
  });
  fc.assert(property, { numRuns: 300 });
});

test("ownership survives whatever is sent", () => {
  const property = fc.property(value, value, value, (one, other, metadata) => {
    for (const schema of [pod, thing] as Schema[]) {
      const live = schema === pod ? decodeBuiltIn(pod, asObject(one)).object : asObject(one);
      if (live === undefined) continue;
      survives(
        () =>
          serverSideApply({
            ...common,
            schema,
            live: live as KubeObject,
            applied: asObject(other),
            force: true,
          }),
        live,
        other,
      );
      const next = { ...(live as KubeObject), metadata: { managedFields: [metadata as Fields] } };
      survives(() => updateManagedFields({ ...common, schema, live: live as KubeObject, next }), live, metadata);
    }
  });
  fc.assert(property, { numRuns: 200 });
});

test("schemas survive whatever is sent", () => {
  const property = fc.property(value, value, (one, other) => {
    survives(() => decodeBuiltIn(pod, one), one);
    survives(() => decodeBuiltIn(pod, one, { from: "unstructured" }), one);
    const custom = structuredClone(asObject(one, other));
    survives(() => {
      const copy = structuredClone(custom);
      prune(thing, copy);
      applyDefaults(thing, copy);
      validate(thing, copy, { old: custom });
    }, custom);
    const versions = [{ name: "v1", schema: { openAPIV3Schema: one } }, other];
    const definition = decodeBuiltIn(crd, asObject({ group: "x.io", versions }, { name: "x" })).object;
    if (definition !== undefined) survives(() => validateDefinition(definition as KubeObject), definition);
  });
  fc.assert(property, { numRuns: 300 });
});
