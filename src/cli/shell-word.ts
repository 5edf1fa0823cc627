/** Quotes names from elsewhere in commands that are printed for users to copy. */
import { printable } from "../observe/printable.ts";

/** Returns the text as one word of a POSIX shell; text with control characters needs bash or zsh. */
export function shellWord(text: string): string {
  if (/^[\w.:@%+=,/-]+$/.test(text)) return text;
  const plain = printable(text);
  if (plain === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${printable(text.replaceAll(/[\\']/g, String.raw`\$&`))}'`;
}
