/** Checks that files are named for their idea, and that nothing is left open in them. */

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

const heap = /^(utils?|helpers?|common|misc)$/;
/** One letter of each is in brackets, because otherwise this file would break its own rule. */
const open = /T[O]DO|F[I]XME|@ts-[i]gnore|@ts-[n]ocheck/;
const focused = /\b(?:test|describe|it)\.(?:onl[y]|tod[o])\(/;

export const checkShape: Check = async (root) => {
  const findings: Finding[] = [];
  for (const file of projectFiles(root)) {
    if (!/^(src|packages|scripts|tests|controllers)\/.*\.(ts|mjs)$/.test(file)) continue;
    const lines = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
    const generated = file.startsWith("src/resource/builtin/");
    if (heap.test(basename(file).split(".")[0] ?? "")) {
      findings.push({ file, line: 1, what: "has a name that tells nothing", rule: "A file is named for its idea" });
    }
    for (const [index, line] of lines.entries()) {
      const [found] = open.exec(line) ?? focused.exec(line) ?? [];
      if (!found || generated) continue;
      findings.push({ file, line: index + 1, what: `says ${found}`, rule: "Nothing is left open in the code" });
    }
  }
  return findings;
};
