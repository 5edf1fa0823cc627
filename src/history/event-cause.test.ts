import { describe, expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { createLog } from "../observe/log.ts";
import { withCause } from "../queue/entries.ts";
import type { Cause } from "../resource/cause.ts";
import type { AnyObject } from "../resource/handle.ts";
import { EventCause, forgetStates } from "./event-cause.ts";

function map(name: string, version: number, data: object): AnyObject {
  const metadata = { name, namespace: "ns", uid: name, resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data } as AnyObject;
}

function update(name: string, versions: readonly [number, number], data: readonly [object, object]): EventCause {
  const [old, object] = versions.map((version, index) => map(name, version, data[index]!));
  return new EventCause({ source: "for", type: "update", resource: ConfigMap, object: object!, old });
}

describe("EventCause", () => {
  test("has the paths of an update, and none of other events", () => {
    expect(
      update(
        "a",
        [1, 2],
        [
          { x: "1", y: "1" },
          { x: "2", y: "1" },
        ],
      ).paths,
    ).toEqual(["data.x"]);
    const created = new EventCause({ source: "for", type: "create", resource: ConfigMap, object: map("a", 1, {}) });
    expect(created.paths).toBeUndefined();
  });

  test("compares nothing before it is asked, and once", () => {
    let reads = 0;
    const old = map("a", 1, {});
    Object.defineProperty(old, "data", { enumerable: true, get: () => (reads++, { x: "1" }) });
    const cause = new EventCause({
      source: "for",
      type: "update",
      resource: ConfigMap,
      object: map("a", 2, { y: "1" }),
      old,
    });
    const copy: object = Object.fromEntries(Object.entries(cause));
    expect({ copy, reads }).toEqual({
      copy: {
        source: "for",
        type: "update",
        kind: "ConfigMap",
        key: { name: "a", namespace: "ns" },
        resourceVersion: "2",
      },
      reads: 0,
    });
    expect(cause.paths).toEqual(["data.y", "data.x"]);
    const once = reads;
    expect(cause.paths).toEqual(["data.y", "data.x"]);
    expect(reads).toBe(once);
  });

  test("of merged events, it has what differs between the first and the last state", () => {
    const states = [
      { x: "1", y: "1", z: "1" },
      { x: "2", y: "1", z: "2" },
      { x: "2", y: "2", z: "1" },
    ];
    let causes: readonly Cause[] = [];
    for (let step = 1; step < states.length; step++) {
      causes = withCause(causes, update("a", [step, step + 1], [states[step - 1]!, states[step]!]));
      causes = withCause(causes, update("other", [step, step + 1], [{}, { x: "1" }]));
    }
    expect(causes.map(({ key, paths }) => [key?.name, paths])).toEqual([
      ["a", ["data.x", "data.y"]],
      ["other", ["data.x"]],
    ]);
  });

  test("keeps few old states alive, and has no paths without its own", () => {
    const causes = Array.from({ length: 1_000 }, (_, index) => update(`n${index}`, [1, 2], [{ x: "1" }, { x: "2" }]));
    expect(causes.filter(({ states }) => states !== undefined)).toHaveLength(128);
    expect(causes[0]!.paths).toBeUndefined();
    expect(causes.at(-1)!.paths).toEqual(["data.x"]);
    // One that merges with such an event knows only a part of the changes, which would mislead.
    const merged = withCause([causes[0]!], update("n0", [2, 3], [{ x: "2" }, { x: "3" }]));
    expect(merged[0]!.paths).toBeUndefined();
  });

  test("forgets its states when its run is over, but not what was read", () => {
    const [read, unread] = [1, 2].map((version) => update("a", [version, version + 1], [{ x: "1" }, { x: "2" }]));
    expect(read!.paths).toEqual(["data.x"]);
    forgetStates([read!, unread!]);
    expect([read!.paths, unread!.paths]).toEqual([["data.x"], undefined]);
  });

  test("is logged and written as JSON with its paths", () => {
    const lines: string[] = [];
    const cause = update("a", [1, 2], [{ x: "1" }, { x: "2" }]);
    createLog({ level: "info", format: "json", write: (line) => lines.push(line) }).info("why", { causes: [cause] });
    expect((JSON.parse(lines[0]!) as { readonly causes: unknown }).causes).toMatchObject([{ paths: ["data.x"] }]);
    expect(JSON.parse(JSON.stringify(cause))).toMatchObject({ source: "for", paths: ["data.x"] });
  });
});
