/** Strings that many objects have in common, kept once: the parser makes new ones for each object. */
import type { AnyObject } from "../resource/handle.ts";

/** Values that turn out to be different for each object must not gather here. */
const MOST = 2_048;
const strings = new Map<string, string>();

function shared(text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  if (strings.size >= MOST) strings.clear();
  strings.set(text, text);
  return text;
}

interface Draft {
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string; labels?: Record<string, string> };
}

/** Replaces kind, namespace and labels of a freshly parsed object by those of others, where they are equal. */
export function shareStrings(object: AnyObject): void {
  const draft = object as unknown as Draft;
  draft.apiVersion = shared(draft.apiVersion);
  draft.kind = shared(draft.kind);
  const { metadata } = draft;
  if (metadata.namespace !== undefined) metadata.namespace = shared(metadata.namespace);
  const { labels } = metadata;
  if (labels !== undefined) for (const name in labels) labels[name] = shared(labels[name]!);
}
