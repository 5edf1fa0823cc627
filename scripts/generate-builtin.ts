/**
 * Generates `src/resource/builtin/`, the types and handles of all built-in kinds, from the documents of the embedded
 * API server.
 *
 *     bun scripts/generate-builtin.ts [--check]
 *
 * `--check` writes nothing and fails when a file would change.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { refuseUnknownNames } from "./generate/by-hand.ts";
import { serverDocuments } from "./generate/documents.ts";
import { builtinFiles } from "./generate/files.ts";

const root = join(import.meta.dirname, "..");
const target = "src/resource/builtin";
const { check } = parseArgs({ options: { check: { type: "boolean", default: false } } }).values;

const documents = await serverDocuments();
refuseUnknownNames(documents.schemas);
const files = new Map<string, string>();
await Promise.all([...builtinFiles(documents)].map(async ([file, text]) => files.set(file, await format(file, text))));
const folder = join(root, target);
const stale = await differing(folder, files);
if (!check) {
  await mkdir(folder, { recursive: true });
  for (const file of stale) {
    const text = files.get(file);
    if (text === undefined) await rm(join(folder, file));
    else await writeFile(join(folder, file), text);
  }
}
console.log(`${files.size} files, changed: ${stale.join(", ") || "none"}`);
if (check && stale.length > 0) process.exitCode = 1;

/** Formats as `bun fmt` does, which reads its settings from the file's future place. */
async function format(file: string, text: string): Promise<string> {
  const command = [process.execPath, "fmt", "--no-script", `--stdin-filepath=${target}/${file}`];
  const child = Bun.spawn(command, { cwd: root, stdin: new Blob([text]), stdout: "pipe", stderr: "pipe" });
  const [formatted, problem] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${file} cannot be formatted: ${problem}`);
  return formatted;
}

/** Returns the files that are missing, different, or not generated any more. */
async function differing(directory: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  const present = (await readdir(directory).catch(() => [])).filter((file) => !file.endsWith(".test.ts"));
  const names = new Set([...files.keys(), ...present]);
  const stale: string[] = [];
  for (const file of [...names].toSorted()) {
    const before = present.includes(file) ? await readFile(join(directory, file), "utf8") : undefined;
    if (before !== files.get(file)) stale.push(file);
  }
  return stale;
}
