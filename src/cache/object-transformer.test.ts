import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { Projection } from "./object-transformer.ts";

const all = new Projection([{ bodies: "all", managers: [] }]);

/** Freshly parsed, so that nothing of it is shared yet. */
function parsed(kind: string, data: unknown): AnyObject & { readonly data: Record<string, unknown> } {
  return JSON.parse(JSON.stringify({ apiVersion: "v1", kind, metadata: { name: "a" }, data })) as never;
}

function held(kind: string): number {
  Bun.gc(true);
  const before = heapStats().extraMemorySize;
  const text = "x".repeat(100_000);
  const objects = Array.from({ length: 200 }, () => parsed(kind, { text, short: "y" }));
  for (const object of objects) all.take(object);
  Bun.gc(true);
  const after = heapStats().extraMemorySize;
  expect(objects.every(({ data }) => data["text"] === text && data["short"] === "y")).toBe(true);
  return after - before;
}

test("a long text that many objects have is held once, except in Secrets", () => {
  expect(held("ConfigMap")).toBeLessThan(5_000_000);
  expect(held("Secret")).toBeGreaterThan(15_000_000);
});

test("texts that all differ are not gathered, and data of any shape stays as it is", () => {
  for (let index = 0; index < 300; index++) all.take(parsed("ConfigMap", { text: String(index).repeat(10_000) }));
  Bun.gc(true);
  const before = heapStats().extraMemorySize;
  for (let index = 0; index < 300; index++) all.take(parsed("ConfigMap", { text: `${index}-`.repeat(10_000) }));
  Bun.gc(true);
  expect(heapStats().extraMemorySize - before).toBeLessThan(5_000_000);
  const long = "z".repeat(2_000_000);
  for (const data of [undefined, null, "text", 5, { a: null, b: { c: "d" }, e: 1, long }, ["x".repeat(300)]]) {
    const object = parsed("Other", data);
    all.take(object);
    expect(object.data as unknown).toEqual(data);
  }
});
