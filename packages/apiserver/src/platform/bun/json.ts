/** JSON with the text of numbers, by the runtime; the types of the language do not know it yet. */
import type { Replacer, Reviver } from "../json.ts";

const { rawJSON } = JSON as unknown as { readonly rawJSON: (this: void, text: string) => unknown };

/** Makes a value that `stringify` writes as the text. */
export function rawJson(text: string): unknown {
  return rawJSON(text);
}

/** Parses JSON; the reviver gets the text of each number. @throws SyntaxError */
export function parseWithSource(text: string, reviver: Reviver): unknown {
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

/** Writes JSON as `JSON.stringify` does. @throws TypeError for a bigint that the replacer leaves */
export function stringify(value: unknown, replacer?: Replacer, indent?: number): string {
  return JSON.stringify(value, replacer, indent);
}
