/** What a revision keeps: a patch that gives a set the template back that it had. */
import type { PodTemplateSpec } from "../../../resource/builtin/index.ts";

/** Without vowels and digits that look like letters: no bad words, no doubt. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A strategic merge patch that replaces the whole template. */
export function templatePatch(template: PodTemplateSpec): { readonly [field: string]: unknown } {
  return { spec: { template: { ...template, $patch: "replace" } } };
}

/** The template that such a patch brings back. */
export function patchedTemplate(patch: unknown): PodTemplateSpec {
  const { spec } = patch as { readonly spec: { readonly template: PodTemplateSpec & { readonly $patch?: string } } };
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** Whether two patches bring back the same template. */
export function isSamePatch(a: unknown, b: unknown): boolean {
  return goJson(a) === goJson(b);
}

/**
 * What tells a patch from others in names and labels; `collisions` makes another one of the same patch.
 *
 * FNV-1 over the bytes that kube-controller-manager hashes, so both give a StatefulSet's revision the same name.
 */
export function patchHash(patch: unknown, collisions?: number): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(goJson(patch) + (collisions ?? ""))) hash = Math.imul(hash, 0x01000193) ^ byte;
  return String(hash >>> 0).replace(/\d/g, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length] ?? "");
}

/** JSON as Go writes a map: sorted, and fit for HTML. */
function goJson(value: unknown): string {
  return JSON.stringify(sorted(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]));
}
