/** Makes texts from elsewhere safe for a terminal, such as names of files or logged values. */

/** Control characters, line ends of every kind, and characters that change the direction of the text. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the text on one line, with escaped control characters, such as `\n` and `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => {
    const short = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` }[character];
    return short ?? `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`;
  });
}

/** Returns the same, with a blank in place of each line end and the blanks around it. */
export function onOneLine(text: string): string {
  return printable(text.replaceAll(/(?<!\s)\s*\n\s*/g, " "));
}

/** Returns the text with its lines, other control characters escaped. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
