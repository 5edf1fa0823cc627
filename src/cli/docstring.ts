/** Turns descriptions of OpenAPI documents into docstrings: the first one or two sentences, and a link to more. */
import { inComment } from "./source-text.ts";

/** A second sentence is kept if both fit into this many characters. */
const enough = 200;

const boilerplate = /api-conventions\.md#(metadata|spec-and-status|types-kinds|resources)/;

/** More of a description is not looked at. */
const MOST = 20_000;

/** Returns the lines of a docstring, indented by `indent`; nothing for an empty description. */
export function docstring(description: unknown, indent: string): string {
  const { text, see } = summary(typeof description === "string" ? description.slice(0, MOST) : "");
  // Comment ends are escaped last, because nothing is removed from the text after this.
  const lines = [...wrap(inComment(text), 116 - indent.length), ...(see ? [`@see ${inComment(see)}`] : [])];
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function summary(description: string): { text: string; see: string | undefined } {
  const lines = description.split("Possible enum values:", 1)[0]!.split("\n");
  const firstItem = lines.findIndex((line, index) => index > 0 && /^\s*[-*] /.test(line));
  const body = (firstItem < 0 ? lines : lines.slice(0, firstItem))
    .join("\n")
    .replace(/\n\s*\n/g, " \u2029")
    .replace(/[^\S\u2029]+/g, " ")
    .trim();
  const see = /More info:\s*(https?:\/\/[^\s)]+[^\s).,])/i.exec(body)?.[1]?.split("#:~:")[0];
  const sentences = body
    .replace(/\(?More info:\s*https?:\/\/[^\s)]+\)?\.?/gi, "")
    .replace(/ https?:\/\/\S*api-conventions\.md#\S*/g, "")
    .split(/\u2029|(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.) (?=[A-Z"'`(])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));
  let text = sentences[0] ?? "";
  if (sentences[1] && text.length + sentences[1].length < enough) text = `${closed(text)} ${sentences[1]}`;
  return { text: closed(text), see: see && !boilerplate.test(see) ? see : undefined };
}

function closed(sentence: string): string {
  if (sentence === "") return sentence;
  return /[.!?)\]]$/.test(sentence) ? sentence : `${sentence.replace(/(?<!\s)\s*[:;,]$/, "")}.`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
