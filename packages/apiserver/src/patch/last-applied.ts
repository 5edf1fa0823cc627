/** The annotation in which client-side `kubectl apply` stores what it applied. */
import { goJson } from "../field-error.ts";
import type { Fields, KubeObject } from "../hooks.ts";
import { parseJson } from "../numbers.ts";
import type { Typed } from "./ownership.ts";
import { compareTyped } from "./typed-compare.ts";
import { fieldSetOf } from "./typed-values.ts";

export const lastAppliedKey = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns the printed paths whose live values are still those that kubectl applied; `undefined` without the annotation. */
export function allowedByLastApplied(live: Typed, apiVersion: string): ReadonlySet<string> | undefined {
  const text = (live.value as KubeObject).metadata.annotations?.[lastAppliedKey];
  if (!text) return undefined;
  let before: Fields;
  try {
    before = parseJson(text) as Fields;
  } catch {
    return undefined;
  }
  if (before.apiVersion !== apiVersion) return undefined;
  const { modified, added, removed } = compareTyped(before, live.value, live.atom);
  const set = fieldSetOf(before, live.atom).difference(modified).difference(added).difference(removed);
  return new Set(set.printed());
}

/** Returns the annotation of an applied object. */
export function lastAppliedOf(applied: Fields): string {
  const { metadata, ...rest } = applied;
  const { annotations, ...others } = (metadata ?? {}) as Fields;
  const { [lastAppliedKey]: _, ...left } = (annotations ?? {}) as Fields;
  const annotationsLeft = annotations === undefined || annotations === null ? {} : { annotations: left };
  return `${goJson({ ...rest, metadata: { ...others, ...annotationsLeft } })}\n`;
}
