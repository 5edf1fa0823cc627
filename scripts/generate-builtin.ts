/**
 * Generates `src/resource/builtin/`, the types and handles of all built-in kinds, from a real server.
 *
 *     bun scripts/generate-builtin.ts --kubeconfig FILE      from a running kube-apiserver
 *     bun scripts/generate-builtin.ts --documents DIR        from documents that `--save DIR` kept
 *
 * `--check` writes nothing and fails when the files are not what would be written.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { refuseUnknownNames } from "./generate/by-hand.ts";
import { documentsOfFolder, documentsOfServer, mergeDocuments, saveDocuments } from "./generate/documents.ts";
import { builtinFiles } from "./generate/files.ts";

const root = join(import.meta.dirname, "..");
const target = "src/resource/builtin";

const options = await yargs(hideBin(process.argv))
  .scriptName("generate-builtin")
  .option("kubeconfig", { type: "string", describe: "take the documents from this server" })
  .option("documents", { type: "string", describe: "take the documents from this folder" })
  .option("save", { type: "string", describe: "keep the documents in this folder" })
  .option("check", { type: "boolean", default: false, describe: "write nothing, fail when a file would change" })
  .conflicts("kubeconfig", "documents")
  .check(({ kubeconfig, documents }) => {
    if (!kubeconfig && !documents) throw new Error("say where the documents come from: --kubeconfig or --documents");
    return true;
  })
  .strict()
  .parse();

try {
  await generate();
} catch (error) {
  console.error(`generate-builtin: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function generate(): Promise<void> {
  const documents = options.kubeconfig
    ? await documentsOfServer(options.kubeconfig)
    : await documentsOfFolder(options.documents!);
  if (options.save) await saveDocuments(documents, options.save);
  const merged = mergeDocuments(documents);
  refuseUnknownNames(merged.schemas);
  const files = new Map<string, string>();
  await Promise.all([...builtinFiles(merged)].map(async ([file, text]) => files.set(file, await format(file, text))));
  const folder = join(root, target);
  const stale = await differing(folder, files);
  if (options.check) {
    if (stale.length === 0) return console.log(`${files.size} files are what the server says`);
    const list = stale.map((file) => `${target}/${file}`).join(", ");
    throw new Error(`${list}: not what the server says; run bun scripts/generate-builtin.ts --kubeconfig FILE`);
  }
  await mkdir(folder, { recursive: true });
  for (const file of stale) {
    const text = files.get(file);
    if (text === undefined) await rm(join(folder, file));
    else await writeFile(join(folder, file), text);
  }
  console.log(`${files.size} files, ${stale.length} changed`);
}

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
  const changed: string[] = [];
  for (const file of [...names].toSorted()) {
    const before = present.includes(file) ? await readFile(join(directory, file), "utf8") : undefined;
    if (before !== files.get(file)) changed.push(file);
  }
  return changed;
}
