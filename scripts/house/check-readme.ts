/** Checks that README's TypeScript compiles against the SDK, and that the commands it names exist. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Check, Finding } from "./finding.ts";

const file = "README.md";

export interface Block {
  readonly language: string;
  /** The number of the first line inside the fence, counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** Returns the fenced code blocks of a Markdown text. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (!text.startsWith("```")) open?.lines.push(text);
    else if (open) {
      blocks.push({ language: open.language, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    } else open = { language: text.slice(3).trim(), line: index + 2, lines: [] };
  }
  return blocks;
}

export const checkReadme: Check = async (root) => {
  const path = join(root, file);
  if (!existsSync(path)) return [{ file, line: 1, what: "is missing", rule: "A project says what it is" }];
  const blocks = blocksOf(readFileSync(path, "utf8"));
  return [...commands(root, blocks), ...(await typeErrors(root, blocks))];
};

function commands(root: string, blocks: readonly Block[]): Finding[] {
  const { scripts = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts?: Record<string, string>;
  };
  const rule = "README names only commands and files that are there";
  const findings: Finding[] = [];
  for (const { language, line, text } of blocks) {
    if (!["sh", "bash", "shell", "console"].includes(language)) continue;
    for (const [index, command] of text.split("\n").entries()) {
      const at = { file, line: line + index, rule };
      for (const [, script = ""] of command.matchAll(/\b(?:npm|bun) run ([\w:-]+)|\bnpm (start|test)\b/g)) {
        const name = script || (/npm (start|test)/.exec(command)?.[1] ?? "");
        if (!(name in scripts)) findings.push({ ...at, what: `package.json has no script "${name}"` });
      }
      for (const [path] of command.matchAll(/(?<![\w/.-])(?:\.\/)?(?:scripts|controllers|src)\/[\w./-]+/g)) {
        if (!existsSync(join(root, path))) findings.push({ ...at, what: `there is no ${path}` });
      }
    }
  }
  return findings;
}

/** Makes a file of each block, whose line numbers are those in README. */
async function typeErrors(root: string, blocks: readonly Block[]): Promise<Finding[]> {
  const code = blocks.filter(({ language }) => language === "ts" || language === "typescript");
  if (code.length === 0) return [];
  await mkdir(join(root, ".binnacle"), { recursive: true });
  const dir = await mkdtemp(join(root, ".binnacle", "readme-"));
  try {
    for (const { line, text } of code) {
      await writeFile(
        join(dir, `block-${line}.ts`),
        `${"\n".repeat(line - 1)}${text}\n${text.includes("export") ? "" : "export {};\n"}`,
      );
    }
    const config = { extends: join(root, "tsconfig.json"), include: [join(dir, "*.ts")], exclude: [] };
    await writeFile(join(dir, "tsconfig.json"), JSON.stringify(config));
    const args = ["check", "--no-script", "--no-pretty", "--all", "-p", join(dir, "tsconfig.json")];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: dir, encoding: "utf8" });
    const errors = [...stdout.matchAll(/^(?:.*[/\\])?(block-\d+|[^\s(]+)\.ts\((\d+),\d+\): error (.*)$/gm)];
    const rule = "README's code compiles against the SDK";
    const findings = errors.map(([, name = "", line, what = ""]) =>
      name.startsWith("block-")
        ? { file, line: Number(line), what, rule }
        : { file: `${name}.ts`, line: Number(line), what, rule },
    );
    if (status !== 0 && findings.length === 0)
      return [{ file, line: 1, what: `cannot be checked: ${stdout}${stderr}`, rule }];
    return findings;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
