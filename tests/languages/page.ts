/** Pages of docs/languages: the tests run what is in them, so a page shows nothing that does not work. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { blocksOf } from "../../scripts/house/check-readme.ts";

/** A command of a page, with lines that it prints among others. */
export interface PageCommand {
  readonly command: string;
  readonly output: readonly string[];
}

export interface Page {
  /** The files of the page by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** The commands that begin with `$`. */
  readonly commands: readonly PageCommand[];
}

/** Reads `docs/languages/<name>.md`. A file's name is in the line above its block, in bold. */
export function readPage(name: string): Page {
  const text = readFileSync(join(import.meta.dirname, `../../docs/languages/${name}.md`), "utf8");
  const lines = text.split("\n");
  const files = new Map<string, string>();
  const commands: { command: string; output: string[] }[] = [];
  for (const block of blocksOf(text)) {
    const file = /^\*\*`(.*)`\*\*$/.exec(lines[block.line - 4] ?? "")?.[1];
    if (file !== undefined) files.set(file, `${block.text}\n`);
    if (block.language !== "console") continue;
    for (const line of block.text.split("\n")) {
      if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: [] });
      else commands.at(-1)?.output.push(line);
    }
  }
  return { files, commands };
}

/** Writes the page's files into a folder. One that has not changed is left alone, so that builds need not be made anew. */
export function writeFiles(folder: string, { files }: Page): void {
  for (const [path, text] of files) {
    const file = join(folder, path);
    if (textOf(file) === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
