import { expect, test } from "bun:test";
import { edit } from "./edit.ts";

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

interface Example {
  readonly name: string;
  readonly list: readonly { readonly a: number }[];
  readonly labels?: Readonly<Record<string, string>>;
}

test("edit gives a changed copy of a frozen object", () => {
  const object: Example = frozen({ name: "x", list: [{ a: 1 }], labels: { keep: "1" } });
  const changed = edit(object, (draft) => {
    draft.name = "y";
    draft.list.push({ a: 2 });
    for (const item of draft.list) item.a++;
    delete draft.labels;
  });
  expect(changed).toEqual({ name: "y", list: [{ a: 2 }, { a: 3 }] });
  expect(object).toEqual({ name: "x", list: [{ a: 1 }], labels: { keep: "1" } });
});

test("edit takes an expression as well", () => {
  const object: Example = { name: "x", list: [] };
  expect(edit(object, (draft) => draft.list.push({ a: 1 })).list).toEqual([{ a: 1 }]);
});

test("edit keeps a field named __proto__ a field", () => {
  const object = JSON.parse('{"labels":{"__proto__":{"a":1}}}') as object;
  expect(JSON.stringify(edit(object, () => {}))).toBe('{"labels":{"__proto__":{"a":1}}}');
});

test("edit refuses a promise, which would come too late", () => {
  const later = (async () => {}) as () => void;
  expect(() => edit({ a: 1 }, later)).toThrow("Cannot edit: the function must not be async");
});
