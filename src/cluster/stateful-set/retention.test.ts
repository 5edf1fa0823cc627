import { describe, expect, test } from "bun:test";
import type { OwnerReference } from "../../index.ts";
import type { PersistentVolumeClaim, StatefulSet } from "../../resource/builtin/index.ts";
import { controlledBy, type Owner } from "../workload/owner.ts";
import { isRetained, retainedBy } from "./retention.ts";

function set(whenDeleted: string, whenScaled: string): StatefulSet {
  const spec = { replicas: 2, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } };
  return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web", uid: "set" }, spec } as StatefulSet;
}

function pod(name: string, uid = "pod"): Owner {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, uid } };
}

function claim(...ownerReferences: OwnerReference[]): PersistentVolumeClaim {
  return { metadata: { name: "data-web-0", ownerReferences } } as unknown as PersistentVolumeClaim;
}

const stays = pod("web-1");
const goes = pod("web-2");

describe("retainedBy", () => {
  test.each([
    ["Retain", "Retain", stays, []],
    ["Retain", "Retain", goes, []],
    ["Delete", "Retain", stays, ["StatefulSet"]],
    ["Delete", "Retain", goes, ["StatefulSet"]],
    ["Retain", "Delete", stays, []],
    ["Retain", "Delete", goes, ["Pod"]],
    ["Delete", "Delete", stays, ["StatefulSet"]],
    ["Delete", "Delete", goes, ["Pod"]],
  ] as const)("whenDeleted %s, whenScaled %s", (whenDeleted, whenScaled, of, kinds) => {
    const owner = set(whenDeleted, whenScaled);
    // These are all states that an earlier policy may have left.
    for (const before of [claim(), claim(controlledBy(owner)), claim(controlledBy(of))]) {
      const references = retainedBy(before, owner, of);
      expect(references.map(({ kind }) => kind)).toEqual([...kinds]);
      expect(isRetained(claim(...references), owner, of)).toBe(true);
      const isSame = before.metadata.ownerReferences?.[0]?.kind === kinds[0];
      expect(isRetained(before, owner, of)).toBe(isSame);
    }
  });

  test("leaves a claim that somebody else controls", () => {
    const owner = set("Delete", "Delete");
    const other = controlledBy({ apiVersion: "example.com/v1", kind: "Backup", metadata: { name: "b", uid: "b" } });
    expect(isRetained(claim(other), owner, stays)).toBe(true);
    expect(retainedBy(claim(other, controlledBy(owner)), owner, stays)).toEqual([other]);
  });

  test("does not touch the claim of an earlier pod of the name", () => {
    const owner = set("Delete", "Delete");
    expect(isRetained(claim(controlledBy(pod("web-1", "earlier"))), owner, stays)).toBe(true);
  });
});
