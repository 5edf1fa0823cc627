/** Expressions in objects: whether they can be read. */
import { celEnvironment } from "../schema/cel-environment.ts";
import type { Field } from "./field.ts";

/** Refuses what no parser of CEL can read. */
export function compiles(expression: Field): void {
  const wrong = compileProblem(expression.text);
  if (wrong !== undefined) expression.invalid(`compilation failed: ${wrong}`, expression.text);
}

/** Only what no parser could read: types are told at run time. */
function compileProblem(text: string): string | undefined {
  try {
    celEnvironment().parse(text);
    return undefined;
  } catch (error) {
    // Messages are made by mutating policies alone; the parser does not know their types.
    if (/\b(Object|JSONPatch)[\w.]*\s*\{/.test(text)) return undefined;
    return syntaxProblem(text, error instanceof Error ? error.message : String(error));
  }
}

const expected =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function syntaxProblem(text: string, message: string): string {
  if (text === "") return `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${expected}`;
  const found = /^\w+ \w+/.exec(text);
  const isTwoWords = found !== null && !/^\w+ in\b/.test(text);
  const column = isTwoWords ? text.indexOf(" ") + 1 : text.length;
  const word = /^\w+/.exec(text.slice(column))?.[0] ?? "";
  const what = isTwoWords
    ? `mismatched input '${word}' expecting <EOF>`
    : `mismatched input '<EOF>' expecting ${expected}`;
  const isKnown = isTwoWords || /EOF|end/i.test(message);
  const said = isKnown ? what : (message.split("\n")[0] ?? "");
  return `ERROR: <input>:1:${column + 1}: Syntax error: ${said}\n | ${text}\n | ${".".repeat(column)}^`;
}
