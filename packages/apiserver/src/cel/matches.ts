/**
 * Evaluates `matches` in linear time; the interpreter's own function is JavaScript's, which some expressions keep
 * busy for years.
 */
import type { Environment } from "@marcbachmann/cel-js";
import { conversions } from "./conversions.ts";
import { goRegExp } from "../schema/go-regexp.ts";

/** The interpreter's function cannot be replaced, so checked calls of it get this other name. */
const linearName = "matchesAsGo";

export function registerMatches(environment: Environment): void {
  const matches = (text: string, pattern: string): boolean => {
    const expression = goRegExp(pattern);
    if (expression === undefined) throw new Error(`error parsing regexp: ${pattern}`);
    return expression.test(text);
  };
  environment
    .registerFunction(`string.${linearName}(string): bool`, matches)
    .registerFunction(`${linearName}(string, string): bool`, matches);
}

interface Node {
  readonly op: string;
  readonly args: unknown;
}

/** Makes a parsed expression call this server's functions. */
export function matchAsGo(node: unknown): void {
  if (Array.isArray(node)) {
    for (const one of node) matchAsGo(one);
    return;
  }
  if (typeof node !== "object" || node === null || !("op" in node)) return;
  const { op, args } = node as Node;
  if (op === "rcall" && Array.isArray(args) && args[0] === "matches") args[0] = linearName;
  if (op === "call" && Array.isArray(args))
    args[0] = args[0] === "matches" ? linearName : (conversions.get(args[0]) ?? args[0]);
  matchAsGo(args);
}
