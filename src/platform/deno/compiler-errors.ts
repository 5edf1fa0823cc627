/** Parses the output of `deno check`. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { projectFolder } from "./project.ts";

/**
 * Rewrites the output of `deno check`: one line for each error, with its place first, and indented lines that explain
 * it.
 *
 * Errors in the program's own files are left out, because another compiler with other declarations checks those.
 */
export function compilerErrors(printed: string, files: readonly string[]): string {
  const parts = printed.split(/^(?=TS\d+ \[ERROR\]: )/m);
  // The output may begin with an error, or with other text before the first one.
  const blocks = parts.filter((part) => /^TS\d+ \[ERROR\]: /.test(part));
  if (blocks.length === 0) return printed.replace(/^error: /, "").trim();
  return blocks.flatMap((block) => compilerError(block, files)).join("\n");
}

const PLACE = /^\s+at (file:\/\/.+):(\d+):(\d+)$/;

function compilerError(block: string, files: readonly string[]): readonly string[] {
  const lines = block.trimEnd().split("\n");
  const at = lines.findIndex((line) => PLACE.test(line));
  const [, url = "", line, column] = PLACE.exec(lines[at] ?? "") ?? [];
  const [, code = "", message = ""] = /^(TS\d+) \[ERROR\]: (.*)$/.exec(lines[0]!) ?? [];
  if (url === "") return [`error ${code}: ${message}`];
  const file = fileURLToPath(url);
  if (file.startsWith(projectFolder) && !files.includes(file)) return [];
  // The line of the source, with marks below it, is between the message and the place.
  const source = lines.findIndex((text, index) => index < at && /^\s*~+\s*$/.test(text)) - 1;
  const more = lines.slice(1, source < 0 ? at : source).filter((text) => /^\s+\S/.test(text));
  return [
    `${relative(process.cwd(), file)}(${line},${column}): error ${code}: ${withPaths(message)}`,
    ...more.map(withPaths),
  ];
}

/** Replaces the addresses of files by paths, as in all other output. */
function withPaths(text: string): string {
  return text.replaceAll(/file:\/\/\/[^"'\s]+/g, (url) => relative(process.cwd(), fileURLToPath(url)));
}
