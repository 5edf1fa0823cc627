import { expect, test } from "bun:test";
import { duplicateFields, findingsInOrder } from "./strict-json.ts";

test("duplicateFields names each repeated field once, with its path", () => {
  expect(duplicateFields('{"a":1,"a":2,"a":3,"b":[{"c":1},{"c":1,"c":2}]}')).toEqual(["a", "b[1].c"]);
});

test("findingsInOrder reports unknown and repeated fields in the order of the text", () => {
  const text = '{"nope":{"a":1,"a":2},"nope":2,"spec":{"b":1,"other":1,"b":2}}';
  expect(findingsInOrder(text, ['unknown field "nope"', 'unknown field "spec.other"'])).toEqual([
    'unknown field "nope"',
    'unknown field "spec.other"',
    'duplicate field "spec.b"',
  ]);
});

test("findingsInOrder keeps unknown fields that the text does not show", () => {
  expect(findingsInOrder("{}", ['unknown field "a"'])).toEqual(['unknown field "a"']);
});
