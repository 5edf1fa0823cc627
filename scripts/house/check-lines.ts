/** Checks that documents and comments have no line so long that nobody reads it to its end. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";

/** Characters of a line. A table with longer rows has paragraphs as cells, and becomes sections. */
const MOST = 200;
const rule = `Lines of documents and comments have at most ${MOST} characters; tables of paragraphs become sections`;

export const checkLines: Check = async (root) =>
  projectFiles(root).flatMap((file) => {
    const isDocument = /^(README\.md|CONTRIBUTING\.md|(docs|designs)\/.*\.md)$/.test(file);
    if (!isDocument && !file.endsWith(".ts")) return [];
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    const long = isDocument ? longProse(lines) : longComments(lines);
    return long.map((line): Finding => ({ file, line, what: `has ${lines[line - 1]!.length} characters`, rule }));
  });

/** Returns the numbers of long lines outside of code blocks. */
function longProse(lines: readonly string[]): number[] {
  let isCode = false;
  return lines.flatMap((text, index) => {
    if (text.trimStart().startsWith("```")) isCode = !isCode;
    // What pads the cells of a table is not read.
    const length = text.startsWith("|") ? text.replaceAll(/ {2,}|-{4,}/g, " ").length : text.length;
    return !isCode && length > MOST ? [index + 1] : [];
  });
}

function longComments(lines: readonly string[]): number[] {
  return lines.flatMap((text, index) => (text.length > MOST && /^\s*(\/\/|\/\*|\*\s)/.test(text) ? [index + 1] : []));
}
