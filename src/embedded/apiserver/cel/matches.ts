/** `matches` in linear time: the interpreter's own is JavaScript's, which some expressions keep busy for years. */
import type { Environment } from "@marcbachmann/cel-js";
import { goRegExp } from "../schema/go-regexp.ts";

/** The interpreter's own cannot be replaced, so calls are given another name once they have been checked. */
const linearName = "matchesAsGo";

export function registerMatches(environment: Environment): void {
  environment.registerFunction(`string.${linearName}(string): bool`, (text: string, pattern: string) => {
    const expression = goRegExp(pattern);
    if (expression === undefined) throw new Error(`error parsing regexp: ${pattern}`);
    return expression.test(text);
  });
}

interface Node {
  readonly op: string;
  readonly args: unknown;
}

/** Lets a parsed expression call the one of this server. */
export function matchAsGo(node: unknown): void {
  if (Array.isArray(node)) {
    for (const one of node) matchAsGo(one);
    return;
  }
  if (typeof node !== "object" || node === null || !("op" in node)) return;
  const { op, args } = node as Node;
  if (op === "rcall" && Array.isArray(args) && args[0] === "matches") args[0] = linearName;
  matchAsGo(args);
}
