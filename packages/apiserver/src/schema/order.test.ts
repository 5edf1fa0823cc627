import { expect, test } from "bun:test";
import { builtInSchema } from "../tables/tables.ts";
import { inOrder } from "./order.ts";

const configMap = builtInSchema({ group: "", version: "v1", kind: "ConfigMap" })!;

test("inOrder puts fields as Go writes them, maps by their keys, what is unknown last", () => {
  const given = { data: { b: "1", a: "2" }, other: 1, metadata: { namespace: "n", name: "m" }, kind: "ConfigMap" };
  expect(JSON.stringify(inOrder(configMap, given))).toBe(
    '{"kind":"ConfigMap","metadata":{"name":"m","namespace":"n"},"data":{"a":"2","b":"1"},"other":1}',
  );
});
