import { expect, test } from "bun:test";
import { StatusError } from "../status.ts";
import { builtInSchema } from "../tables/tables.ts";
import { jsonPatch, jsonPatchStrictErrors, PatchFailure } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { strategicMergePatch } from "./strategic-merge-patch.ts";

const pod = builtInSchema({ group: "", version: "v1", kind: "Pod" })!;

function codeOf(run: () => unknown): { code: number; message?: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, message: error.message };
  }
  return { code: 200 };
}

test.each<[unknown, unknown[], unknown]>([
  [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  [{ a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  [{ a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  [{ a: [1, 2] }, [{ op: "remove", path: "/a/-1" }], { a: [1] }],
  [{ "a/b~c": 1 }, [{ op: "remove", path: "/a~1b~0c" }], {}],
  [{ a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
  [{ a: {} }, [{ op: "copy", from: "/a", path: "/b" }], { a: {}, b: {} }],
  [{}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  [{}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  [{}, [{ op: "test", path: "/a", value: null }], {}],
  [{ a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
])("jsonPatch does %#", (document, patch, expected) => {
  const before = structuredClone(document);
  expect(jsonPatch(document, patch)).toEqual(expected);
  expect(document).toEqual(before);
});

test.each<unknown[][]>([
  [[{ op: "test", path: "/a", value: 2 }]],
  [[{ op: "remove", path: "/z" }]],
  [[{ op: "add", path: "/x/y", value: 1 }]],
  [[{ op: "nothing", path: "/a" }]],
  [[{ op: "add", path: "a", value: 1 }]],
  [[{ op: "add", path: "/l/5", value: 1 }]],
])("jsonPatch refuses what cannot be done: %#", (patch) => {
  expect(codeOf(() => jsonPatch({ a: 1, l: [] }, patch)).code).toBe(422);
});

test("jsonPatch refuses what is no patch and names unknown fields", () => {
  expect(codeOf(() => jsonPatch({}, {}))).toEqual({
    code: 400,
    message: "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
  });
  expect(jsonPatchStrictErrors([{ op: "add", foo: 1 }])).toEqual(['json patch unknown field "[0].foo"']);
});

test("mergePatch merges objects, replaces lists, removes nulls", () => {
  const document = { a: { b: 1, c: 2 }, l: [1] };
  expect(mergePatch(document, { a: { b: null, d: { e: null, f: 1 } }, l: [null] })).toEqual({
    a: { c: 2, d: { f: 1 } },
    l: [null],
  });
  expect(document).toEqual({ a: { b: 1, c: 2 }, l: [1] });
  expect(codeOf(() => mergePatch({}, [])).code).toBe(400);
});

const live = {
  metadata: { finalizers: ["x", "y"], labels: { a: "1" } },
  spec: {
    containers: [
      { name: "a", image: "1", env: [{ name: "E", value: "1" }] },
      { name: "b", image: "1" },
    ],
    tolerations: [{ key: "k" }],
    volumes: [{ name: "v", emptyDir: {} }],
  },
};

test.each<[string, object, object]>([
  [
    "merges by key",
    { spec: { containers: [{ name: "b", image: "2" }] } },
    { spec: { containers: [live.spec.containers[0]!, { name: "b", image: "2" }] } },
  ],
  [
    "deletes an item",
    { spec: { containers: [{ name: "a", $patch: "delete" }] } },
    { spec: { containers: [{ name: "b", image: "1" }] } },
  ],
  [
    "replaces a list",
    { spec: { containers: [{ $patch: "replace" }, { name: "c" }] } },
    { spec: { containers: [{ name: "c" }] } },
  ],
  [
    "replaces lists that have no key",
    { spec: { tolerations: [{ key: "z" }] } },
    { spec: { tolerations: [{ key: "z" }] } },
  ],
  ["replaces a map", { metadata: { labels: { $patch: "replace", b: "2" } } }, { metadata: { labels: { b: "2" } } }],
  [
    "deletes from lists of scalars",
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] } },
    { metadata: { finalizers: ["y"] } },
  ],
  [
    "keeps only named keys",
    { spec: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "m" } }] } },
    { spec: { volumes: [{ name: "v", configMap: { name: "m" } }] } },
  ],
  [
    "orders items",
    {
      spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", image: "2" }] },
    },
    { spec: { containers: [{ name: "b", image: "2" }, live.spec.containers[0]!] } },
  ],
])("strategicMergePatch %s", (_, patch, expected) => {
  const before = structuredClone(live);
  expect(strategicMergePatch(pod, live, patch)).toMatchObject(expected);
  expect(live).toEqual(before);
});

test.each<[object, number, string]>([
  [{ spec: { containers: [{ image: "x" }] } }, 500, 'map: {"image":"x"} does not contain declared merge key: name'],
  [{ $patch: "foo" }, 500, 'unknown patch type: "foo" in map: {"$patch":"foo"}'],
  [{ spec: { $retainKeys: "x" } }, 400, "invalid patch format of retainKeys"],
  [[], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"],
])("strategicMergePatch refuses %j", (patch, code, message) => {
  expect(codeOf(() => strategicMergePatch(pod, live, patch))).toEqual({ code, message });
});

test("patches keep a field of any name", () => {
  const odd: unknown = JSON.parse('{"data":{"__proto__":"1","constructor":"2"}}');
  const text = JSON.stringify(odd);
  expect(JSON.stringify(mergePatch({ data: {} }, odd))).toBe(text);
  expect(
    JSON.stringify(strategicMergePatch(builtInSchema({ group: "", version: "v1", kind: "ConfigMap" })!, {}, odd)),
  ).toBe(text);
  expect(JSON.stringify(jsonPatch({ data: {} }, [{ op: "add", path: "/data/__proto__", value: "1" }]))).toBe(
    '{"data":{"__proto__":"1"}}',
  );
});

test.each<[object, string]>([
  [
    { op: "add", path: "/x/a~1b", value: 1 },
    'add operation does not apply: doc is missing path: "/x/a~1b": missing value',
  ],
  [
    { op: "add", path: "/list/x", value: 1 },
    `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [
    { op: "add", path: "/list/9", value: 1 },
    "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
  ],
  [{ op: "remove", path: "/x/y" }, 'remove operation does not apply: doc is missing path: "/x/y": missing value'],
  [{ op: "remove", path: "/z" }, "error in remove for path: '/z': Unable to remove nonexistent key: z: missing value"],
  [
    { op: "replace", path: "/x/y", value: 1 },
    "replace operation does not apply: doc is missing path: /x/y: missing value",
  ],
  [
    { op: "replace", path: "/list/7", value: 1 },
    "replace operation does not apply: doc is missing key: /list/7: missing value",
  ],
  [
    { op: "move", from: "/x/y", path: "/z" },
    "move operation does not apply: doc is missing from path: /x/y: missing value",
  ],
  [
    { op: "move", from: "/y", path: "/z" },
    "error in move for path: 'y': Unable to remove nonexistent key: y: missing value",
  ],
  [
    { op: "copy", from: "/list", path: "/x/y" },
    "copy operation does not apply: doc is missing destination path: /x/y: missing value",
  ],
  [{ op: "test", path: "/x/y", value: 1 }, "test operation does not apply: is missing path: /x/y: missing value"],
  [{ op: "test", path: "/list/0", value: 1 }, "testing value /list/0 failed: test failed"],
])("jsonPatch tells admission why %j fails, and clients nothing", (operation, why) => {
  let failure: unknown;
  try {
    jsonPatch({ list: ["a"] }, [operation]);
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeInstanceOf(PatchFailure);
  expect((failure as PatchFailure).why).toBe(why);
  expect((failure as PatchFailure).message).toBe("the server rejected our request due to an error in our request");
  expect((failure as PatchFailure).isFailedTest).toBe(why.endsWith("test failed"));
});
