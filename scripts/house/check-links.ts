/** Checks that links of the documents, and files that the designs name in `code`, lead to files of the project. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

const rule = "What a document names is there";

export const checkLinks: Check = async (root) => {
  const files = projectFiles(root);
  const findings: Finding[] = [];
  for (const file of files.filter((name) => name.endsWith(".md"))) {
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    let isCode = false;
    for (const [index, text] of lines.entries()) {
      if (text.startsWith("```")) isCode = !isCode;
      if (isCode) continue;
      const at = { file, line: index + 1, rule };
      for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const path = normalize(join(dirname(file), target));
        if (!existsSync(join(root, path))) findings.push({ ...at, what: `leads to ${path}, which is not there` });
      }
      if (!file.startsWith("designs/")) continue;
      for (const [, named = ""] of text.matchAll(/`(\w[\w.-]*(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|txt|mjs|json))`/g)) {
        // The designs leave out folders that are clear from the context.
        if (!files.some((one) => `/${one}`.endsWith(`/${named}`)))
          findings.push({ ...at, what: `names ${named}, which is not there` });
      }
    }
  }
  return findings;
};
