/** Checks that committed files reveal nothing about the machine on which they were written. */

import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

/** bun.lock contains names, versions and hashes: an address in it would bind everyone to one registry. */
export const checkLock: Check = async (root) => {
  const rule = "bun.lock carries no download addresses: install from the registry that npm uses by default";
  return matches(root, { file: "bun.lock", pattern: /\w+:\/\/[^"\s]*/g, rule });
};

/** Finds paths of the checkout and of home folders. */
export const checkPaths: Check = async (root) => {
  const rule = "No file names a path of one machine: write it relative to the project";
  const folders = [dirname(root), homedir()].filter((folder) => !["/", tmpdir()].includes(folder));
  const own = folders.map((folder) => RegExp.escape(`${folder}/`));
  const pattern = new RegExp(`(?<![\\w.$}-])(?:${[...own, "/home/\\w+/", "/Users/\\w+/"].join("|")})[^\\s"'\`)]*`, "g");
  return projectFiles(root).flatMap((file) => matches(root, { file, pattern, rule }));
};

interface Search {
  readonly file: string;
  readonly pattern: RegExp;
  readonly rule: string;
}

function matches(root: string, { file, pattern, rule }: Search): Finding[] {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.flatMap((text, index) =>
    [...text.matchAll(pattern)].map(([found]) => ({ file, line: index + 1, what: `names ${found}`, rule })),
  );
}
