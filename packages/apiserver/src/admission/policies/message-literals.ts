/** Rewrites `Object.spec{replicas: 1}` and `JSONPatch{op: "add"}` as maps, which have the same JSON. */

const tokens =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)|[A-Za-z_][\w.]*|[{}[\]()]|\s+|[\s\S]/g;
const message = /^(Object|JSONPatch)(\.\w+)*$/;

export interface Rewritten {
  readonly text: string;
  /** The positions of the maps that stand for messages. */
  readonly messages: ReadonlySet<number>;
}

/** Returns the expression with maps in place of the messages of mutating policies. */
export function withoutMessages(expression: string): Rewritten {
  const messages = new Set<number>();
  if (!/\b(Object|JSONPatch)\b/.test(expression)) return { text: expression, messages };
  const all = expression.match(tokens) ?? [];
  const open: ("message" | "other")[] = [];
  let result = "";
  for (const [index, token] of all.entries()) {
    const next = beside(all, index, 1);
    if (message.test(token) && next === "{") {
      continue;
    }
    if (token === "{" || token === "[" || token === "(") {
      const before = beside(all, index, -1);
      const isMessage = token === "{" && before !== undefined && message.test(before);
      if (isMessage) messages.add(result.length);
      open.push(isMessage ? "message" : "other");
    } else if (token === "}" || token === "]" || token === ")") open.pop();
    const isField = open.at(-1) === "message" && next === ":" && /^[A-Za-z_]\w*$/.test(token) && isFirst(all, index);
    result += isField ? JSON.stringify(token) : token;
  }
  return { text: result, messages };
}

/**
 * Whether the name at this index is a field name: it follows the brace or a comma, perhaps with the mark of an optional
 * field between.
 */
function isFirst(all: readonly string[], index: number): boolean {
  const before = beside(all, index, -1);
  const last = before === "?" ? beside(all, all.lastIndexOf("?", index), -1) : before;
  return last === "{" || last === ",";
}

/** Returns the token before or after this one; blanks are skipped. */
function beside(all: readonly string[], index: number, step: 1 | -1): string | undefined {
  const next = all[index + step];
  return next?.trim() === "" ? all[index + 2 * step] : next;
}
