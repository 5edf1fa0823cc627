import { expect, test } from "bun:test";
import { guardedOperations } from "./write-body.ts";

test("a field that is named like a member of every object, and is new, may not be there yet", () => {
  const patch = JSON.parse('{"seen":{"constructor":"a","__proto__":"b","known":"c"}}') as object;
  expect(guardedOperations("/status", { seen: { known: "x" } }, patch)).toEqual([
    { op: "test", path: "/status/seen/constructor", value: null },
    { op: "add", path: "/status/seen/constructor", value: "a" },
    { op: "test", path: "/status/seen/__proto__", value: null },
    { op: "add", path: "/status/seen/__proto__", value: "b" },
    { op: "add", path: "/status/seen/known", value: "c" },
  ]);
});
