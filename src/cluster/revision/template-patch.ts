/** The content of a revision, a patch that restores a set's template, and the hashes that name templates. */
import type { PodTemplateSpec } from "../../resource/builtin/index.ts";

/** The alphabet of hashes, without vowels and ambiguous digits, so that no words arise. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Returns a strategic merge patch that replaces the whole template, with sorted fields: some compare its bytes with those of Go. */
export function templatePatch(template: PodTemplateSpec): { readonly [field: string]: unknown } {
  return sorted({ spec: { template: { ...template, $patch: "replace" } } }) as { readonly [field: string]: unknown };
}

/** Returns the template that a revision's patch restores. */
export function patchedTemplate(patch: unknown): PodTemplateSpec {
  const { spec } = patch as { readonly spec: { readonly template: PodTemplateSpec & { readonly $patch?: string } } };
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** Whether two patches restore the same template. */
export function isSamePatch(a: unknown, b: unknown): boolean {
  return goJson(a) === goJson(b);
}

/**
 * Hashes a patch for names and labels; `collisions` yields another hash of the same patch.
 *
 * It is FNV-1 over the bytes that kube-controller-manager hashes, so both give a StatefulSet's revision the same
 * name.
 */
export function patchHash(patch: unknown, collisions?: number): string {
  return hashed(goJson(patch) + (collisions ?? ""), (hash, byte) => Math.imul(hash, PRIME) ^ byte);
}

/**
 * Returns at most ten characters that name a template; `collisions` yields another name of the same template.
 *
 * It is FNV-1a as in Kubernetes, over JSON with sorted keys instead of a dump of Go's memory, so the hashes differ
 * from those of kube-controller-manager. Nothing compares them: a template is found by its content, and the hash only
 * names it.
 */
export function templateHash(template: PodTemplateSpec, collisions: number | undefined): string {
  const text = JSON.stringify(sorted(template)) + (collisions ?? "");
  return hashed(text, (hash, byte) => Math.imul(hash ^ byte, PRIME));
}

/** The prime of FNV with 32 bits. */
const PRIME = 0x01000193;

function hashed(text: string, step: (hash: number, byte: number) => number): string {
  const hash = Buffer.from(text).reduce(step, 0x811c9dc5);
  return String(hash >>> 0).replace(/\d/g, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]!);
}

/** Encodes JSON as Go encodes a map: with sorted keys, and escaped for HTML. */
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
