/**
 * Tests how rules report errors of fields. The validation of the kinds themselves is covered by
 * `packages/apiserver/differential/`, which compares with kube-apiserver: `fields/` for single fields, `generated/` and `sequences/` for
 * changes of objects.
 */
import { expect, test } from "bun:test";
import type { KubeObject, WriteContext } from "../hooks.ts";
import { builtInRows } from "../tables/tables.ts";
import { behaviourOf } from "./behaviours.ts";

function problems(apiVersion: string, kind: string, fields: object): string[] {
  const row = builtInRows().find((one) => one.kind === kind && apiVersion.endsWith(one.version))!;
  const object = { apiVersion, kind, metadata: { name: "a", namespace: "a" }, ...fields } as KubeObject;
  const write = { row, subresource: "", dryRun: false, warn: () => {} } as unknown as WriteContext;
  return (behaviourOf(row).validateCreate?.(object, write) ?? []).map(
    ({ type, field, detail }) => `${field}: ${type}: ${detail}`,
  );
}

const typePod = "may not be specified when `type` is 'Pod'";

test.each([
  [
    "LimitRange",
    { spec: { limits: [{ type: "Pod", default: { nope: "1" } }] } },
    [`spec.limits[0].default: Forbidden: ${typePod}`],
  ],
  [
    "LimitRange",
    { spec: { limits: [{ type: "Container", max: { cpu: "1" }, default: { cpu: "2" } }] } },
    ["spec.limits[0].default[cpu]: Invalid: default value 2 is greater than max value 1"],
  ],
  [
    "RoleBinding",
    { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a/b" } },
    ["roleRef.name: Invalid: may not contain '/'"],
  ],
])("%s %j is refused", (kind, fields, expected) => {
  expect(problems("v1", kind, fields)).toEqual(expected);
});
