import { expect, test } from "bun:test";
import { causesText } from "./entries.ts";

test("causesText names source, kind, change and object, newest last", () => {
  const key = { namespace: "default", name: "hello" };
  const causes = [
    { source: "for", type: "create", kind: "Guestbook", key },
    { source: "owns Deployment", type: "update", kind: "Deployment", key },
    { source: "watches", type: "delete", kind: "Node", key: { name: "one" } },
    { source: "retry", type: "generic" },
  ];
  expect(causesText(causes)).toBe(
    "for Guestbook create default/hello; owns Deployment update default/hello; watches Node delete one; retry",
  );
});
