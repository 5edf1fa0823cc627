/** Checks that SECURITY.md promises only what a test shows: each cell of its table names tests, and all that it names are there. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Check, Finding } from "./finding.ts";

const file = "SECURITY.md";
const heading = "## What others could do";
const rule = `SECURITY.md says only what a test shows: each cell below '${heading}' has a note, such as \`src/a.test.ts\`: "title"`;

export const checkThreats: Check = async (root) => {
  const path = join(root, file);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  return [...cells(text), ...tests(root, text)];
};

/** Compares the notes that the cells refer to with those that are there. */
function cells(text: string): Finding[] {
  const findings: Finding[] = [];
  const lines = text.split("\n");
  const report = (index: number, what: string): void => void findings.push({ file, line: index + 1, what, rule });
  const notes = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const [, id, content = ""] = /^\[\^([\w-]+)\]: (.*)$/.exec(line) ?? [];
    if (id === undefined) continue;
    notes.set(id, index);
    if (!content.includes(".test.ts`: ")) report(index, `the note ${id} names no test`);
  }
  const used = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("[^")) continue;
    for (const [, id = ""] of line.matchAll(/\[\^([\w-]+)\]/g)) {
      used.add(id);
      if (!notes.has(id)) report(index, `there is no note ${id}`);
    }
  }
  for (const [id, index] of notes) if (!used.has(id)) report(index, `nothing refers to the note ${id}`);
  const start = lines.indexOf(heading);
  const section = start < 0 ? [] : [...lines.entries()].slice(start, endOf(lines, start));
  const rows = section.filter(([, line]) => line.startsWith("|"));
  if (rows.length < 3) report(Math.max(start, 0), `there is no table below '${heading}'`);
  for (const [index, line] of rows.slice(2)) {
    const [who = "", ...rest] = line.split("|").slice(1, -1);
    for (const cell of rest) if (!cell.includes("[^")) report(index, `a cell of '${who.trim()}' refers to no note`);
  }
  return findings;
}

/** Where the section ends that begins at a line. */
function endOf(lines: readonly string[], start: number): number {
  const next = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  return next < 0 ? lines.length : next;
}

/** Looks for each test that is named, as `src/a.test.ts`: "title", "another title". */
function tests(root: string, text: string): Finding[] {
  const findings: Finding[] = [];
  for (const { 1: name = "", 2: titles = "", index } of text.matchAll(
    /`([\w./-]+\.test\.ts)`(?:: ("[^"]+"(?:, "[^"]+")*))?/g,
  )) {
    const at = { file, line: text.slice(0, index).split("\n").length, rule };
    const path = join(root, name);
    if (!existsSync(path)) {
      findings.push({ ...at, what: `there is no ${name}` });
      continue;
    }
    const source = readFileSync(path, "utf8");
    for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g)) {
      const pattern = RegExp.escape(title.replaceAll(/\s+/g, " "));
      if (!new RegExp(`\\(\\s*(["'\`])${pattern}\\1`).test(source)) {
        findings.push({ ...at, what: `${name} has no test "${title}"` });
      }
    }
  }
  return findings;
}
