/** Reports syntax errors in the words of cel-go's generated parser. */
import { celEnvironment } from "./environment.ts";
import { Places } from "./places.ts";
import { numberProblem, scan, type Token, withoutLeadingDots } from "./tokens.ts";

const words = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The tokens that may come where a value is expected. */
const expected = {
  value: `{'[', '{', '(', '.', '-', '!', ${words}`,
  call: `{'[', '{', '(', ')', '.', '-', '!', ${words}`,
  list: `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${words}`,
  map: `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${words}`,
  message: "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
};

/** Reports invalid tokens and numbers out of range, which the interpreter's parser accepts or reports differently. */
export function literalProblem(text: string): string | undefined {
  // Most expressions contain nothing of the kind and skip the scan.
  if (!/\\|`|\d{16}|\d[eE]\+?\d{3}|0x/.test(text)) return undefined;
  const { known, unknown } = scan(text);
  const numbers = known.map((token, index) => numberProblem(known, index)).filter((one) => one !== undefined);
  if (unknown.length === 0 && numbers.length === 0) return undefined;
  if (unknown.length > 0) return syntaxProblem(text, undefined);
  // The interpreter's parser rejects some of these numbers itself, so they are replaced by numbers that fit.
  const readable = numbers.reduce((rest, { at, length, fitting }) => {
    return `${rest.slice(0, at)}${fitting.padEnd(length)}${rest.slice(at + length)}`;
  }, text);
  if (parseProblem(withoutLeadingDots(readable)) !== undefined) return undefined;
  const places = new Places(text);
  return numbers.map(({ at, what }) => places.error(at, what)).join("\n");
}

/** Reports the syntax error of a text that ends inside a bracket; `undefined` when it does not. */
export function unfinished(text: string): string | undefined {
  const { known, unknown } = scan(text);
  return unknown.length > 0 || openPlace(known) === undefined ? undefined : syntaxProblem(text, new Error("EOF"));
}

/** Explains why the parser rejected a text. */
export function syntaxProblem(text: string, error: unknown): string {
  if (text === "") return `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${expected.value}`;
  const places = new Places(text);
  const { known, unknown } = scan(text);
  const problems = unknown.map((token) => ({
    at: token.at,
    what: whyUnknown(token, known),
  }));
  let readable = withoutLeadingDots(unknown.reduce((rest, token) => blanked(rest, token), text));
  let problem = unknown.length > 0 ? parseProblem(readable) : error;
  const reserved = problem === undefined ? undefined : /^Reserved identifier: (\w+)/.exec(messageOf(problem))?.[1];
  if (reserved !== undefined) {
    const at = placeOf(problem) ?? text.indexOf(reserved);
    problems.push({ at, what: `reserved identifier: ${reserved}` });
    readable = `${readable.slice(0, at)}${"x".repeat(reserved.length)}${readable.slice(at + reserved.length)}`;
    problem = parseProblem(readable);
  }
  if (problem !== undefined) problems.push(grammarProblem(readable, known, problem));
  return problems
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, what }) => places.error(at, what))
    .join("\n");
}

function whyUnknown(token: Token, known: readonly Token[]): string {
  if (token.isSelected) return "unsupported syntax: '`'";
  if (!token.isEscaped) return `Syntax error: token recognition error at: '${token.text}'`;
  const following = known.find(({ at }) => at > token.at);
  return `Syntax error: ${mayBegin(following) ? "extraneous" : "mismatched"} input '${token.text}' expecting ${expected.value}`;
}

function parseProblem(text: string): unknown {
  try {
    celEnvironment().parse(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

function messageOf(error: unknown): string {
  const { summary } = error as { readonly summary?: string };
  return summary ?? (error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
}

function placeOf(error: unknown): number | undefined {
  return (error as { readonly range?: { readonly start: number } }).range?.start;
}

function blanked(text: string, { text: wrong, at, isEscaped = false }: Token): string {
  return `${text.slice(0, at)}${(isEscaped ? "x" : " ").repeat(wrong.length)}${text.slice(at + wrong.length)}`;
}

interface Problem {
  readonly at: number;
  readonly what: string;
}

function grammarProblem(text: string, known: readonly Token[], error: unknown): Problem {
  const message = messageOf(error);
  const place = placeOf(error);
  if (message.includes("invalid predicate iteration variable"))
    return { at: place ?? 0, what: "argument must be a simple name" };
  const inner = openPlace(known);
  // The interpreter does not know messages such as `Object{…}`, so the error is reported at the bracket.
  if (inner?.token.text === "{" && inner.isIndex)
    return { at: text.length, what: `Syntax error: ${endProblem(text, known)}` };
  const glued = known.findIndex((token, index) => /^\.\d/.test(token.text) && ends(known[index - 1], token));
  const at = glued >= 0 ? glued : known.findIndex((token) => token.at >= (place ?? text.length));
  const token = known[at];
  if (glued < 0 && (/EOF|end/i.test(message) || token === undefined))
    return { at: text.length, what: `Syntax error: ${endProblem(text, known)}` };
  if (token === undefined) return { at: text.length, what: `Syntax error: ${message}` };
  const before = known[at - 1];
  const following = known[at + 1];
  const problem = (what: string): Problem => ({ at: token.at, what: `Syntax error: ${what}` });
  if (before?.text === "." && !/^\w/.test(token.text))
    return problem(`no viable alternative at input '.${token.text}'`);
  if (before === undefined || /^(?:[-+*/%!?:(,<>]|==|!=|<=|>=|&&|\|\|)$/.test(before.text))
    return problem(
      `${mayBegin(following) ? "extraneous" : "mismatched"} input '${token.text}' expecting ${expected.value}`,
    );
  if (message.startsWith("Expected COLON")) return problem(`mismatched input '${token.text}' expecting ':'`);
  if (depthOf(known.slice(0, at)) > 0) return problem(message);
  return problem(`${following === undefined ? "extraneous" : "mismatched"} input '${token.text}' expecting <EOF>`);
}

/** Whether one token ends exactly where the other begins. */
function ends(before: Token | undefined, token: Token): boolean {
  return before !== undefined && before.at + before.text.length === token.at && /[\w)\]}'"]$/.test(before.text);
}

function mayBegin(token: Token | undefined): boolean {
  return token !== undefined && /^(?:[\w'"]|[[{(.\-!]$)/.test(token.text);
}

function depthOf(known: readonly Token[]): number {
  let depth = 0;
  for (const { text } of known) {
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
  }
  return depth;
}

/** Reports that the expression ends too early. */
function endProblem(text: string, known: readonly Token[]): string {
  if (known.length === 0) return `mismatched input '<EOF>' expecting ${expected.value}`;
  const bare = /["']$/.test(known.at(-1)!.text) ? "x" : text.trimEnd();
  if (bare.endsWith(".")) return "no viable alternative at input '.'";
  const last = bare.at(-1);
  const inside =
    last === "(" && /\w\($/.test(bare)
      ? "call"
      : last === "["
        ? "list"
        : last === "{"
          ? /\w\s*\{$/.test(bare)
            ? "message"
            : "map"
          : "value";
  const open = closing(bare);
  if (/[\w)\]}'"]$/.test(bare)) {
    const inner = openPlace(known);
    if (inner !== undefined && inner.token.text === "[" && !inner.isIndex)
      return "mismatched input '<EOF>' expecting {']', ','}";
    if (inner !== undefined && inner.token.text === "{" && (inner.last === "{" || inner.last === ","))
      return "mismatched input '<EOF>' expecting ':'";
    if (inner !== undefined && inner.token.text === "{" && inner.last === ":")
      return "mismatched input '<EOF>' expecting {'}', ','}";
  }
  if (inside === "value" && (/[\w)\]}]$/.test(bare) || (last === "," && open !== "')'")))
    return `missing ${open} at '<EOF>'`;
  return `mismatched input '<EOF>' expecting ${expected[inside]}`;
}

interface OpenPlace {
  readonly token: Token;
  /** Whether it follows a value and therefore begins an index. */
  readonly isIndex: boolean;
  /** The bracket itself, or the last comma or colon directly inside it. */
  readonly last: string;
}

/** Returns the bracket that closes the one opened last. */
function openPlace(known: readonly Token[]): OpenPlace | undefined {
  const open: { token: Token; isIndex: boolean; last: string }[] = [];
  for (const [index, token] of known.entries()) {
    if ("([{".includes(token.text)) {
      const isIndex = /^(?!in$)(?:[\w'"]|[)\]}]$)/.test(known[index - 1]?.text ?? "");
      open.push({ token, isIndex, last: token.text });
    } else if (")]}".includes(token.text)) open.pop();
    else if (token.text === "," || token.text === ":") {
      const top = open.at(-1);
      if (top !== undefined) top.last = token.text;
    }
  }
  return open.at(-1);
}

/** Returns the bracket that closes the one opened last. */
function closing(text: string): string {
  const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const character of text) {
    if (Object.hasOwn(pairs, character)) open.push(pairs[character]!);
    else if (character === open.at(-1)) open.pop();
  }
  return `'${open.at(-1) ?? ")"}'`;
}
