/** Formats times as Kubernetes does. */

/** Formats a time as RFC 3339 with seconds, like `metav1.Time`. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
