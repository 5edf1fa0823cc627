import { expect, test } from "bun:test";
import type { FieldsV1 } from "../resource/meta.ts";
import { differences } from "./field-differences.ts";

const fields = (paths: object): FieldsV1 => paths as FieldsV1;

test("differences names the paths that an apply would change", () => {
  const owned = fields({
    "f:metadata": { "f:labels": { "f:a": {}, "f:old": {} } },
    "f:spec": {
      "f:replicas": {},
      "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {}, "f:image": {} } },
      "f:args": {},
    },
  });
  const live = {
    metadata: { labels: { a: "1", old: "x", theirs: "y" } },
    spec: { replicas: 5, containers: [{ name: "web", image: "web:1", policy: "Always" }], args: ["a"] },
  };
  const desired = {
    metadata: { labels: { a: "1", fresh: "z" } },
    spec: { replicas: 2, containers: [{ name: "web", image: "web:2" }], args: ["a", "b"] },
  };
  expect([...differences(desired, live, owned)].sort()).toEqual([
    "metadata.labels.fresh",
    "metadata.labels.old",
    "spec.args",
    'spec.containers[{"name":"web"}].image',
    "spec.replicas",
  ]);
});

test("differences is empty when nothing differs", () => {
  expect(differences({ data: { a: "1" } }, { data: { a: "1", b: "2" } }, fields({ "f:data": { "f:a": {} } }))).toEqual(
    [],
  );
});
