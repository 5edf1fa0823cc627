/** What the parser finds wrong, in the words that cel-go has from its generated parser. */
import { Places } from "./places.ts";

const words = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** What may come where a value is wanted. */
const expected = {
  value: `{'[', '{', '(', '.', '-', '!', ${words}`,
  call: `{'[', '{', '(', ')', '.', '-', '!', ${words}`,
  list: `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${words}`,
  map: `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${words}`,
};

const strings = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

export function syntaxProblem(text: string, error: unknown): string {
  const places = new Places(text);
  const { summary, range } = error as { readonly summary?: string; readonly range?: { readonly start: number } };
  const message = summary ?? (error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  if (text === "") return `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${expected.value}`;
  const word = /^\w+[ \t]+(?!in\b)(\w+)/.exec(text);
  const second = word === null ? -1 : word[0].length - (word[1] ?? "").length;
  if (word !== null && (range === undefined || range.start === second))
    return places.error(second, `Syntax error: mismatched input '${word[1]}' expecting <EOF>`);
  const isEnd = /EOF|end/i.test(message);
  const at = isEnd ? text.length : (range?.start ?? text.length);
  return places.error(at, `Syntax error: ${isEnd ? endProblem(text) : message}`);
}

/** The expression ends where more was to come. */
function endProblem(text: string): string {
  const bare = text.replace(strings, (literal) => "x".repeat(literal.length)).trimEnd();
  if (bare.endsWith(".")) return "no viable alternative at input '.'";
  const last = bare.at(-1);
  const inside = last === "(" && /\w\($/.test(bare) ? "call" : last === "[" ? "list" : last === "{" ? "map" : "value";
  if (inside === "value" && /[\w)\]}]$/.test(bare)) return `missing ${closing(bare)} at '<EOF>'`;
  return `mismatched input '<EOF>' expecting ${expected[inside]}`;
}

/** The bracket that was opened last. */
function closing(text: string): string {
  const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const character of text) {
    if (Object.hasOwn(pairs, character)) open.push(pairs[character]!);
    else if (character === open.at(-1)) open.pop();
  }
  return `'${open.at(-1) ?? ")"}'`;
}
