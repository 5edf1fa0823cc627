/** A short name for a pod template. */
import type { PodTemplateSpec } from "../../../resource/builtin/index.ts";

/** Without vowels and digits that look like letters: no bad words, no doubt. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Ten characters at most; `collisions` makes another one of the same template.
 *
 * FNV-1a as Kubernetes has it, over JSON with sorted keys instead of a dump of Go's memory, so the hashes differ from
 * those of kube-controller-manager. Nobody compares them: a template is found by its content, and this only names it.
 */
export function templateHash(template: PodTemplateSpec, collisions: number | undefined): string {
  const text = JSON.stringify(sorted(template)) + (collisions ?? "");
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return String(hash >>> 0).replace(/./g, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]!);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]));
}
