/** Keeps strings that many objects share once; the parser makes new ones for each object. */
import type { AnyObject } from "../resource/handle.ts";

/** The table is cleared at this size, so that values which differ for each object do not accumulate. */
const MOST = 2_048;
const strings = new Map<string, string>();
/** Texts from this length on are shared; sharing a shorter one would cost more than it saves. */
const LONG = 256;
/** The most characters of all remembered texts. */
const MOST_CHARACTERS = 1_000_000;
const texts = new Map<string, string>();
let characters = 0;

function shared(text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  if (strings.size >= MOST) strings.clear();
  strings.set(text, text);
  return text;
}

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
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string; labels?: Record<string, string> };
  data?: Record<string, unknown> | null;
}

/**
 * Replaces kind, namespace, labels and long texts of `data` of a freshly parsed object by equal strings of other objects:
 * an object of 3 KB whose text others have too takes half a KB. The content of Secrets is never remembered.
 */
export function shareStrings(object: AnyObject): void {
  const draft = object as unknown as Draft;
  draft.apiVersion = shared(draft.apiVersion);
  draft.kind = shared(draft.kind);
  const { metadata } = draft;
  if (metadata.namespace !== undefined) metadata.namespace = shared(metadata.namespace);
  const { labels } = metadata;
  if (labels !== undefined) for (const name in labels) labels[name] = shared(labels[name]!);
  const { data } = draft;
  if (typeof data !== "object" || data === null || draft.kind === "Secret") return;
  for (const name in data) {
    const text = data[name];
    if (typeof text === "string" && text.length >= LONG) data[name] = sharedText(text);
  }
}
