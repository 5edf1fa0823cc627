import { expect, test } from "bun:test";
import type { Fields, KubeObject } from "../hooks.ts";
import { StatusError } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
import { type ApplyOptions, serverSideApply } from "./server-side-apply.ts";
import { updateManagedFields } from "./update-managed-fields.ts";

const schema = builtInSchema({ group: "apps", version: "v1", kind: "Deployment" })!;
const common = { schema, apiVersion: "apps/v1", subresource: "", now: "2026-01-01T00:00:00Z", force: false };

function object(spec: Fields, metadata: Fields = {}): KubeObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "x", namespace: "d", ...metadata }, spec };
}

function apply(live: KubeObject | undefined, applied: KubeObject, options: Partial<ApplyOptions> = {}) {
  return serverSideApply({ ...common, live, applied, manager: "a", ...options });
}

function stored(applied: { readonly object: KubeObject }): KubeObject {
  const { object: made } = applied;
  return { ...made, metadata: { ...made.metadata, uid: "u" } };
}

function owners(made: KubeObject): Record<string, unknown> {
  const entries = made.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries.map(({ manager, operation, fieldsV1 }) => [`${String(manager)} ${String(operation)}`, fieldsV1]),
  );
}

test("serverSideApply owns what is applied and removes what is applied no longer", () => {
  const first = stored(apply(undefined, object({ replicas: 2, paused: true }, { labels: { a: "1", b: "2" } })));
  expect(owners(first)).toEqual({
    "a Apply": {
      "f:metadata": { "f:labels": { "f:a": {}, "f:b": {} } },
      "f:spec": { "f:paused": {}, "f:replicas": {} },
    },
  });
  const second = apply(first, object({ replicas: 2 }, { labels: { a: "1" } }));
  expect(second.changed).toBe(true);
  expect(second.object.metadata.labels).toEqual({ a: "1" });
  expect(second.object.spec).not.toHaveProperty("paused");
});

test("serverSideApply changes nothing when nothing differs", () => {
  const first = stored(apply(undefined, object({ replicas: 2 })));
  const again = apply(first, object({ replicas: 2 }), { now: "2027-01-01T00:00:00Z" });
  expect(again.changed).toBe(false);
  expect(again.object).toEqual(first);
});

test("serverSideApply refuses to take fields of others unless forced", () => {
  const first = stored(apply(undefined, object({ replicas: 2 })));
  const take = (force: boolean) => apply(first, object({ replicas: 3 }), { manager: "b", force });
  let conflict: unknown;
  try {
    take(false);
  } catch (error) {
    conflict = error;
  }
  expect((conflict as StatusError).status).toMatchObject({
    code: 409,
    reason: "Conflict",
    message: 'Apply failed with 1 conflict: conflict with "a": .spec.replicas',
    details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".spec.replicas" }] },
  });
  expect(owners(take(true).object)).toEqual({ "b Apply": { "f:spec": { "f:replicas": {} } } });
});

test("serverSideApply shares fields that are applied alike and keeps them until the last owner lets go", () => {
  const first = stored(apply(undefined, object({ replicas: 2 })));
  const shared = apply(first, object({ replicas: 2 }), { manager: "b" }).object;
  const { spec: _, ...nothing } = object({});
  const left = apply(shared, nothing).object;
  expect((left.spec as Fields).replicas).toBe(2);
  expect(Object.keys(owners(left))).toEqual(["b Apply"]);
});

test("serverSideApply merges list maps by key, defaulted keys included", () => {
  const ports = (...list: Fields[]) => object({ template: { spec: { containers: [{ name: "c", ports: list }] } } });
  const first = stored(apply(undefined, ports({ containerPort: 80 })));
  const both = apply(first, ports({ containerPort: 80, protocol: "UDP" }), { manager: "b" }).object;
  const spec = both.spec as { template: { spec: { containers: { ports: unknown[] }[] } } };
  expect(spec.template.spec.containers[0]!.ports).toEqual([
    { containerPort: 80 },
    { containerPort: 80, protocol: "UDP" },
  ]);
});

test.each<[KubeObject, number, string]>([
  [
    object({ foo: 1 }),
    500,
    "failed to create typed patch object (d/x; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema",
  ],
  [
    object({ replicas: "x" }),
    500,
    "failed to create typed patch object (d/x; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string",
  ],
  [{ ...object({}), apiVersion: "v1" }, 400, "invalid object type: /v1, Kind=Deployment"],
  [object({}, { managedFields: [] }), 400, "metadata.managedFields must be nil"],
  [
    object({}, { finalizers: ["a", "a"] }),
    500,
    'failed to create typed patch object (d/x; apps/v1, Kind=Deployment): .metadata.finalizers: duplicate entries for key [="a"]',
  ],
])("serverSideApply refuses %#", (applied, code, message) => {
  let error: unknown;
  try {
    apply(undefined, applied);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(StatusError);
  expect((error as StatusError).status).toMatchObject({ code, message });
});

test("updateManagedFields gives the writer what it changed and takes it from the others", () => {
  const first = stored(apply(undefined, object({ replicas: 2, paused: true })));
  const next = { ...first, spec: { ...(first.spec as Fields), replicas: 5 } };
  const made = updateManagedFields({ ...common, live: first, next, manager: "k", now: "2026-01-02T00:00:00Z" });
  expect(owners(made)).toEqual({
    "a Apply": { "f:spec": { "f:paused": {} } },
    "k Update": { "f:spec": { "f:replicas": {} } },
  });
});

test("updateManagedFields leaves alone what a path cannot write", () => {
  const live = stored(apply(undefined, object({ replicas: 2 })));
  const next = { ...live, status: { replicas: 1 }, spec: { replicas: 9 } };
  const made = updateManagedFields({
    ...common,
    live,
    next,
    manager: "k",
    subresource: "status",
    resetFields: [["spec"]],
  });
  expect(made.metadata.managedFields?.[1]).toMatchObject({
    subresource: "status",
    fieldsV1: { "f:status": { "f:replicas": {} } },
  });
});

test("updateManagedFields follows who empties managedFields, and tracks no more", () => {
  const live = stored(apply(undefined, object({ replicas: 2 })));
  const reset = { ...live, metadata: { ...live.metadata, managedFields: [{}] } };
  expect(updateManagedFields({ ...common, live, next: reset, manager: "k" }).metadata.managedFields).toBeUndefined();
});

test("updateManagedFields keeps ten updaters and puts the oldest together", () => {
  let live = stored(apply(undefined, object({ replicas: 1 })));
  for (let index = 0; index < 14; index++) {
    const labels = { ...live.metadata.labels, [`l${index}`]: "1" };
    const next = { ...live, metadata: { ...live.metadata, labels } };
    const now = `2026-02-${String(index + 1).padStart(2, "0")}T00:00:00Z`;
    live = updateManagedFields({ ...common, live, next, manager: `m${index}`, now });
  }
  const updaters = (live.metadata.managedFields ?? []).filter(({ operation }) => operation === "Update");
  expect(updaters).toHaveLength(10);
  expect(updaters[0]).toMatchObject({ manager: "ancient-changes", time: "2026-02-05T00:00:00Z" });
});

test("serverSideApply drops managers of versions that are not served any more, and keeps them where nobody says", () => {
  const entry = {
    manager: "old",
    operation: "Update",
    apiVersion: "apps/v0",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:paused": {} } },
  };
  const live = object({ replicas: 1, paused: true }, { uid: "u", managedFields: [entry] });
  const kept = apply(live, object({ replicas: 1 }));
  expect(Object.keys(owners(kept.object))).toEqual(["a Apply", "old Update"]);
  const dropped = apply(live, object({ replicas: 1 }), { convert: () => undefined });
  expect(Object.keys(owners(dropped.object))).toEqual(["a Apply"]);
});
