/** Keeps long texts that many objects share once; the parser makes new ones for each object. */
import type { AnyObject } from "../resource/handle.ts";

/** Texts from this length on are shared. The parser shares short ones, such as kinds and labels, by itself. */
const LONG = 256;
/** The most characters of all remembered texts. */
const MOST_CHARACTERS = 1_000_000;
const texts = new Map<string, string>();
let characters = 0;

/** Shares long texts, such as certificates, scripts and settings that are the same in every namespace. */
function sharedText(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (characters + text.length > MOST_CHARACTERS) {
    texts.clear();
    characters = 0;
    if (text.length > MOST_CHARACTERS) return text;
  }
  characters += text.length;
  texts.set(text, text);
  return text;
}

interface Draft {
  readonly kind: string;
  readonly data?: Record<string, unknown> | null;
}

/**
 * Replaces long texts of `data` of a freshly parsed object by equal strings of other objects: an object of 3 KB whose text
 * others have too takes half a KB. The content of Secrets is never remembered.
 */
export function shareStrings(object: AnyObject): void {
  const { kind, data } = object as unknown as Draft;
  if (typeof data !== "object" || data === null || kind === "Secret") return;
  for (const name in data) {
    const text = data[name];
    if (typeof text === "string" && text.length >= LONG) data[name] = sharedText(text);
  }
}
