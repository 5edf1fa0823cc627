import { expect, test } from "bun:test";
import { readTypeErrors } from "./type-check.ts";

test("readTypeErrors reads what the compiler prints, an error each", () => {
  const text = `c/a.ts(3,16): error TS2305: Module '"./_h.ts"' has no exported member 'nope'.
c/a (1).ts(5,7): error TS2322: Type '{ a: string; }' is not assignable to type 'A'.
  Types of property 'a' are incompatible.
    Type 'string' is not assignable to type 'number'.
error TS6053: File 'x' not found.`;
  expect(readTypeErrors(text)).toEqual([
    { file: "c/a.ts:3:16", reason: `TS2305: Module '"./_h.ts"' has no exported member 'nope'.` },
    {
      file: "c/a (1).ts:5:7",
      reason:
        "TS2322: Type '{ a: string; }' is not assignable to type 'A'. Types of property 'a' are incompatible. Type 'string' is " +
        "not assignable to type 'number'.",
    },
    { file: undefined, reason: "error TS6053: File 'x' not found." },
  ]);
  expect(readTypeErrors("")).toEqual([]);
});
