/**
 * Finds mistakes in JSON text that `JSON.parse` does not report: fields that an object has twice, and nesting that is
 * too deep.
 */

/** The depth at which kube-apiserver stops. */
const deepest = 10_000;

/** Returns the message for JSON that is nested too deeply. It comes first, because any other recursion would fail. */
export function depthProblem(text: string): string | undefined {
  if (text.length < 2 * deepest) return undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22 /* " */) at = stringEnd(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    if (depth > deepest) return "exceeded max depth";
  }
  return undefined;
}

/**
 * Returns the paths of duplicate fields, such as `spec.x`. The last one counts, and the server reports them.
 *
 * @param visit is told the path of each field, in the order of the text
 */
export function duplicateFields(text: string, visit?: (path: string, isRepeated: boolean) => void): string[] {
  const repeated = new Set<string>();
  const path: string[] = [];
  // For each open bracket: the names so far in an object, or the index in an array.
  const open: ({ names: Set<string> } | { index: number })[] = [];
  let at = 0;
  let expectsName = false;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    const top = open.at(-1);
    if (character === 0x22 /* " */) {
      const end = stringEnd(text, at);
      if (expectsName && top !== undefined && "names" in top) {
        const name = JSON.parse(text.slice(at, end)) as string;
        path[open.length - 1] = name;
        const isRepeated = top.names.has(name);
        if (isRepeated) repeated.add(joined(path.slice(0, open.length), open));
        visit?.(joined(path.slice(0, open.length), open), isRepeated);
        top.names.add(name);
        expectsName = false;
      }
      at = end;
      continue;
    }
    if (character === 0x7b /* { */) {
      open.push({ names: new Set() });
      expectsName = true;
    } else if (character === 0x5b /* [ */) {
      open.push({ index: 0 });
      path[open.length - 1] = "0";
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) {
      open.pop();
      expectsName = false;
    } else if (character === 0x2c /* , */ && top !== undefined) {
      if ("names" in top) expectsName = true;
      else {
        top.index += 1;
        path[open.length - 1] = String(top.index);
      }
    }
    at += 1;
  }
  return [...repeated];
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === 0x5c /* \ */) at += 2;
    else if (character === 0x22) return at + 1;
    else at += 1;
  }
  return at;
}

function joined(path: readonly string[], open: readonly ({ names: Set<string> } | { index: number })[]): string {
  let text = "";
  for (const [depth, step] of path.entries()) {
    if ("index" in (open[depth] ?? {})) text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}
