import { expect, test } from "bun:test";
import type { SharedInformer } from "../cache/shared-informer.ts";
import { type AnyObject, handle } from "../resource/handle.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { declarationsOf } from "./declarations.ts";
import { FinalizerClaims } from "./finalizer-claims.ts";

const box = (name: string, ...finalizers: string[]): AnyObject => ({
  apiVersion: "demo.dev/v1",
  kind: "Box",
  metadata: { name, namespace: "a", uid: name, resourceVersion: "1", finalizers } as unknown as AnyObject["metadata"],
});

function setUp() {
  const clock = new FakeClock();
  const told: object[] = [];
  const claims = new FinalizerClaims({ clock, log: { warn: (_, fields) => void told.push(fields!) } });
  const handler = claims.watching("demo.dev/");
  return { clock, told, claims, see: (object: AnyObject) => handler.onAdd(object, { isInInitialList: true }) };
}

test("FinalizerClaims warns once of each finalizer of the domain that no controller has, with how many and one of them", () => {
  const { clock, told, claims, see } = setUp();
  using _claim = claims.claim(["demo.dev/box"]);
  see(box("x", "demo.dev/box", "demo.dev/old", "other.dev/old"));
  see(box("y", "demo.dev/old"));
  clock.advance(3_000);
  see(box("z", "demo.dev/old"));
  clock.advance(10_000);
  expect(told).toEqual([{ finalizer: "demo.dev/old", kind: "Box", objects: 2, example: "a/x" }]);
});

test("FinalizerClaims waits for modules that are loaded later, and leaves no timer behind", () => {
  const { clock, told, claims, see } = setUp();
  const first = claims.claim(["demo.dev/box"]);
  see(box("x", "demo.dev/late"));
  const late = claims.claim(["demo.dev/late"]);
  clock.advance(3_000);
  expect(told).toEqual([]);
  late[Symbol.dispose]();
  see(box("x", "demo.dev/late"));
  first[Symbol.dispose]();
  claims.stop();
  clock.advance(3_000);
  expect([told, clock.timers]).toEqual([[], 0]);
});

test("FinalizerClaims names what a controller that is removed leaves behind, unless it comes back or the process stops", () => {
  const { clock, told, claims } = setUp();
  const Box = handle({ apiVersion: "demo.dev/v1", kind: "Box", scope: "Namespaced", plural: "boxes" });
  const declarations = declarationsOf({ for: Box, async reconcile() {}, async finalize() {} });
  const objects = [box("x", "demo.dev/box"), box("y", "demo.dev/box", "demo.dev/other"), box("z")];
  const informer = {
    store: { entries: () => objects.map((object) => [object.metadata.name, object]) },
    addHandler: () => ({ [Symbol.dispose]() {} }),
  } as unknown as SharedInformer;
  const own = () => claims.own(declarations, informer);
  own()[Symbol.dispose]();
  const again = own(); // the new version of its module
  clock.advance(3_000);
  expect(told).toEqual([]);
  again[Symbol.dispose]();
  clock.advance(3_000);
  expect(told).toEqual([{ finalizer: "demo.dev/box", kind: "Box", objects: 2, example: "a/x" }]);
  const last = own();
  claims.stop();
  last[Symbol.dispose]();
  clock.advance(3_000);
  expect(told).toHaveLength(1);
});
