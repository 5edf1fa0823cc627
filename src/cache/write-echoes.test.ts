import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { Delta } from "./delta-fifo.ts";
import { WriteEchoes } from "./write-echoes.ts";

function object(version: number): AnyObject {
  const metadata = { name: "a", uid: "u", resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const line = (one: AnyObject) => JSON.stringify({ type: "MODIFIED", object: one });
const copied = (one: AnyObject) => ({ ...one });

/** Two deferred events of one key, as they were parsed. */
function setUp() {
  const echoes = new WriteEchoes();
  const [first, second] = [new Delta("Updated", object(1)), new Delta("Updated", object(2))];
  first.next = second;
  for (const delta of [first, second]) echoes.defer(delta, line(delta.object));
  return { echoes, first, second };
}

test("WriteEchoes finds the deferred object of a response, and puts the stored one in its place", () => {
  const { echoes, first, second } = setUp();
  expect(echoes.find(first, JSON.stringify(object(3)))).toBeUndefined();
  const parsed = echoes.find(first, `${JSON.stringify(object(2))}\n`)!;
  expect(parsed).toBe(second.object);
  const stored = copied(parsed);
  echoes.remember({ key: "a", object: stored, text: JSON.stringify(stored) }, parsed, first);
  expect([second.object === stored, echoes.size]).toEqual([true, 0]);
  expect(echoes.find(first, `${JSON.stringify(object(2))}\n`)).toBeUndefined();
  echoes.release(second, () => object(9));
  expect(second.object).toBe(stored);
});

test("WriteEchoes transforms released objects once, and copies those that a response holds too", () => {
  const { echoes, first, second } = setUp();
  echoes.find(first, JSON.stringify(object(2)));
  const seen: boolean[] = [];
  for (const delta of [first, second, first]) {
    echoes.release(delta, (one, shared) => {
      seen.push(shared);
      return copied(one);
    });
  }
  expect(seen).toEqual([false, true]);
});

test("WriteEchoes gives the echo of a write that was released the stored object", () => {
  const { echoes, first } = setUp();
  const stored = object(1);
  echoes.remember({ key: "a", object: stored, text: JSON.stringify(stored) }, object(1), undefined);
  expect(echoes.size).toBe(1);
  echoes.release(first, () => object(9));
  expect([first.object === stored, echoes.size]).toEqual([true, 0]);
});
