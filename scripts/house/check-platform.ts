/** Checks that only a few folders depend on Bun, so that the rest can run elsewhere. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isTest, projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";
import { tokens } from "./tokens.ts";

const allowed = ["platform", "loader", "server", "embedded/apiserver", "cli"];
const rule = `Bun and bun: stand only in ${allowed.map((folder) => `src/${folder}`).join(", ")} and in tests`;

export const checkPlatform: Check = async (root) => {
  const findings: Finding[] = [];
  for (const file of projectFiles(root)) {
    const outside = file.startsWith("src/") && file.endsWith(".ts") && !isTest(file);
    if (!outside || allowed.some((folder) => file.startsWith(`src/${folder}/`))) continue;
    const list = tokens(readFileSync(join(root, file), "utf8"));
    for (const [index, { kind, text, line }] of list.entries()) {
      const before = list[index - 1]?.text;
      const names = kind === "word" && text === "Bun" && before !== "." && list[index + 1]?.text !== ":";
      const imports =
        kind === "string" && /^bun(:|$)/.test(text) && (before === "from" || before === "import" || before === "(");
      if (names || imports) findings.push({ file, line, what: `uses ${text}`, rule });
    }
  }
  return findings;
};
