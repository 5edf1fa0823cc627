/** Regular expressions in Go's syntax, RE2, which take time in proportion to the text whatever the expression. */
import type * as Library from "re2js";

export interface GoRegExp {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean;
  /** All that it finds, one after the other. */
  all(text: string): string[];
}

/** Expressions that are remembered: those of definitions are compiled once, those of rules are asked for again and again. */
const most = 1000;
const known = new Map<string, GoRegExp | Error>();

/** @returns `undefined` when it cannot be read */
export function goRegExp(pattern: string): GoRegExp | undefined {
  const compiled = compile(pattern);
  return compiled instanceof Error ? undefined : compiled;
}

/** Why RE2 does not take it, in Go's words; `undefined` when it does. */
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

/** Words, and a choice of words, mean the same everywhere, repeat nothing, and need no library. */
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

/** Loaded at first use: most servers never see an expression. */
function linear(pattern: string): GoRegExp | Error {
  // Synchronous, since objects are checked synchronously; the bundler follows it like an import.
  library ??= require("re2js") as typeof Library;
  let expression: Library.RE2JS;
  try {
    expression = library.RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  return {
    test: (text) => expression.test(text),
    all: (text) => {
      const found: string[] = [];
      const matcher = expression.matcher(text);
      while (matcher.find()) found.push(matcher.group() ?? "");
      return found;
    },
  };
}
