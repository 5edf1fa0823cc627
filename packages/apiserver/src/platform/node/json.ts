/** JSON with the text of numbers: by the runtime from Node 22 on, and on Node 20 by strings that stand for them. */
import { randomUUID } from "node:crypto";
import * as native from "../bun/json.ts";
import type { Replacer, Reviver } from "../json.ts";

const isNative = "rawJSON" in JSON;

/** What a string that stands for a number begins with. Nobody outside this process knows it, so no other string does. */
const mark = `${randomUUID()}:`;

/** Makes a value that `stringify` writes as the text. */
export function rawJson(text: string): unknown {
  return isNative ? native.rawJson(text) : mark + text;
}

/** Parses JSON; the reviver gets the text of each number. @throws SyntaxError */
export function parseWithSource(text: string, reviver: Reviver): unknown {
  return isNative ? native.parseWithSource(text, reviver) : parseMarked(text, reviver);
}

/** Writes JSON as `JSON.stringify` does. @throws TypeError for a bigint that the replacer leaves */
export function stringify(value: unknown, replacer?: Replacer, indent?: number): string {
  const text = JSON.stringify(value, replacer, indent);
  return isNative || text === undefined || !text.includes(mark) ? text : text.replaceAll(marked, "$1");
}

const marked = new RegExp(`"${mark}([^"]*)"`, "g");

/** Matches a string whole, or up to the end, so that the numbers within are passed over; or a number. */
const stringOrNumber = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

function parseMarked(text: string, reviver: Reviver): unknown {
  // A mistake is told of the text as it is.
  JSON.parse(text);
  const source = text.replaceAll(stringOrNumber, (token) => (token.startsWith('"') ? token : `"${mark}${token}"`));
  return JSON.parse(source, function (this: unknown, key: string, value: unknown) {
    if (typeof value !== "string" || !value.startsWith(mark)) return reviver.call(this, key, value, {});
    const number = value.slice(mark.length);
    return reviver.call(this, key, Number(number), { source: number });
  });
}
