import { expect, test } from "bun:test";
import { type Reply, sendJson, sendStatus, startLoopback } from "../../tests/support/loopback-server.ts";
import { defineController, defineResource, watch, z } from "../index.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { checkCluster } from "./dead-finalizers.ts";

const kind = (name: string) =>
  defineResource({ group: "demo.dev", version: "v1", kind: name, spec: z.object({}), names: {} });
const Box = kind("Box");
const Crate = kind("Crate");
const Barrel = kind("Barrel");
const definitions = collectDefinitions([
  defineController({
    for: watch(Box, { namespaces: ["a"] }),
    formerly: ["casket"],
    async reconcile() {},
    async finalize() {},
  }),
  defineController({ name: "reader", for: Box, async reconcile() {} }),
  defineController({ for: Crate, async reconcile() {}, async finalize() {} }),
  defineController({ for: Barrel, async reconcile() {}, async finalize() {} }),
]);
const modules: readonly LoadedModule[] = [
  { name: "m", file: "m.ts", definitions, invoke: (call) => call(), dispose: () => {} },
];

const box = (key: string, finalizers: string[], more = {}) => {
  const [namespace, name] = key.split("/");
  return { metadata: { namespace, name, uid: key, resourceVersion: "1", finalizers, ...more } };
};

test("checkCluster names the finalizers that nobody removes and why, kinds it may not list, and kinds not installed", async () => {
  let barrels: unknown[] | undefined;
  const list = (reply: Reply, items: readonly unknown[]): void =>
    sendJson(reply, {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: "1" },
      items,
    });
  await using server = await startLoopback(({ path }, reply) => {
    if (path.endsWith("/crates")) {
      return sendStatus(reply, 403, { reason: "Forbidden", message: 'User "jane" cannot list resource "crates"' });
    }
    if (path.endsWith("/barrels") && barrels !== undefined) return list(reply, barrels);
    if (!path.endsWith("/boxes")) return sendStatus(reply, 404, { reason: "NotFound" });
    list(reply, [
      box("a/live", ["demo.dev/box", "demo.dev/casket", "other.dev/x"]),
      box("a/old", ["demo.dev/chest"], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      box("a/old2", ["demo.dev/chest"]),
      box("a/read", ["demo.dev/reader"]),
      box("b/away", ["demo.dev/box"]),
    ]);
  });
  const { notes, problems } = await checkCluster(modules, { cluster: server.config, namespaces: undefined });
  expect(notes).toEqual(["Box (demo.dev/v1): objects: 5", "Barrel (demo.dev/v1): not installed"]);
  expect(problems).toEqual([
    "Box (demo.dev/v1): nothing removes the finalizer demo.dev/chest, because no controller here is called 'chest', " +
      "now or `formerly` (objects: 2, being deleted: 1, such as a/old)",
    "Box (demo.dev/v1): nothing removes the finalizer demo.dev/reader, because controller 'reader' has no `finalize` " +
      "(objects: 1, being deleted: 0, such as a/read)",
    "Box (demo.dev/v1): nothing removes the finalizer demo.dev/box, because controller 'box' does not watch their " +
      "namespace (objects: 1, being deleted: 0, such as b/away)",
    'Crate (demo.dev/v1): Cannot list crates.demo.dev: Forbidden (403): User "jane" cannot list resource "crates". Grant it ' +
      'in a ClusterRole: apiGroups ["demo.dev"], resources ["crates"], verbs ["list"]',
  ]);
  barrels = [box("a/one", ["demo.dev/barrel"]), box("b/other", ["demo.dev/barrel"])];
  const narrowed = await checkCluster(modules, { cluster: server.config, namespaces: ["b"] });
  expect(narrowed.problems).toEqual([
    ...problems, // `--namespace` does not apply to a controller that names its namespaces
    "Barrel (demo.dev/v1): nothing removes the finalizer demo.dev/barrel, because controller 'barrel' does not watch " +
      "their namespace (objects: 1, being deleted: 0, such as a/one)",
  ]);
  const lists = server.requests.filter(({ path }) => path !== "/apis" && path !== "/api/v1");
  expect(lists.every(({ headers }) => String(headers["accept"]).includes("PartialObjectMetadataList"))).toBe(true);
});

test("checkCluster names what modules that are gone have left behind, and nobody else's finalizers", async () => {
  const set = (manager: string, finalizer: string) => ({
    manager,
    operation: "Update",
    fieldsV1: { "f:metadata": { "f:finalizers": { ".": {}, [`v:"${finalizer}"`]: {} } } },
  });
  const left = { managedFields: [set("casket", "demo.dev/casket")] };
  const items = [
    box("a/left", ["demo.dev/casket"], left),
    box("b/left", ["demo.dev/casket"], { ...left, deletionTimestamp: "2026-01-01T00:00:00Z" }),
    box("a/theirs", ["demo.dev/protection"], { managedFields: [set("their-operator", "demo.dev/protection")] }),
    box("a/free", []),
  ];
  const maps = [box("a/map", ["binnacle.dev/mirror"], { managedFields: [set("mirror", "binnacle.dev/mirror")] })];
  const list = (reply: Reply, some: readonly unknown[]): void =>
    sendJson(reply, {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: "1" },
      items: some,
    });
  const kindRow = (name: string, kind: string, verbs = ["list", "watch"]) => ({ name, kind, namespaced: true, verbs });
  await using server = await startLoopback(({ path }, reply) => {
    if (path === "/apis") return sendJson(reply, { groups: [{ preferredVersion: { groupVersion: "demo.dev/v1" } }] });
    if (path === "/api/v1") {
      const resources = [
        kindRow("configmaps", "ConfigMap"),
        kindRow("secrets", "Secret"),
        kindRow("componentstatuses", "ComponentStatus", ["get", "list"]), // its list has no version
        kindRow("pods/exec", "Exec"),
      ];
      return sendJson(reply, { resources: [...resources, kindRow("bindings", "Binding", ["create"])] });
    }
    if (path === "/apis/demo.dev/v1") return sendJson(reply, { resources: [kindRow("boxes", "Box")] });
    if (path.endsWith("/boxes")) return list(reply, items);
    if (path.endsWith("/configmaps")) return list(reply, maps);
    return sendStatus(reply, 403, { reason: "Forbidden", message: "no" });
  });
  expect(await checkCluster([], { cluster: server.config, namespaces: undefined })).toEqual({
    notes: ["other kinds: 2, objects: 5", "not looked through, because listing is forbidden: Secret"],
    problems: [
      "ConfigMap (v1): nothing removes the finalizer binnacle.dev/mirror, because no controller here is for this kind " +
        "(objects: 1, being deleted: 0, such as a/map)",
      "Box (demo.dev/v1): nothing removes the finalizer demo.dev/casket, because no controller here is for this kind " +
        "(objects: 2, being deleted: 1, such as a/left)",
    ],
  });
});
