/** An expression read and checked, or why it cannot be, in the words of cel-go. */
import { celEnvironment } from "./environment.ts";
import { goRegExpError } from "../schema/go-regexp.ts";
import { check, type Checked, type Variables } from "./checker.ts";
import type { CelNode } from "./node.ts";
import { Places } from "./places.ts";
import { syntaxProblem } from "./syntax.ts";

export interface Compiled {
  readonly node: CelNode;
  readonly checked: Checked;
}

/** @returns a text where the expression cannot be compiled */
export function compiled(text: string, variables: Variables): Compiled | string {
  let node: CelNode;
  try {
    node = celEnvironment().parse(text).ast;
  } catch (error) {
    return syntaxProblem(text, error);
  }
  const checked = check(node, text, variables);
  if (checked.errors.length > 0) return checked.errors.join("\n");
  const wrong = literalProblems(node, new Places(text));
  return wrong.length > 0 ? wrong.join("\n") : { node, checked };
}

/** Texts that are looked at before anything is evaluated. */
const literals: Readonly<Record<string, (text: string) => boolean>> = {
  timestamp: (text) => Number.isNaN(Date.parse(text)),
  duration: (text) => !/^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text),
  matches: (text) => goRegExpError(text) !== undefined,
};

function literalProblems(node: CelNode, places: Places): string[] {
  const found: { readonly at: number; readonly what: string }[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const { op, args } = value;
    if (op === "call" || op === "rcall") {
      const [name, ...rest] = args as [string, ...unknown[]];
      const list = rest.at(-1) as readonly CelNode[];
      // As a method it is asked of a text, as a function the text comes before it.
      const literal = name === "matches" && op === "call" ? list[1] : list[0];
      const isWrong = Object.hasOwn(literals, name) ? literals[name] : undefined;
      if (literal?.op === "value" && typeof literal.args === "string" && isWrong?.(literal.args) === true)
        found.push({ at: literal.start, what: `invalid ${name} argument` });
    }
    visit(args);
  };
  visit(node);
  return found.toSorted((one, other) => one.at - other.at).map(({ at, what }) => places.error(at, what));
}

function isNode(value: unknown): value is CelNode {
  return typeof value === "object" && value !== null && typeof (value as CelNode).op === "string";
}
