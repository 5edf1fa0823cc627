/** Names a pod template by a short hash. */
import type { PodTemplateSpec } from "../../resource/builtin/index.ts";

/** The alphabet has neither vowels nor digits that look like letters, so that no words arise and no character is ambiguous. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Returns at most ten characters; `collisions` yields another name of the same template.
 *
 * It is FNV-1a as in Kubernetes, over JSON with sorted keys instead of a dump of Go's memory, so the hashes differ
 * from those of kube-controller-manager. Nothing compares them: a template is found by its content, and the hash only
 * names it.
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
