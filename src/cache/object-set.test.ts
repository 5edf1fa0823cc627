import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { KeptPaths } from "./object-set.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "", managedFields: [{ manager: "x" }] },
  spec: { nodeName: "n", containers: [{ name: "c", image: "i", env: [] }], volumes: [] },
  status: { podIP: "1.2.3.4", phase: "Running" },
};
const { managedFields: _, ...metadata } = pod.metadata;

test("KeptPaths keeps metadata and the paths, through arrays, and nothing else", () => {
  const kept = new KeptPaths(["spec.nodeName", "status.podIP", "spec.containers.image", "spec.none.of.this"]);
  expect(kept.take(pod as unknown as AnyObject) as unknown).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec: { nodeName: "n", containers: [{ image: "i" }] },
    status: { podIP: "1.2.3.4" },
  });
});

test("KeptPaths keeps all of a path that another one names a part of, in any order", () => {
  for (const paths of [
    ["status", "status.podIP"],
    ["status.podIP", "status"],
  ]) {
    expect((new KeptPaths(paths).take(pod as unknown as AnyObject) as unknown as typeof pod).status).toEqual(
      pod.status,
    );
  }
});

test("KeptPaths of no paths is metadata only, and equal sets have one text", () => {
  const none = new KeptPaths([]);
  expect([none.isMetadataOnly, none.text, none.take(pod as unknown as AnyObject) as unknown]).toEqual([
    true,
    "",
    { apiVersion: "v1", kind: "Pod", metadata },
  ]);
  expect(new KeptPaths(["b", "a", "b"]).text).toBe(new KeptPaths(["a", "b"]).text);
});
