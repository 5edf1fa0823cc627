import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import type { AnyObject } from "../resource/handle.ts";
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
  clock.advance(3_000);
  expect(told).toEqual([]);
});
