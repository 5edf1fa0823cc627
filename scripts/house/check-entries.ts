/** Checks that the package's exports and the compiler's paths of `binnacle…` are the same files. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serverEntries } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

interface Config {
  readonly compilerOptions?: { readonly paths?: Readonly<Record<string, readonly string[]>> };
}

const rule = "Every entry in package.json's exports is a path in tsconfig.json, and the other way round";

export const checkEntries: Check = async (root) => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as unknown;
  const { name, exports = {} } = read("package.json") as { name: string; exports?: Record<string, string> };
  const { paths = {} } = (read("tsconfig.json") as Config).compilerOptions ?? {};
  const exported = new Map(Object.entries(exports).map(([entry, file]) => [join(name, entry), file]));
  const findings: Finding[] = [];
  for (const entry of new Set([
    ...exported.keys(),
    ...Object.keys(paths).filter((path) => !Object.hasOwn(serverEntries, path)),
  ])) {
    const [here, there] = [exported.get(entry), paths[entry]?.[0]];
    if (here === there) continue;
    const what = `"${entry}" is ${there ?? "nothing"} here and ${here ?? "nothing"} in package.json`;
    findings.push({ file: "tsconfig.json", line: 1, what, rule });
  }
  return findings;
};
