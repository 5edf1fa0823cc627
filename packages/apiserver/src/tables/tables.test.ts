import { expect, test } from "bun:test";
import {
  builtInRows,
  builtInSchema,
  openApiV2,
  openApiV2Protobuf,
  openApiV3,
  openApiV3Hash,
  openApiV3Paths,
} from "./tables.ts";

test("builtInRows has every served kind, the core group first", () => {
  const rows = builtInRows();
  expect(rows.length).toBeGreaterThan(60);
  expect(rows[0]?.group).toBe("");
  expect(rows.find(({ kind }) => kind === "Deployment")).toMatchObject({
    group: "apps",
    version: "v1",
    plural: "deployments",
    singular: "deployment",
    shortNames: ["deploy"],
    categories: ["all"],
    namespaced: true,
    storageVersion: "v1",
    custom: false,
  });
  const scale = rows.find(({ kind }) => kind === "Deployment")?.subresources.find(({ name }) => name === "scale");
  expect(scale?.responseKind).toEqual({ group: "autoscaling", version: "v1", kind: "Scale" });
});

test("builtInSchema has a schema of every row", () => {
  for (const row of builtInRows()) expect(builtInSchema(row)?.properties?.has("metadata"), row.kind).toBeDefined();
  expect(builtInSchema({ group: "", version: "v1", kind: "Nothing" })).toBeUndefined();
  expect(builtInSchema({ group: "constructor", version: "v1", kind: "x" })).toBeUndefined();
});

test("builtInSchema resolves types that hold themselves", () => {
  const crd = builtInSchema({ group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" })!;
  const props = crd.properties!.get("spec")!.properties!.get("versions")!.items!.properties!.get("schema")!;
  const schema = props.properties!.get("openAPIV3Schema")!;
  const inner = schema.properties!.get("properties")!.additional!;
  expect(inner.properties).toBe(schema.properties);
});

test("builtInSchema carries what merging and patches need", () => {
  const pod = builtInSchema({ group: "", version: "v1", kind: "Pod" })!.properties!.get("spec")!;
  const containers = pod.properties!.get("containers")!;
  expect(containers).toMatchObject({ type: "array", listType: "map", listKeys: ["name"], patchMergeKey: "name" });
  const ports = containers.items!.properties!.get("ports")!;
  expect(ports.listKeys).toEqual(["containerPort", "protocol"]);
  expect(ports.items!.properties!.get("protocol")!.default).toBe("TCP");
  expect(pod.properties!.get("volumes")!.patchStrategies).toEqual(["merge", "retainKeys"]);
  expect(pod.properties!.get("nodeSelector")!.mapType).toBe("atomic");
});

test("the documents are those of the server", () => {
  expect(openApiV3Paths()).toContain("apis/apps/v1");
  const apps = JSON.parse(new TextDecoder().decode(openApiV3("apis/apps/v1"))) as { openapi: string };
  expect(apps.openapi).toStartWith("3.");
  expect(openApiV3("apis/none/v1")).toBeUndefined();
  expect(openApiV3Hash("apis/apps/v1")).toMatch(/^[0-9A-F]{128}$/);
  const v2 = JSON.parse(new TextDecoder().decode(openApiV2())) as { swagger: string };
  expect(v2.swagger).toBe("2.0");
  expect(openApiV2Protobuf().length).toBeGreaterThan(100_000);
});
