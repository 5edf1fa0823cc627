import { expect, test } from "bun:test";
import { assert, property, string } from "fast-check";
import { StatusError } from "../status.ts";
import { parseLabels } from "./label-selector.ts";
import { listOptions } from "./query.ts";
import { duplicateFields } from "./json-text.ts";
import { parseTarget } from "./target.ts";

test("parseTarget reads resources, objects, subresources and namespaces", () => {
  const shown = (path: string): unknown => {
    const target = parseTarget(path);
    return target && [target.group, target.version, target.namespace, target.plural, target.name, target.subresource];
  };
  expect(shown("/api/v1/pods")).toEqual(["", "v1", "", "pods", "", ""]);
  expect(shown("/api/v1/namespaces/a/pods/b/log")).toEqual(["", "v1", "a", "pods", "b", "log"]);
  expect(shown("/api/v1/namespaces/a")).toEqual(["", "v1", "", "namespaces", "a", ""]);
  expect(shown("/api/v1/namespaces/a/finalize")).toEqual(["", "v1", "", "namespaces", "a", "finalize"]);
  expect(shown("/apis/apps/v1/namespaces/a/deployments/b/")).toEqual(["apps", "v1", "a", "deployments", "b", ""]);
  expect(shown("/apis/apps/v1")).toBeUndefined();
  expect(shown("/healthz")).toBeUndefined();
});

test("parseLabels selects as Kubernetes does", () => {
  const matches = (selector: string, labels: Record<string, string>): boolean => parseLabels(selector)(labels);
  expect(matches("a=b,c", { a: "b", c: "" })).toBe(true);
  expect(matches("a in (x,y),!z", { a: "y" })).toBe(true);
  expect(matches("a notin (x)", {})).toBe(true);
  expect(matches("a!=x", { a: "x" })).toBe(false);
  expect(matches("n>4", { n: "5" })).toBe(true);
  expect(matches("constructor", {})).toBe(false);
});

test.each([
  ["a in", "unable to parse requirement: found '' expected: '('"],
  ["a=b,,c", "found ',', expected: identifier after ','"],
  ["=a", "found '=', expected: !, identifier, or 'end of string'"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
])("parseLabels refuses %s in the server's words", (selector, message) => {
  expect(() => parseLabels(selector)).toThrow(message);
});

test("listOptions checks versions against each other", () => {
  const read = (text: string) => () => listOptions(new URLSearchParams(text));
  expect(read("resourceVersionMatch=Exact")).toThrow("resourceVersionMatch is forbidden unless resourceVersion is");
  expect(read("watch=1&sendInitialEvents=true")).toThrow("sendInitialEvents requires setting resourceVersionMatch");
  expect(read("limit=abc")).toThrow('strconv.ParseInt: parsing "abc": invalid syntax');
});

test("duplicateFields finds repeated names at every depth", () => {
  expect(duplicateFields('{"a":1,"b":{"c":1,"c":2},"l":[{"x":1},{"x":1,"x":2}],"a":"{"}')).toEqual([
    "b.c",
    "l[1].x",
    "a",
  ]);
});

test("selectors and queries never crash", () => {
  assert(
    property(string(), (text) => {
      for (const read of [
        () => parseLabels(text),
        () => listOptions(new URLSearchParams(text)),
        () => parseTarget(`/api/${text}`),
      ]) {
        try {
          read();
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }
    }),
  );
});
