import { expect, test } from "bun:test";
import { allSituations } from "./all-situations.ts";
import { compareOutcomes, parseAllowed, withoutAllowed } from "./compare.ts";

test("compareOutcomes names each field that differs", () => {
  const expected = { "1 up": { "Deployment/web": [{ status: { replicas: 3 } }] }, order: ["+ a", "- b"] };
  const actual = { "1 up": { "Deployment/web": [{ status: { replicas: 2 } }] }, order: ["- b", "+ a"] };
  expect(compareOutcomes("web", expected, actual)).toEqual([
    { situation: "web", field: "1 up/Deployment/web/0/status/replicas", expected: 3, actual: 2 },
    { situation: "web", field: "order", expected: ["+ a", "- b"], actual: ["- b", "+ a"] },
  ]);
  expect(compareOutcomes("web", expected, expected)).toEqual([]);
});

test("withoutAllowed leaves what no line names", () => {
  const differences = compareOutcomes("web: up", { events: ["a"], order: ["b"] }, { events: [], order: [] });
  const left = withoutAllowed(differences, parseAllowed("# why\nweb: * | ev* | they come late"));
  expect(left.map(({ field }) => field)).toEqual(["order"]);
  expect(() => parseAllowed("web: * | events")).toThrow("has no reason");
});

test("allSituations have names of their own, and namespaces", () => {
  const names = allSituations.map(({ name }) =>
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 60),
  );
  expect(new Set(names).size).toBe(names.length);
});
