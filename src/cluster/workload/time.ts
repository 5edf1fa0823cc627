/** Times as Kubernetes writes them, and runs at a time. */
import type { Result } from "../../index.ts";

/** Formats a time as RFC 3339 with seconds, like `metav1.Time`. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Returns the result that runs the key again after this many milliseconds; none for `Infinity`. */
export function runIn(wait: number): Result | undefined {
  return wait < Infinity ? { requeueAfter: wait } : undefined;
}
