/** Parses and checks an expression, and reports errors in the words of cel-go. */
import { celEnvironment } from "./environment.ts";
import { goRegExpError } from "../schema/go-regexp.ts";
import { check, type Checked, type Variables } from "./checker.ts";
import { formatProblem } from "./format-clauses.ts";
import type { CelNode } from "./node.ts";
import { Places } from "./places.ts";
import { literalProblem, syntaxProblem } from "./syntax.ts";
import { withoutLeadingDots } from "./tokens.ts";

export interface Compiled {
  readonly node: CelNode;
  readonly checked: Checked;
}

/** Compiles an expression. @returns the error's text when that fails */
export function compiled(text: string, variables: Variables): Compiled | string {
  let node: CelNode;
  const unreadable = literalProblem(text);
  if (unreadable !== undefined) return unreadable;
  try {
    node = celEnvironment().parse(withoutLeadingDots(text)).ast;
  } catch (error) {
    return syntaxProblem(text, error);
  }
  const checked = check(node, text, variables);
  if (checked.errors.length > 0) return checked.errors.join("\n");
  const wrong = literalProblems(node, { checked, places: new Places(text) });
  return wrong.length > 0 ? wrong.join("\n") : { node, checked };
}

/** Formats of literals that are checked before anything is evaluated. */
const literals: Readonly<Record<string, (text: string) => boolean>> = {
  timestamp: (text) => Number.isNaN(Date.parse(text)),
  duration: (text) => !/^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text),
  matches: (text) => goRegExpError(text) !== undefined,
};

function literalProblems(
  node: CelNode,
  { checked, places }: { readonly checked: Checked; readonly places: Places },
): string[] {
  const problems: { readonly at: number; readonly what: string }[] = [];
  eachCall(node, (call, name, { target, args }) => {
    const [first] = args;
    const isWrong = Object.hasOwn(literals, name) ? literals[name] : undefined;
    if (isWrong !== undefined && isText(first) && isWrong(first.args)) {
      problems.push({ at: first.start, what: `invalid ${name} argument` });
    }
    if (name !== "format" || target === undefined || !isText(target) || first?.op !== "list") return;
    const wrong = formatProblem(
      { call, format: target.args, args: first.args as readonly CelNode[] },
      { checked, places },
    );
    if (wrong !== undefined) problems.push(wrong);
  });
  return problems.toSorted((one, other) => one.at - other.at).map(({ at, what }) => places.error(at, what));
}

const patterns: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);

/**
 * Returns why a checked expression cannot be instantiated, for example because a regular expression does not compile.
 */
export function instantiationProblem(node: CelNode): string | undefined {
  let problem: string | undefined;
  eachCall(node, (_call, name, { target, args }) => {
    const pattern = [...(target === undefined ? [] : [target]), ...args][1];
    if (!patterns.has(name) || !isText(pattern)) return;
    const wrong = goRegExpError(pattern.args);
    if (wrong !== undefined) problem ??= `program instantiation failed: ${wrong}`;
  });
  return problem;
}

interface Given {
  /** The receiver of a method call. */
  readonly target: CelNode | undefined;
  readonly args: readonly CelNode[];
}

function eachCall(node: CelNode, seen: (call: CelNode, name: string, given: Given) => void): void {
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const { op, args } = value;
    if (op === "call") {
      const [name, list] = args as [string, CelNode[]];
      seen(value, name, { target: undefined, args: list });
    } else if (op === "rcall") {
      const [name, target, list] = args as [string, CelNode, CelNode[]];
      seen(value, name, { target, args: list });
    }
    visit(args);
  };
  visit(node);
}

function isText(node: CelNode | undefined): node is CelNode & { readonly args: string } {
  return node?.op === "value" && typeof node.args === "string";
}

function isNode(value: unknown): value is CelNode {
  return typeof value === "object" && value !== null && typeof (value as CelNode).op === "string";
}
