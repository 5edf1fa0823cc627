/** Times as Kubernetes writes them. */

/** RFC 3339 with seconds, as `metav1.Time`. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
