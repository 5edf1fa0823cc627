/** Regular expressions in Go's syntax (RE2), which take time in proportion to the text, whatever the expression. */
import type * as Library from "re2js";
import { re2Library } from "#platform/lazy-packages";

export interface GoRegExp {
  /** Whether the expression matches anywhere in the text. */
  test(text: string): boolean;
  /** Returns all matches in order. */
  all(text: string): string[];
}

/** The number of compiled expressions that are remembered, because rules use the same ones repeatedly. */
const most = 1000;
const known = new Map<string, GoRegExp | Error>();

/** Compiles an expression. @returns `undefined` when it is invalid */
export function goRegExp(pattern: string): GoRegExp | undefined {
  const compiled = compile(pattern);
  return compiled instanceof Error ? undefined : compiled;
}

/** Returns Go's message for an invalid expression; `undefined` for a valid one. */
export function goRegExpError(pattern: string): string | undefined {
  const compiled = compile(pattern);
  return compiled instanceof Error ? compiled.message : undefined;
}

function compile(pattern: string): GoRegExp | Error {
  let compiled = known.get(pattern);
  if (compiled !== undefined) return compiled;
  if (known.size >= most) known.clear();
  compiled = isPlain(pattern) ? plain(pattern) : linear(pattern);
  known.set(pattern, compiled);
  return compiled;
}

/** Whether the expression is a word or a choice of words, which mean the same everywhere, repeat nothing, and need no library. */
function isPlain(pattern: string): boolean {
  return /^\^?\(?[\w /:,-]+(?:\|[\w /:,-]+)*\)?\$?$/.test(pattern) && pattern.includes("(") === pattern.includes(")");
}

function plain(pattern: string): GoRegExp {
  const expression = new RegExp(pattern, "g");
  return {
    test: (text) => {
      expression.lastIndex = 0;
      return expression.test(text);
    },
    all: (text) => text.match(expression) ?? [],
  };
}

let library: typeof Library | undefined;

/** Loads the library at its first use, because most servers never see an expression. */
function linear(pattern: string): GoRegExp | Error {
  // This is synchronous because objects are checked synchronously.
  library ??= re2Library();
  let expression: Library.RE2JS;
  try {
    expression = library.RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  return {
    test: (text) => expression.test(text),
    all: (text) => {
      const matches: string[] = [];
      const matcher = expression.matcher(text);
      while (matcher.find()) matches.push(matcher.group() ?? "");
      return matches;
    },
  };
}
