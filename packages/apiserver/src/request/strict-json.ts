/** Finds duplicate fields in JSON, which `JSON.parse` ignores: the last one counts, and the server reports them. */

import { goQuoted } from "../field-error.ts";

/** Returns the paths of duplicate fields, as `duplicate field "spec.x"` quotes them. */
export function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  eachField(text, (path, isRepeated) => {
    if (isRepeated) found.add(path());
  });
  return [...found];
}

/**
 * Returns what strict decoding finds in text, in its order: unknown fields, each once and with nothing inside it, and
 * known ones that are repeated.
 */
export function findingsInOrder(text: string, unknown: readonly string[]): string[] {
  const left = new Set(unknown);
  const found = new Set<string>();
  let skipped = "";
  eachField(text, (pathOf, isRepeated) => {
    const path = pathOf();
    if (skipped !== "" && (path.startsWith(`${skipped}.`) || path.startsWith(`${skipped}[`))) return;
    const strange = `unknown field ${goQuoted(path)}`;
    if (left.has(strange)) {
      skipped = path;
      found.add(strange);
    } else if (isRepeated) found.add(`duplicate field ${JSON.stringify(path)}`);
  });
  return [...found, ...unknown.filter((one) => !found.has(one))];
}

/** Visits each field, with a function that returns its path, and whether its object had one of this name before. */
function eachField(text: string, seen: (path: () => string, isRepeated: boolean) => void): void {
  const path: string[] = [];
  // For each open bracket: the names so far, or the index in an array.
  const open: ({ names: Set<string> } | { index: number })[] = [];
  let at = 0;
  let expectsName = false;
  const joinedPath = (): string => joined(path.slice(0, open.length), open);
  while (at < text.length) {
    const character = text.charCodeAt(at);
    const top = open.at(-1);
    if (character === 0x22 /* " */) {
      const end = stringEnd(text, at);
      if (expectsName && top !== undefined && "names" in top) {
        const name = JSON.parse(text.slice(at, end)) as string;
        path[open.length - 1] = name;
        seen(joinedPath, top.names.has(name));
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
