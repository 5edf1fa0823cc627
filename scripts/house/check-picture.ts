/** Checks that the picture of an event's path agrees with the imports. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Check, Finding } from "./finding.ts";
import { isTest, modulesIn, resolveImport } from "./files.ts";
import type { Module } from "./module.ts";

const file = "docs/event-path.md";
const rule = "An arrow of the picture is an import, and a dotted one an interface that both ends know";
const node = /^\s*(\w+)\["([\w./-]+\.ts)"\]$/;
const arrow = /^\s*(\w+) (?:-->|-\.->\|(\w+)\|) (\w+)$/;

export const checkPicture: Check = async (root) => {
  const path = join(root, file);
  if (!existsSync(path)) return [];
  const modules = new Map([...modulesIn(root, "src")].filter(([name]) => !isTest(name)));
  const nodes = new Map<string, string>();
  const findings: Finding[] = [];
  const lines = readFileSync(path, "utf8").split("\n");
  for (const [index, text] of lines.entries()) {
    const [, id, source] = node.exec(text) ?? [];
    if (id === undefined || source === undefined) continue;
    nodes.set(id, `src/${source}`);
    if (!modules.has(`src/${source}`))
      findings.push({ file, line: index + 1, what: `there is no src/${source}`, rule });
  }
  for (const [index, text] of lines.entries()) {
    const [, from, contract, to] = arrow.exec(text) ?? [];
    const [a, b] = [nodes.get(from ?? ""), nodes.get(to ?? "")];
    if (a === undefined || b === undefined) continue;
    const holds = contract === undefined ? importsOf(modules, a).has(b) : share(modules, { a, b, contract });
    const what = contract === undefined ? `${a} does not import ${b}` : `${a} and ${b} do not share ${contract}`;
    if (!holds) findings.push({ file, line: index + 1, what, rule });
  }
  return findings;
};

function importsOf(modules: ReadonlyMap<string, Module>, from: string): Set<string | undefined> {
  return new Set(modules.get(from)?.imports.map((one) => resolveImport(from, one.from)));
}

/** Whether one file exports the interface, and both ends are that file or import it. */
function share(
  modules: ReadonlyMap<string, Module>,
  { a, b, contract }: { a: string; b: string; contract: string },
): boolean {
  const [ofA, ofB] = [importsOf(modules, a).add(a), importsOf(modules, b).add(b)];
  return [...ofA].some(
    (shared) => ofB.has(shared) && modules.get(shared ?? "")?.exports.some(({ name }) => name === contract) === true,
  );
}
