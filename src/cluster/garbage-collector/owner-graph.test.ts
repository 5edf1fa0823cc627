import { describe, expect, test } from "bun:test";
import type { OwnerReference } from "../../index.ts";
import type { Owned } from "./object-feed.ts";
import { OwnerGraph } from "./owner-graph.ts";

interface Made {
  readonly owners?: readonly OwnerReference[];
  readonly namespace?: string;
  readonly finalizers?: readonly string[];
  readonly deleted?: boolean;
}

function made(name: string, { owners, namespace = "shop", finalizers, deleted = false }: Made = {}): Owned {
  const deletionTimestamp = deleted ? "2026-01-01T00:00:00Z" : undefined;
  const metadata = { name, namespace, uid: `uid-${name}`, ownerReferences: owners, finalizers, deletionTimestamp };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function by(name: string, over: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: `uid-${name}`, ...over };
}

function graph(): { graph: OwnerGraph; looks: () => string[]; strays: string[] } {
  const looked: string[] = [];
  const strays: string[] = [];
  const graph = new OwnerGraph({
    look: ({ identity }) => looked.push(identity.uid.replace("uid-", "")),
    strays: ({ identity }, { name }) => strays.push(`${identity.name} by ${name}`),
  });
  return { graph, looks: () => looked.splice(0), strays };
}

describe("OwnerGraph", () => {
  test("an owner that goes gets its dependents looked at", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    expect(looks()).toEqual([]);
    owners.tell({ type: "DELETED", object: made("a"), old: made("a") });
    expect(looks()).toEqual(["b"]);
    expect(owners.absent.has({ ...by("a"), namespace: "shop" })).toBe(true);
  });

  test("an owner that nobody told of is looked at, and believed in until the server says no", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    expect(looks()).toEqual(["a"]);
    expect(owners.get("uid-a")?.isVirtual).toBe(true);
    owners.isGone({ ...by("a"), namespace: "shop" });
    expect(looks()).toEqual(["b"]);
    expect(owners.get("uid-a")).toBeUndefined();
  });

  test("a dependent that was seen before its owner is no reason for a second look", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    looks();
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    expect(looks()).toEqual([]);
    expect(owners.get("uid-a")?.isVirtual).toBe(false);
  });

  test("dependents that name an owner differently: the other name is tried before anything is believed", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a", { name: "wrong" })] }), old: undefined });
    owners.tell({ type: "ADDED", object: made("c", { owners: [by("a")] }), old: undefined });
    expect(looks()).toEqual(["a", "c"]);
    owners.isGone({ ...by("a", { name: "wrong" }), namespace: "shop" });
    expect(owners.get("uid-a")?.identity.name).toBe("a");
    expect(looks()).toEqual(["b", "a"]);
  });

  test("what was told of is not gone because a wrong name of it is not there", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a", { name: "wrong" })] }), old: undefined });
    expect(looks()).toEqual(["b"]);
    owners.isGone({ ...by("a", { name: "wrong" }), namespace: "shop" });
    expect(owners.get("uid-a")).toBeDefined();
    expect(looks()).toEqual(["b"]);
  });

  test("an owner in another namespace is told of, whoever comes first", () => {
    const first = graph();
    first.graph.tell({ type: "ADDED", object: made("a", { namespace: "other" }), old: undefined });
    first.graph.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    expect(first.strays).toEqual(["b by a"]);
    expect(first.looks()).toEqual(["b"]);
    const second = graph();
    second.graph.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    second.graph.tell({ type: "ADDED", object: made("a", { namespace: "other" }), old: undefined });
    expect(second.strays).toEqual(["b by a"]);
    expect(second.looks()).toEqual(["a", "b"]);
  });

  test("deletion in the foreground looks at the dependents and the owner, and again when the last one goes", () => {
    const { graph: owners, looks } = graph();
    const leaving = made("a", { finalizers: ["foregroundDeletion"], deleted: true });
    const blocking = made("b", { owners: [by("a", { blockOwnerDeletion: true })] });
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    owners.tell({ type: "ADDED", object: blocking, old: undefined });
    owners.tell({ type: "MODIFIED", object: leaving, old: made("a") });
    expect(looks()).toEqual(["b", "a"]);
    expect(owners.get("uid-a")?.blockingDependents).toHaveLength(1);
    owners.tell({ type: "MODIFIED", object: leaving, old: leaving });
    expect(looks()).toEqual([]);
    owners.tell({ type: "DELETED", object: blocking, old: blocking });
    expect(looks()).toEqual(["a"]);
    expect(owners.get("uid-a")?.blockingDependents).toHaveLength(0);
  });

  test("a dependent that stops to block gets its owner looked at", () => {
    const { graph: owners, looks } = graph();
    const before = made("b", { owners: [by("a", { blockOwnerDeletion: true })] });
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    owners.tell({ type: "ADDED", object: before, old: undefined });
    owners.tell({ type: "MODIFIED", object: made("b", { owners: [by("a")] }), old: before });
    expect(looks()).toEqual(["a"]);
    owners.tell({ type: "MODIFIED", object: made("b"), old: made("b", { owners: [by("a")] }) });
    expect(owners.get("uid-a")?.dependents.size).toBe(0);
  });

  test("deletion that orphans looks at the owner alone", () => {
    const { graph: owners, looks } = graph();
    owners.tell({ type: "ADDED", object: made("a"), old: undefined });
    owners.tell({ type: "ADDED", object: made("b", { owners: [by("a")] }), old: undefined });
    owners.tell({ type: "MODIFIED", object: made("a", { finalizers: ["orphan"], deleted: true }), old: made("a") });
    expect(looks()).toEqual(["a"]);
    expect(owners.get("uid-a")?.isOrphaning).toBe(true);
  });
});
