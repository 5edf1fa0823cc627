/** Checks that only the implementation of a runtime names it, so that the rest runs on each of them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";
import { type Token, tokens } from "./tokens.ts";

/** The global object of each runtime with the folders that may use it, and the modules that only it has. */
const runtimes: Readonly<Record<string, { readonly folder: string; readonly modules: RegExp }>> = {
  Bun: { folder: "/platform/bun/", modules: /^bun(:|$)/ },
  Deno: { folder: "/platform/deno/", modules: /^(jsr|npm):/ },
};

const rule =
  "Outside of tests a runtime is named only in its own folder of platform: import #runtime/… or #platform/… instead";

export const checkPlatform: Check = async (root) => {
  const findings: Finding[] = [];
  for (const file of projectFiles(root)) {
    if (!isProgram(file)) continue;
    const list = tokens(readFileSync(join(root, file), "utf8"));
    for (const [name, { folder, modules }] of Object.entries(runtimes)) {
      if (file.includes(folder)) continue;
      for (const [index, { text, line }] of list.entries()) {
        if (namesGlobal(list, index, name) || (modules.test(text) && isImported(list, index)))
          findings.push({ file, line, what: `uses ${text}`, rule });
      }
    }
  }
  return findings;
};

function namesGlobal(list: readonly Token[], index: number, name: string): boolean {
  const { kind, text } = list[index]!;
  return kind === "word" && text === name && list[index - 1]?.text !== "." && list[index + 1]?.text !== ":";
}

function isImported(list: readonly Token[], index: number): boolean {
  const before = list[index - 1]?.text;
  return list[index]?.kind === "string" && (before === "from" || before === "import" || before === "(");
}
