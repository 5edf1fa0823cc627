import { expect, test } from "bun:test";
import { relative } from "node:path";
import { compilerErrors } from "./compiler-errors.ts";
import { projectFolder } from "./project.ts";

const one = `TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.
export const size: number = "one";
             ~~~~
    at file:///shop/_size.ts:1:14
`;
const other = `TS2345 [ERROR]: Argument of type 'A' is not assignable to parameter of type 'B'.
  Type 'A' is missing the following properties.
    take(a);
         ~
    at file:///shop/m.ts:3:10
`;
const lacking = `TS2305 [ERROR]: Module '"file:///shop/_size.ts"' has no exported member 'nothing'.
import { nothing } from "./_size.ts";
         ~~~~~~~
    at file:///shop/m.ts:1:10
`;
const own = `TS2300 [ERROR]: Duplicate identifier 'a'.\n    at file://${projectFolder}/src/index.ts:1:1\n`;
const end = "\nerror: Type checking failed.\n";
const shop = relative(process.cwd(), "/shop");
const oneLine = `${shop}/_size.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.`;
const otherLines = `${shop}/m.ts(3,10): error TS2345: Argument of type 'A' is not assignable to parameter of type 'B'.
  Type 'A' is missing the following properties.`;

test.each([
  ["one error", one + end, oneLine],
  ["several", `${one}\n${other}\nFound 2 errors.\n${end}`, `${oneLine}\n${otherLines}`],
  ["errors behind something else", `Check file:///shop/m.ts\n${one}${end}`, oneLine],
  [
    "the names of files",
    lacking,
    `${shop}/m.ts(1,10): error TS2305: Module '"${shop}/_size.ts"' has no exported member 'nothing'.`,
  ],
  ["errors in the program's own files", own + end, ""],
  [
    "what is no error of types",
    'error: Module not found "file:///shop/gone.ts".\n',
    'Module not found "file:///shop/gone.ts".',
  ],
])("compilerErrors reads %s", (_, printed, expected) => {
  expect(compilerErrors(printed, ["/shop/m.ts"])).toBe(expected);
});
