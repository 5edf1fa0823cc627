/** Checks that the reference lists every metric of the program, and no other. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

const page = "docs/reference.md";
const rule = "docs/reference.md names each metric of the program, and no other";
const NAME =
  "(?:binnacle|controller_runtime|workqueue|leader_election|certwatcher|rest_client|process|nodejs)_[a-z0-9_]+";

export const checkMetrics: Check = async (root) => {
  const file = join(root, page);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const known = new Map<string, Finding>();
  for (const source of projectFiles(root)) {
    if (!isProgram(source)) continue;
    const text = readFileSync(join(root, source), "utf8");
    for (const { 1: name = "", index } of text.matchAll(new RegExp(`"(${NAME})"`, "g"))) {
      const line = text.slice(0, index).split("\n").length;
      if (!known.has(name)) known.set(name, { file: source, line, what: `${name} is not in ${page}`, rule });
    }
  }
  const findings: Finding[] = [];
  const named = new Set<string>();
  for (const [index, text] of lines.entries()) {
    for (const [, name = ""] of text.matchAll(new RegExp(`\`(${NAME})\``, "g"))) {
      named.add(name);
      if (!known.has(name)) findings.push({ file: page, line: index + 1, what: `no file makes ${name}`, rule });
    }
  }
  return [...findings, ...[...known].flatMap(([name, finding]) => (named.has(name) ? [] : [finding]))];
};
