/** Writes names of others into commands that are printed for somebody to copy. */
import { printable } from "../observe/printable.ts";

/** Returns the text as one word of a POSIX shell; with control characters in it, as one of bash and zsh. */
export function shellWord(text: string): string {
  if (/^[\w.:@%+=,/-]+$/.test(text)) return text;
  const plain = printable(text);
  if (plain === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${printable(text.replaceAll(/[\\']/g, String.raw`\$&`))}'`;
}
