/** Parses the imports and exports of a file. */

import { type Token, tokens } from "./tokens.ts";

export interface Import {
  readonly from: string;
  readonly line: number;
  /** The names as the other file exports them; `*` for all of them. */
  readonly names: readonly string[];
  /** Whether it is not loaded with the importing file, because it imports only types or runs when it is called. */
  readonly isLazy?: boolean;
}

export interface Export {
  readonly name: string;
  readonly line: number;
  readonly isType: boolean;
}

export interface Module {
  readonly imports: readonly Import[];
  /** The names that are declared here; a name that only passes through counts as imported. */
  readonly exports: readonly Export[];
  /** How often each word occurs in the file. */
  readonly words: ReadonlyMap<string, number>;
}

const declarations = new Set([
  "const",
  "let",
  "var",
  "function",
  "class",
  "interface",
  "type",
  "abstract",
  "async",
  "declare",
]);

export function parseModule(source: string): Module {
  const list = tokens(source);
  const imports: Import[] = [];
  const exports: Export[] = [];
  const words = new Map<string, number>();
  for (const [index, token] of list.entries()) {
    if (token.kind !== "word") continue;
    words.set(token.text, (words.get(token.text) ?? 0) + 1);
    if (list[index - 1]?.text === ".") continue;
    if (token.text === "import") imports.push(...importAt(list, index));
    if (token.text === "export") {
      const parsed = exportAt(list, index);
      imports.push(...parsed.imports);
      exports.push(...parsed.exports);
    }
  }
  return { imports, exports, words };
}

function importAt(list: readonly Token[], index: number): Import[] {
  const { line } = list[index] as Token;
  const next = list[index + 1];
  const after = list[index + 2];
  if (next?.kind === "string") return [{ from: next.text, line, names: [] }];
  if (next?.text === "(")
    return after?.kind === "string" ? [{ from: after.text, line, names: ["*"], isLazy: true }] : [];
  const clause: Token[] = [];
  for (let at = index + 1; list[at] && !isFrom(list, at); at++) {
    if (list[at]?.text === ";" || list[at]?.text === "=") return [];
    clause.push(list[at] as Token);
  }
  const from = list[index + clause.length + 2];
  const isLazy = next?.text === "type" && clause[1]?.text !== "," && clause.length > 1;
  return from ? [{ from: from.text, line, names: importedNames(clause), isLazy }] : [];
}

function isFrom(list: readonly Token[], at: number): boolean {
  return list[at]?.text === "from" && list[at + 1]?.kind === "string";
}

function importedNames(clause: readonly Token[]): string[] {
  if (clause.some((token) => token.text === "*")) return ["*"];
  const open = clause.findIndex((token) => token.text === "{");
  const before = (open < 0 ? clause : clause.slice(0, open)).filter((token) => token.kind === "word");
  const defaults = before.some((token) => token.text !== "type") ? ["default"] : [];
  return [...defaults, ...(open < 0 ? [] : specifiers(clause.slice(open + 1)).map(({ from }) => from))];
}

/** Parses `a, type b, c as d`: the name of each there and here. */
function specifiers(clause: readonly Token[]): { from: string; to: string; line: number }[] {
  const groups: Token[][] = [[]];
  for (const token of clause) {
    if (token.text === "}") break;
    if (token.text === ",") groups.push([]);
    else groups.at(-1)?.push(token);
  }
  return groups.flatMap((group) => {
    const plain = group.length > 1 && group[0]?.text === "type" && group[1]?.text !== "as" ? group.slice(1) : group;
    const first = plain[0];
    return first ? [{ from: first.text, to: plain[2]?.text ?? first.text, line: first.line }] : [];
  });
}

function exportAt(list: readonly Token[], index: number): { imports: Import[]; exports: Export[] } {
  const { line } = list[index] as Token;
  let at = index + 1;
  if (list[at]?.text === "default") return { imports: [], exports: [{ name: "default", line, isType: false }] };
  const typed = list[at]?.text === "type" && /^[{*]$/.test(list[at + 1]?.text ?? "");
  if (typed) at++;
  if (list[at]?.text === "*") {
    while (list[at] && !isFrom(list, at)) at++;
    return { imports: [{ from: list[at + 1]?.text ?? "", line, names: ["*"] }], exports: [] };
  }
  if (list[at]?.text === "{") {
    const end = list.findIndex((token, place) => place > at && token.text === "}");
    const names = specifiers(list.slice(at + 1, end));
    if (isFrom(list, end + 1)) {
      const from = list[end + 2]?.text ?? "";
      return { imports: [{ from, line, names: names.map((name) => name.from) }], exports: [] };
    }
    return { imports: [], exports: names.map(({ to, line: at }) => ({ name: to, line: at, isType: typed })) };
  }
  const isType = list[at]?.text === "interface" || list[at]?.text === "type";
  while (declarations.has(list[at]?.text ?? "") || list[at]?.text === "*") at++;
  const name = list[at];
  return { imports: [], exports: name?.kind === "word" ? [{ name: name.text, line: name.line, isType }] : [] };
}
