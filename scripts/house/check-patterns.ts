/** Checks that the time of no regular expression grows faster than the text that it looks at. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, projectFiles } from "./files.ts";
import type { Check, Finding } from "./finding.ts";
import { type SlowText, slowTexts } from "./slow-texts.ts";
import { type Token, tokens } from "./tokens.ts";

const rule = "The time of a regular expression grows with its text and no faster, because texts come from anybody";

/** Exponential and cubed growth show with so few repetitions, each tried only if the one before took less than this, in milliseconds. */
const FEW = [6, 10, 14, 18, 22, 26, 250];
const LONG_FOR_FEW = 1;
/** The fewest characters and repetitions of the texts that are tried first. */
const LENGTH = 2_000;
const REPETITIONS = 1_000;
/** Linear patterns take 1 to 50 ns for a character, squared ones 300 ns and more at this length. */
const SUSPICIOUS = 100;
/** A suspicious text is tried this many times longer, where a squared time grows as much again as a linear one. */
const LONGER = 4;
const GROWTH = 9;

export const checkPatterns: Check = async (root) => {
  const findings: Finding[] = [];
  const known = new Map<string, SlowText | undefined>();
  for (const { file, line, pattern } of await patternsOf(root)) {
    const key = String(pattern);
    if (!known.has(key)) known.set(key, slowTextOf(pattern));
    const slow = known.get(key);
    if (slow === undefined) continue;
    const text = [slow.before, `${JSON.stringify(slow.again)} again and again`, slow.after].filter((one) => one !== "");
    findings.push({ file, line, what: `${key} is slow for ${text.map(shown).join(" + ")}`, rule });
  }
  return findings;
};

function shown(text: string): string {
  return text.endsWith(" again and again") ? text : JSON.stringify(text);
}

interface Found {
  readonly file: string;
  readonly line: number;
  readonly pattern: RegExp;
}

async function patternsOf(root: string): Promise<Found[]> {
  const patterns: Found[] = [];
  const building: string[] = [];
  for (const file of projectFiles(root)) {
    if (!isProgram(file)) continue;
    const source = readFileSync(join(root, file), "utf8");
    if (source.includes("RegExp(")) building.push(file);
    const list = tokens(source);
    for (const [index, token] of list.entries()) {
      const pattern = token.kind === "pattern" ? literal(token.text, list[index - 2]) : template(list, index);
      if (pattern !== undefined) patterns.push({ file, line: token.line, pattern });
    }
  }
  return [...patterns, ...(await builtWhenLoaded(root, building))];
}

/** Creates the pattern of a literal. `split` looks at the whole text, as all functions do that take a global pattern. */
function literal(text: string, before: Token | undefined): RegExp {
  const end = text.lastIndexOf("/");
  const flags = text.slice(end + 1);
  return new RegExp(text.slice(1, end), before?.text === "split" && !flags.includes("g") ? `${flags}g` : flags);
}

/** Creates the pattern of `RegExp("…")`, without the values that a template inserts; nothing if these matter to its form. */
function template(list: readonly Token[], index: number): RegExp | undefined {
  if (list[index]?.text !== "RegExp" || list[index + 1]?.text !== "(") return undefined;
  // A template comes after the values that it inserts.
  const token = list.slice(index + 2, index + 12).find(({ kind }) => kind === "string");
  if (token === undefined) return undefined;
  try {
    return new RegExp(list[index + 2]?.text === "String" ? token.text : token.text.replace(/\\(.)/gs, "$1"));
  } catch {
    return undefined;
  }
}

/** Loads files and returns the patterns that they build meanwhile. */
async function builtWhenLoaded(root: string, files: readonly string[]): Promise<Found[]> {
  const patterns: Found[] = [];
  const real = RegExp;
  globalThis.RegExp = new Proxy(real, {
    construct(target, given: [string, string?]) {
      const pattern = new target(...given);
      const [, file, line] = new Error().stack?.match(/(src\/[^\n()]+):(\d+):\d+/) ?? [];
      if (file !== undefined) patterns.push({ file, line: Number(line), pattern });
      return pattern;
    },
  });
  try {
    for (const file of files) await import(join(root, file));
  } finally {
    globalThis.RegExp = real;
  }
  return patterns;
}

/** How often a text has to be found slow, because something else may have disturbed the measurement. */
const CONFIRMATIONS = 3;

/** Returns a text whose time grows too fast; `undefined` when none was found. */
export function slowTextOf(pattern: RegExp): SlowText | undefined {
  for (const slow of slowTexts(pattern)) {
    let times = 0;
    while (times < CONFIRMATIONS && growsTooFast(pattern, slow)) times++;
    if (times === CONFIRMATIONS) return slow;
  }
  return undefined;
}

function growsTooFast(pattern: RegExp, slow: SlowText): boolean {
  if (FEW.some((count) => time(pattern, slow, count, LONG_FOR_FEW) > LONG_FOR_FEW)) return true;
  const count = Math.max(REPETITIONS, Math.ceil(LENGTH / slow.again.length));
  const suspicious = count * slow.again.length * SUSPICIOUS * 1e-6;
  if (time(pattern, slow, count, suspicious) <= suspicious) return false;
  return time(pattern, slow, count * LONGER) > GROWTH * time(pattern, slow, count);
}

/** Returns the shortest of three times in milliseconds; or the first that is short enough. */
function time(pattern: RegExp, { before, again, after }: SlowText, count: number, enough = 0): number {
  const text = before + again.repeat(count) + after;
  let best = Infinity;
  for (let turn = 0; turn < 3 && best > enough; turn++) {
    const [began, used] = [performance.now(), process.cpuUsage()];
    match(pattern, text);
    const { user, system } = process.cpuUsage(used);
    // While this process waits for its turn, time passes without CPU; CPU of other threads is used without time.
    best = Math.min(best, performance.now() - began, (user + system) / 1_000);
    if (best > 200) break;
  }
  return best;
}

/** Matches as the code does: from every place, from the end of each match on, or once. */
function match(pattern: RegExp, text: string): void {
  if (!pattern.global && !pattern.sticky) {
    pattern.test(text);
    return;
  }
  pattern.lastIndex = 0;
  for (let at = 0; at < text.length;) {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return;
    at = Math.max(at + 1, pattern.lastIndex);
  }
}
