/** Checks that every export of src is used: by another file of the program, or by those who import the package. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { houseModules, isTest, modulesIn, partFiles, resolveImport, serverEntries } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

const rule = "Nothing is exported from src that only its own file or tests use, except what the package exports";

const forTests = "src/testing/";
/** Folders of suites and tools, whose imports count as well. */
const suites: readonly string[] = [
  "scripts",
  "tests",
  "packages/apiserver/differential",
  "packages/apiserver/kubectl",
  "packages/apiserver/scripts",
];

export const checkExports: Check = async (root) => {
  const modules = houseModules(root);
  const used = new Map<string, Set<string>>();
  for (const [file, { imports }] of [...modules, ...suites.flatMap((folder) => [...modulesIn(root, folder)])]) {
    for (const { from, names } of imports) {
      const target = resolveImport(file, from);
      // What is used of one runtime is used of the others.
      const targets = [target, ...partFiles(from)];
      // Tests use what exists for tests; all else must have another user.
      for (const one of targets) {
        if (one && (!isTest(file) || one.startsWith(forTests)))
          used.set(one, new Set([...(used.get(one) ?? []), ...names]));
      }
    }
  }
  const entries = entryFiles(root);
  const findings: Finding[] = [];
  for (const [file, { exports, words }] of modules) {
    if (isTest(file) || entries.has(file)) continue;
    const imported = used.get(file);
    for (const { name, line, isType } of exports) {
      // A type that is part of another export's signature is used by it.
      const inSignature = isType && (words.get(name) ?? 0) > 1;
      if (!imported?.has("*") && !imported?.has(name) && !inSignature)
        findings.push({ file, line, what: `exports ${name}, which nobody uses`, rule });
    }
  }
  return findings;
};

/** Files whose exports are the product's own. */
function entryFiles(root: string): Set<string> {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports?: Record<string, string>;
    imports?: Record<string, string>;
  };
  const deno = join(root, "deno.json");
  const { imports = {} } = (existsSync(deno) ? JSON.parse(readFileSync(deno, "utf8")) : {}) as typeof manifest;
  const named = [...Object.values(manifest.exports ?? {}), ...Object.values(imports)];
  return new Set([
    ...Object.values(serverEntries),
    "src/main.ts",
    "src/main.deno.ts",
    ...named.map((file) => file.replace(/^\.\//, "")),
  ]);
}
