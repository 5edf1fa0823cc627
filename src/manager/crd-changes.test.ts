import { expect, test } from "bun:test";
import { z } from "zod";
import { crdOf } from "../resource/crd.ts";
import { defineResource } from "../resource/define.ts";
import { losses, type StoredCrd } from "./crd-changes.ts";

const base = { group: "a.b", version: "v1", kind: "Widget" } as const;
const crd = (spec: z.ZodType) => crdOf(defineResource({ ...base, spec }));

/** Returns the definition as the server would return it. */
function stored(wanted: ReturnType<typeof crdOf>, storedVersions = ["v1"]): StoredCrd {
  return { ...structuredClone(wanted), status: { storedVersions } } as unknown as StoredCrd;
}

const full = crd(
  z.object({
    size: z.int(),
    parts: z.array(z.object({ name: z.string(), weight: z.number().optional() })),
    labels: z.record(z.string(), z.string()).optional(),
  }),
);

const changes: readonly [string, z.ZodType, readonly string[]][] = [
  [
    "a new field loses nothing",
    z.object({ size: z.int(), color: z.string().optional() }),
    ["spec.labels", "spec.parts"],
  ],
  [
    "a field of an item",
    z.object({
      size: z.int(),
      parts: z.array(z.object({ name: z.string() })),
      labels: z.record(z.string(), z.string()).optional(),
    }),
    ["spec.parts[].weight"],
  ],
  [
    "named fields for free ones",
    z.object({ size: z.int(), parts: z.array(z.any()), labels: z.object({ a: z.string() }).optional() }),
    ["spec.labels.*"],
  ],
  ["anything in place of something", z.object({ size: z.any(), parts: z.any(), labels: z.any() }), []],
];

test.each(changes)("losses: %s", (_, spec, paths) => {
  const { outright, withObjects } = losses(stored(full), crd(spec));
  expect(outright).toEqual([]);
  expect(withObjects.map((loss) => /the field (\S+) of v1/.exec(loss)?.[1] ?? loss).sort()).toEqual([...paths]);
});

test("losses: nothing for the same definition", () => {
  expect(losses(stored(full), full)).toEqual({ outright: [], withObjects: [] });
});

test("losses: scope, and versions that are stored or served", () => {
  const cluster = crdOf(defineResource({ ...base, scope: "Cluster", spec: z.object({}) }));
  expect(losses(stored(crd(z.object({}))), cluster).outright).toEqual([
    "its scope is Namespaced and would become Cluster",
  ]);
  const next = crdOf(defineResource({ ...base, version: "v2", spec: z.object({}) }));
  expect(losses(stored(crd(z.object({}))), next).outright).toEqual([
    "version v1, in which objects may be stored, would be removed: `binnacle migrate widgets.a.b` rewrites them",
  ]);
  expect(losses(stored(crd(z.object({})), ["v2"]), next).withObjects).toEqual([
    "version v1 would be removed while there are objects",
  ]);
});
